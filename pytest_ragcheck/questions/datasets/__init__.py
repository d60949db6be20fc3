"""Each module here reads the official files and the hub's columns of one standard dataset as `Question`s."""
