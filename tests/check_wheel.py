"""
Checks an environment that holds the built wheel and nothing of the checkout: `python tests/check_wheel.py CHECKOUT`.

It is a script of its own because a test would import the package from the checkout.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

LARGEST_INSTALL_MEGABYTES = 40
NOT_OURS = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "wheel", "starlette", "uvicorn", "click")
"""Packages of the environment beyond the base install."""

LEFT_OUT = (
    *(f"explanation/{name}" for name in ("gate-simulation", "speed", "statistics")),
    *(f"reference/{name}" for name in ("judge-offline-reading", "judge-offline-rules", "metrics-sources")),
    *(f"reference/{name}" for name in ("judge-local", "metrics-ragas", "other-plugins", "public-names")),
    *(f"how-to/{name}" for name in ("beyond-one-machine", "expose-an-endpoint", "github-action", "run-fast")),
    *(f"how-to/{name}" for name in ("calibrate-a-judge", "test-your-own-parts")),
    *(f"how-to/{name}" for name in ("frameworks", "from-deepeval", "from-promptfoo", "from-ragas")),
)
"""Pages of measurements, rules, extras and other tools."""


def main() -> None:
    """Raises or exits where something does not hold."""
    checkout = Path(sys.argv[1])
    site = Path(sysconfig.get_path("purelib"))
    check_size(site)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("examples", "docs"):
            shutil.copytree(checkout / part, folder / part)
        check_first_run(folder)
    check_command(site, checkout)


def check_size(site: Path) -> None:
    """The base install is small, wherever it is: each file of byte code holds the path of the environment once."""
    folders = [f for f in site.iterdir() if f.is_dir() and not f.name.startswith(NOT_OURS)]
    files = [f for folder in folders for f in folder.rglob("*") if f.is_file()]
    paths = len(os.fsencode(site)) * sum(f.suffix == ".pyc" for f in files)
    megabytes = (sum(f.stat().st_size for f in files) - paths) / 1e6
    print(f"base install: {megabytes:.2f} MB")
    if megabytes >= LARGEST_INSTALL_MEGABYTES:
        sys.exit(f"the base install has {megabytes:.2f} MB, {LARGEST_INSTALL_MEGABYTES} or more")


def check_first_run(folder: Path) -> None:
    """The first run works from the wheel, in a folder that is no checkout."""
    subprocess.run([sys.executable, "-m", "pytest", "-q", "examples/first_run"], cwd=folder, check=True)
    summary = json.loads((folder / "examples/first_run/ragcheck-results/rag_summary.json").read_bytes())
    if summary["counts"]["pass"] < 25:
        sys.exit(f"the first run came to {summary['counts']}")


def check_command(site: Path, checkout: Path) -> None:
    """The console script is there, and it finds the schemas, the pages, the demo and the templates in the wheel."""
    command = shutil.which("ragcheck", path=sysconfig.get_path("scripts"))
    for schema in ("questions", "predictions", "summary"):
        shown = subprocess.run([str(command), "schema", schema], check=True, capture_output=True, text=True).stdout
        json.loads(shown)
    subprocess.run([str(command), "demo"], check=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""})
    compiled = {path.name.partition(".")[0] for path in site.glob("pytest_ragcheck/**/*-pytest-*.pyc")}
    if compiled != {"__init__", "_version", "plain_modules"}:
        sys.exit(f"pytest compiled modules of the package: {sorted(compiled)}")
    with tempfile.TemporaryDirectory() as name:
        subprocess.run([str(command), "init", name], check=True)
        if "ragcheck" not in Path(name, ".github", "workflows", "ragcheck.yml").read_text(encoding="utf-8"):
            sys.exit("ragcheck init writes another workflow")
    for page in sorted((checkout / "docs").rglob("*.md")):
        name = page.relative_to(checkout / "docs").with_suffix("").as_posix()
        if name in LEFT_OUT:
            continue
        shown = subprocess.run([str(command), "docs", name], check=True, capture_output=True, text=True).stdout
        if shown.partition("\n")[0] != page.read_text(encoding="utf-8").partition("\n")[0]:
            sys.exit(f"ragcheck docs {name} prints another page")
    if not (site / "pytest_ragcheck" / "py.typed").is_file():
        sys.exit("the wheel has no py.typed")


if __name__ == "__main__":
    main()
