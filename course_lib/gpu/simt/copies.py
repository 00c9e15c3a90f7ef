"""cp.async: from global to shared memory past the registers. Next room: `matrices.py`."""
