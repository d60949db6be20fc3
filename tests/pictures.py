"""
Renews the pictures of the README, from a real run in a real browser: `python -m tests.pictures`.

The run is that of `ragcheck demo` with a baseline and the fault `number`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from markdown_it import MarkdownIt

from tests.chromium import Screen, open_tab

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"

COMMENT = """<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark"><style>
html {{ font: 14px/1.5 system-ui, sans-serif; color: #1f2328; background: #fff; }}
body {{ margin: 1rem; border: 1px solid #d1d9e0; border-radius: 6px; padding: 0 1rem 1rem; }}
h2 {{ font-size: 1.4em; border-bottom: 1px solid #d1d9e0; padding-bottom: .3em; }}
h2 b {{ color: #d1242f; }} h3 {{ font-size: 1.15em; }} summary {{ cursor: pointer; margin: .5rem 0; }}
@media (prefers-color-scheme: dark) {{
  html {{ color: #f0f6fc; background: #0d1117; }} body, h2 {{ border-color: #3d444d; }}
}}
</style><body>{}</body>"""
"""A page in the manner of a comment on GitHub."""


def main() -> None:
    """Write the pictures of the report and of the comment, light and dark."""
    with tempfile.TemporaryDirectory() as name, open_tab() as tab:
        folder = Path(name, "demo")
        ragcheck = [sys.executable, "-c", "import sys; from pytest_ragcheck.cli import main; sys.exit(main())"]
        subprocess.run([*ragcheck, "demo", "--keep", str(folder)], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([*ragcheck, "baseline", "save"], check=True, cwd=folder, stdout=subprocess.DEVNULL)
        faulty = os.environ | {"RAG_SERVER_FAULT": "number"}
        pytest = [sys.executable, "-m", "pytest", "-q"]
        subprocess.run(pytest, check=False, cwd=folder, env=faulty, stdout=subprocess.DEVNULL)
        # ragcheck comment sends the same Markdown.
        report = [*ragcheck, "report", "ragcheck-results", "-o", "comment.md"]
        subprocess.run(report, check=True, cwd=folder, stdout=subprocess.DEVNULL)
        text = (folder / "comment.md").read_text(encoding="utf-8")
        folded, _, questions = text.rpartition("<details>")
        shown = MarkdownIt().enable("table").render(f"{folded}<details open>{questions}")
        # Not every machine has a font for the sign.
        shown = shown.replace("\N{CROSS MARK}", "<b>\N{HEAVY MULTIPLICATION X}</b>")
        (folder / "comment.html").write_text(COMMENT.format(shown), encoding="utf-8")
        PICTURES.mkdir(exist_ok=True)
        for page, height in (("report", 760), ("comment", 560)):
            for scheme in ("light", "dark"):
                tab.open(folder / f"{page}.html", screen=Screen(width=1100, height=height, dark=scheme == "dark"))
                (PICTURES / f"{page}-{scheme}.png").write_bytes(tab.picture())


if __name__ == "__main__":
    main()
