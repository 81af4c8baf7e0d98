"""`headwater verify` over a long file, with a terminal for its standard error."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from headwater.signing.jwks import write_jwks
from headwater.signing.keys import NodeKey
from headwater.signing.sign import sign_event

KEY = NodeKey.from_seed("11111111-1111-1111-1111-111111111111", bytes(32))
EVENTS = 3
VERIFY = [sys.executable, "-c", "import typer; from headwater.cli.verify import verify; typer.run(verify)"]


def _shown_on_a_terminal(command: list[str], stdout: Path) -> str:
    """Run a command with standard error on a new terminal; returns what was shown there."""
    ours, its = pty.openpty()
    with stdout.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=its):
        os.close(its)
        shown = b""
        while chunk := _read(ours):
            shown += chunk
    os.close(ours)
    return shown.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # how Linux reports that the other side has closed
        return b""


@pytest.mark.parametrize(("megabytes", "is_shown"), [(4, True), (0, False)])
def test_progress_of_a_long_file_is_shown_apart_from_the_verdicts(
    tmp_path: Path, megabytes: int, is_shown: bool
) -> None:
    event = b'{"producer":"p","run":{"facets":{"x":"%b"}}}' % (b"x" * megabytes * 1_000_000)
    (tmp_path / "keys.jwks").write_text(write_jwks({KEY.key_id: KEY.public_key}))
    (tmp_path / "events.jsonl").write_bytes((sign_event(event, KEY) + b"\n") * EVENTS)
    files = [str(tmp_path / "events.jsonl"), "--keys", str(tmp_path / "keys.jwks")]

    shown = _shown_on_a_terminal([*VERIFY, *files], tmp_path / "verdicts")

    assert ("verifying" in shown) == is_shown
    verdicts = (tmp_path / "verdicts").read_text().splitlines()
    assert [line.split()[2] for line in verdicts[:-1]] == ["ok"] * EVENTS
    assert verdicts[-1] == f"{EVENTS} events: {EVENTS} ok"
