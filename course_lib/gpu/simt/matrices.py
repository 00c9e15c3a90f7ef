"""Products of small matrices by a whole warp. Next room: `../count/counters.py`."""
