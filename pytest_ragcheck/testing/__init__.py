"""
Provides the public test harness for authors of metrics, judges and datasets.

Questions and canned replies go in; verdicts, files and printed lines come out. A conftest.py with `pytest_plugins =
["pytester", "pytest_ragcheck.testing"]` gives its tests the fixture `rag_project`.
"""

from pytest_ragcheck.testing.rag_project import CannedQuestion, RagProject, RunResult, rag_project

__all__ = ["CannedQuestion", "RagProject", "RunResult", "rag_project"]
