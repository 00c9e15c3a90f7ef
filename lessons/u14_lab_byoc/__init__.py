"""What the notebook of the lab shows: the model, and a backend plugged into TVM."""
