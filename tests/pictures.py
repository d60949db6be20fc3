"""
Makes the pictures of the README anew, from a real run in a real browser: `python -m tests.pictures`.

The run is that of `ragcheck demo` with a baseline and the fault `number`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.chromium import Screen, open_tab

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"


def main() -> None:
    """Write both pictures."""
    with tempfile.TemporaryDirectory() as name, open_tab() as tab:
        folder = Path(name, "demo")
        ragcheck = [sys.executable, "-c", "import sys; from pytest_ragcheck.cli import main; sys.exit(main())"]
        subprocess.run([*ragcheck, "demo", "--keep", str(folder)], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([*ragcheck, "baseline", "save"], check=True, cwd=folder, stdout=subprocess.DEVNULL)
        faulty = os.environ | {"RAG_SERVER_FAULT": "number"}
        pytest = [sys.executable, "-m", "pytest", "-q"]
        subprocess.run(pytest, check=False, cwd=folder, env=faulty, stdout=subprocess.DEVNULL)
        PICTURES.mkdir(exist_ok=True)
        for scheme in ("light", "dark"):
            tab.open(folder / "report.html", screen=Screen(width=1100, height=760, dark=scheme == "dark"))
            (PICTURES / f"report-{scheme}.png").write_bytes(tab.picture())


if __name__ == "__main__":
    main()
