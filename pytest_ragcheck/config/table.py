"""Builds the table of settings."""

# The pytest options, the ini values, `Settings`, error texts and a reference page come from it. Every pytest run loads
# these modules, so they import nothing heavy.

from __future__ import annotations

from pytest_ragcheck.config.endpoint_table import ENDPOINT
from pytest_ragcheck.config.gate_table import GATE
from pytest_ragcheck.config.judge_table import JUDGE
from pytest_ragcheck.config.run_table import RUN
from pytest_ragcheck.config.setting import Setting

__all__ = ["TABLE", "Setting"]

TABLE: tuple[Setting, ...] = (*ENDPOINT, *JUDGE, *GATE, *RUN)
