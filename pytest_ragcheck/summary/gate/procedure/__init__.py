"""Decides by statistics: plain values in, requests out, findings back; no I/O, no judge, no pytest."""
