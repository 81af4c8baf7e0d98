"""`headwater-spark` where there is no program to run."""

import subprocess
import sys

import pytest

USAGE = "usage: headwater-spark PROGRAM.py [ARGUMENTS]"


@pytest.mark.parametrize(
    ("arguments", "status", "printed", "complaint"),
    [
        (["--help"], 0, f"{USAGE}\n", ""),
        (["nowhere.py", "--help"], 2, "", f"headwater-spark: no such program: nowhere.py\n{USAGE}\n"),
        (["-m", "program"], 2, "", f"headwater-spark: no such program: -m\n{USAGE}\n"),
        ([], 1, "", f"{USAGE}\n"),
    ],
)
def test_what_names_no_program_is_refused_with_how_it_is_used(
    arguments: list[str], status: int, printed: str, complaint: str
) -> None:
    command = [sys.executable, "-m", "headwater.spark", *arguments]

    ran = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (ran.returncode, ran.stdout, ran.stderr) == (status, printed, complaint)
