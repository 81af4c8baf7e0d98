"""`python -m headwater_probe SETTINGS DESCRIPTOR JOB [ARGUMENT]...`: run a job, and report its lineage."""

from __future__ import annotations

import json
import os
import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

_REFUSED = 2


def main() -> int:
    """Run the job of the command line; the settings are JSON, the file descriptor is for the JSON lines."""
    settings, file = json.loads(sys.argv[1]), Path(sys.argv[3])
    if find_spec("pyflink") is None:  # the other modules import it
        message = f"{sys.executable} has no PyFlink; name one that has with --python"
        with os.fdopen(int(sys.argv[2]), "w", encoding="utf-8") as out:
            out.write(json.dumps({"event": "refused", "message": message}) + "\n")
        return _REFUSED
    # Otherwise PyFlink starts a server for Python functions, which needs further packages.
    os.environ.setdefault("_python_worker_execution_mode", "process")
    from .cluster import submit_to
    from .report import Report
    from .run_script import RefusedError, run_script

    report = Report(int(sys.argv[2]))
    sys.path.remove(str(Path(__file__).parents[1]))
    submit_to(settings["host"], settings["port"], settings["settings"])
    if file.suffix == ".sql":
        try:
            run_script(file, report, batch=settings["batch"], wait=settings["wait"])
        except RefusedError as refused:
            report.line("refused", message=str(refused))
            return _REFUSED
        return 0
    from .hooks import listen

    listen(report, wait=settings["wait"])
    sys.argv = [str(file), *sys.argv[4:]]
    sys.path[:0] = [str(file.parent)]
    runpy.run_path(str(file), run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
