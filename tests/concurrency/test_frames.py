import importlib
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_ragcheck.concurrency.frames import users_places

LIBRARY = "def connect():\n    raise ConnectionRefusedError('no server')\n"
APP = "import farlib\n\n\ndef answer():\n    farlib.connect()\n"


@contextmanager
def imported_from(*folders: Path) -> Iterator[None]:
    sys.path[:0] = map(str, folders)
    try:
        yield
    finally:
        del sys.path[: len(folders)]
        for name in ("farlib", "farapp"):
            sys.modules.pop(name, None)


def places(*folders: Path) -> str:
    with imported_from(*folders):
        farapp = importlib.import_module("farapp")

        with pytest.raises(ConnectionRefusedError) as raised:
            farapp.answer()
    return users_places(raised.value)


@pytest.mark.parametrize("folder", ["venv/lib/python3.11/site-packages", ".local/site-packages", "dist-packages"])
def test_a_library_in_any_folder_of_installed_packages_is_not_the_users_code(tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    app, library = tmp_path / "app", tmp_path / folder
    for created in (app, library):
        created.mkdir(parents=True)
    (app / "farapp.py").write_text(APP)
    (library / "farlib.py").write_text(LIBRARY)

    # Line 5 of the app calls the library; this module calls the app.
    assert places(app, library).startswith(f"app/farapp.py:5, from {__file__}:")


def test_a_library_in_a_zip_is_not_the_users_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "farapp.py").write_text(APP)
    with zipfile.ZipFile(tmp_path / "libraries.zip", "w") as libraries:
        libraries.writestr("farlib.py", LIBRARY)

    assert places(tmp_path, tmp_path / "libraries.zip").startswith(f"farapp.py:5, from {__file__}:")


def test_an_editable_package_in_another_folder_is_the_users_code(tmp_path, monkeypatch):
    (tmp_path / "app").mkdir()
    monkeypatch.chdir(tmp_path / "app")
    (tmp_path / "app" / "farapp.py").write_text(APP)
    (tmp_path / "farlib.py").write_text(LIBRARY)

    assert places(tmp_path / "app", tmp_path).startswith(f"{tmp_path}/farlib.py:2, from farapp.py:5, ")
