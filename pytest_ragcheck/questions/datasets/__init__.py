"""Standard datasets -> `Question`: official files and the hub's columns, one module a dataset."""
