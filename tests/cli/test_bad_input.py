"""Bad input gives one clear line and its exit status, and leaves nothing behind."""

import os

import pytest
from octet_cli import EXIT, octet

import bad_samples  # noqa: F401  its entries
from bad_inputs import BAD


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name, tmp_path, monkeypatch):
    bad = BAD[name]
    for folder in ("out", "temporary"):
        (tmp_path / folder).mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    arguments = bad.arguments(tmp_path)
    before = snapshot(tmp_path)
    result = octet(*arguments, cwd=tmp_path)
    assert result.exit == EXIT[bad.code], result.said
    lines = result.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("octet: error: "), result.stderr
    for word in bad.mentions:
        assert word in lines[0]
    assert result.stdout == ""
    assert snapshot(tmp_path) == before


def snapshot(folder):
    """Every file with its content: what was there must stay, and nothing may come."""
    return {os.path.relpath(path, folder): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}
