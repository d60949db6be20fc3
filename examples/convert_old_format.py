"""
Results of the old five-file layout become the three files:

    python examples/convert_old_format.py outputs/gemma2b_baseline_results.json -o ragcheck-results

It is `ragcheck convert`, for whoever looks for it here; what could not be carried over is printed.
"""

from __future__ import annotations

import sys

from pytest_ragcheck.cli import main

if __name__ == "__main__":
    sys.exit(main(["convert", *sys.argv[1:]]))
