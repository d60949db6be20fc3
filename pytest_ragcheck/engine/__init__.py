"""How questions are run: the private event loop that they are asked and judged in."""
