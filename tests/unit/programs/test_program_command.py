"""`headwater-spark` without a program to run."""

import subprocess
import sys

import pytest

USAGE = "usage: headwater-spark PROGRAM.py [ARGUMENTS]"


@pytest.mark.parametrize(
    ("arguments", "status", "printed", "errors"),
    [
        (["--help"], 0, f"{USAGE}\n", ""),
        (["nowhere.py", "--help"], 2, "", f"headwater-spark: no such program: nowhere.py\n{USAGE}\n"),
        (["-m", "program"], 2, "", f"headwater-spark: no such program: -m\n{USAGE}\n"),
        ([], 1, "", f"{USAGE}\n"),
    ],
)
def test_arguments_without_a_program_are_refused_with_the_usage(
    arguments: list[str], status: int, printed: str, errors: str
) -> None:
    command = [sys.executable, "-m", "headwater.spark", *arguments]

    result = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (result.returncode, result.stdout, result.stderr) == (status, printed, errors)
