"""Holds the code of a test project's conftest.py, whose system and judge read their replies from canned.json."""

from pytest_ragcheck.package_text import package_text

CLASSES = package_text("testing/canned_classes.txt")

FIXTURES = package_text("testing/canned_fixtures.txt")
