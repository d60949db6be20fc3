"""The recipes for a Django project with pytest-django, as the page has them."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.docs.pages import page

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "pytest.ini": "[pytest]\nDJANGO_SETTINGS_MODULE = shop.settings\npythonpath = .\n",
    "shop/__init__.py": "",
    "shop/settings.py": """
SECRET_KEY = "only-for-tests"
INSTALLED_APPS = ["shop"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "shop.sqlite3"}}
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
ROOT_URLCONF = "shop.urls"
STATIC_URL = "static/"
""",
    "shop/models.py": """
from django.db import models

class Passage(models.Model):
    text = models.TextField()
""",
    "shop/urls.py": """
import json

from django.http import JsonResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from shop.models import Passage

@csrf_exempt
def query(request):
    asked = json.loads(request.body)
    passages = [passage.text for passage in Passage.objects.all()[: asked["top_k"]]]
    return JsonResponse({"answer": passages[0], "contexts": passages})

urlpatterns = [path("query", query)]
""",
    "shop/asgi.py": """
import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")
application = get_asgi_application()
""",
    "test_shop.py": """
import pytest

@pytest.mark.django_db
def test_the_database_is_empty():
    from shop.models import Passage

    assert Passage.objects.count() == 0

def test_another_user_of_the_server(live_server):
    pass
""",
    "shop.rag.yaml": "questions:\n"
    + "".join(
        f"- {{question: Within how many days are refunds possible {number}?, expected_answer: 30 days}}\n"
        for number in range(20)
    ),
}
CONFTESTS = [block.text for block in page("how-to/test-an-app.md", "A Django project")]


@pytest.fixture(scope="module")
def django() -> None:
    """Skips the test without pytest-django, and fails it in the environment that has to have it."""
    if importlib.util.find_spec("pytest_django") is None:
        if os.environ.get("RAGCHECK_MATRIX") == "1":
            pytest.fail("pytest-django is not installed", pytrace=False)
        pytest.skip("wants Django and pytest-django (tox run -e matrix)")


@pytest.mark.parametrize("way", [(), ("-n2",)], ids=["plain", "n2"])
@pytest.mark.parametrize("conftest", CONFTESTS, ids=["live_server", "asgi"])
def test_each_question_finds_its_data_beside_other_tests(
    conftest: str, way: tuple[str, ...], django: None, tmp_path: Path
) -> None:
    for name, text in {**FILES, "conftest.py": conftest}.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    plugins = ("-p", "no:randomly", "-p", "no:cacheprovider")
    command = (sys.executable, "-m", "pytest", "--rag-judge=offline", *plugins, *way)
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    summary = json.loads((tmp_path / "ragcheck-results" / "rag_summary.json").read_text(encoding="utf-8"))
    assert summary["counts"] == {"pass": 20, "fail": 0, "error": 0, "skipped": 0}
