"""Several processes start on a machine without a key."""

import subprocess
import sys
from pathlib import Path

PROCESSES = 6
PROGRAM = """
import sys
from pathlib import Path
from headwater.signing.keyfile import load_or_create
sys.stdout.write("ready\\n")
sys.stdout.flush()
sys.stdin.readline()
sys.stdout.write(load_or_create(Path(sys.argv[1])).key_id)
"""


def test_processes_that_race_for_the_first_key_get_the_same_one(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "home")]
    racers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(PROCESSES)
    ]
    ready = [racer.stdout.readline() for racer in racers if racer.stdout]

    for racer in racers:
        assert racer.stdin
        racer.stdin.write("go\n")
        racer.stdin.flush()
    key_ids = {racer.communicate(timeout=120)[0] for racer in racers}

    assert ready == ["ready\n"] * PROCESSES
    assert len(key_ids) == 1
    assert key_ids.pop().startswith("node:")
    assert [path.name for path in (tmp_path / "home" / "keys").iterdir()] == ["node.key"]
