"""How long answers take, at several sizes of the graph, and how they grow with it.

    .venv/bin/python benchmarks/reads.py [--sizes 1000 10000 100000] [--homes FOLDER] [--only lineage,search]

For each size a home is filled with a run of each job, straight through the store in big groups (by HTTP it would take
several times as long, and reads are what is looked at); then a service is started on it, and the load generator of the
shared folder ($HEADWATER_SHARED, or ../shared beside the checkout) reads over one connection, a while after, since a
service that has nothing to do renders what may be asked for. Printed beside it: what the peer was measured to take at
9,200 datasets. Homes kept in a folder are used again.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from headwater.model.events import parse_event
from headwater.store.entries import entry_of
from headwater.store.sqlite import SqliteStore

PEER_P50_MS: Final[Mapping[str, float]] = {
    "narrow lineage_dataset_d20": 2_450,
    "wide lineage_dataset_d20": 25_800,
    "hub lineage_hub_d2": 3_300,
    "narrow column_lineage_dataset_d2": 1_100,
    "narrow column_lineage_dataset_d20": 120_000,
    "narrow jobs_list_25": 9_400,
}
"""Marquez at 9,200 datasets on such a machine; where it gave no answer, how long it was waited for."""

_GROUP: Final = 2_000
"""Events in one transaction while a home is filled."""


class Load(NamedTuple):
    """A part of a graph as the load generator makes it, in namespaces of its own."""

    name: str
    datasets: int
    pipelines: int
    hubs: int = 0

    def options(self) -> list[str]:
        """What makes the load generator speak of this part."""
        return [
            *("--namespace", self.name, "--ds-namespace", f"iceberg://{self.name}", "--layers", "20"),
            *("--datasets", str(self.datasets), "--jobs", str(self.datasets), "--pipelines", str(self.pipelines)),
            *("--hubs", str(self.hubs)),
        ]

    @property
    def events(self) -> int:
        """Two for each job: START and COMPLETE of one run."""
        return 2 * (self.datasets + 1_000 * self.hubs)


class Question(NamedTuple):
    """A call of the load generator that asks about one part."""

    load: str
    only: str
    options: Sequence[str] = ()


QUESTIONS: Final = (
    Question("narrow", ""),
    Question("narrow", "column_lineage", ("--col-depth", "2")),
    Question("wide", "lineage_dataset,column_lineage_dataset"),
    Question("hub", "lineage_hub"),
)


class Answers(NamedTuple):
    """What was measured at one size."""

    datasets: int
    listening_s: float
    rss_mb: tuple[float, float]
    """Once it listens, and after all reads."""
    latency: Mapping[str, Mapping[str, float]]
    """By part and endpoint: the load generator's figures."""


def parts(datasets: int) -> tuple[Load, ...]:
    """A graph of about so many datasets.

    Narrow: connected pieces of about 231 nodes. Wide: of about 2,520. Hub: a dataset with 1,000 consumers.
    """
    wide = round(datasets / 4 / 1_265)
    hubs = 1 if datasets >= 5_000 else 0
    narrow = max(1, round((datasets - wide * 1_265 - hubs * 1_001) / 126))
    found = (Load("narrow", narrow * 126, narrow), Load("wide", wide * 1_265, wide), Load("hub", 20, 1, hubs))
    return tuple(load for load in found if load.pipelines and (load.hubs or load.name != "hub"))


def main() -> None:
    """Measure each size and print the figures side by side."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000], help="numbers of datasets")
    parser.add_argument("--homes", type=Path, help="a folder in which filled homes are kept (default: none are)")
    parser.add_argument("--only", default="", help="the endpoints whose names start so, separated by commas")
    parser.add_argument("--n", type=int, default=50, help="how often each endpoint is read (default 50)")
    parser.add_argument("--settle", type=float, default=10, help="seconds from listening to reading (default 10)")
    parser.add_argument("--fill", action="store_true", help="only fill the homes")
    asked = parser.parse_args()
    olload = _load_generator()
    with tempfile.TemporaryDirectory() as folder:
        homes = {size: _home(asked.homes or Path(folder), size, olload) for size in asked.sizes}
        if not asked.fill:
            _print([_measured(home, size, olload, asked) for size, home in homes.items()])


def _load_generator() -> Path:
    shared = Path(os.environ.get("HEADWATER_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    path = shared / "bench" / "olload.py"
    if not path.exists():
        sys.exit(f"no load generator at {path}: set HEADWATER_SHARED to the folder that has bench/olload.py")
    return path


def _home(folder: Path, size: int, olload: Path) -> Path:
    home = folder / f"{size}-datasets"
    filled = home / "filled"
    if not filled.exists():
        started = time.perf_counter()
        with closing(SqliteStore(home / "headwater.db")) as store:
            events = (raw for load in parts(size) for raw in _generated(olload, load))
            while group := list(islice(events, _GROUP)):
                store.add([entry_of(parse_event(raw), "unsigned", None, time.time_ns() // 1_000) for raw in group])
        filled.touch()
        print(f"filled {home.name} in {time.perf_counter() - started:.0f} s", file=sys.stderr)
    return home


def _generated(olload: Path, load: Load) -> Iterator[bytes]:
    command = [sys.executable, str(olload), "gen", *load.options(), "--events", str(load.events)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as generator:
        yield from generator.stdout or ()


def _measured(home: Path, size: int, olload: Path, asked: argparse.Namespace) -> Answers:
    started = time.perf_counter()
    with _service(home) as (url, pid):
        listening_s, loaded_mb = time.perf_counter() - started, _rss_mb(pid)
        time.sleep(asked.settle)
        latency: dict[str, Mapping[str, float]] = {}
        for load in parts(size):
            for question in QUESTIONS:
                if question.load == load.name:
                    latency |= _read(olload, url, load, question, asked)
        return Answers(size, listening_s, (loaded_mb, _rss_mb(pid)), latency)


@contextmanager
def _service(home: Path) -> Iterator[tuple[str, int]]:
    command = [sys.executable, "-m", "headwater.cli.main", "serve", "--port", "0"]
    environment = {**os.environ, "HEADWATER_HOME": str(home)}
    service = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        line = service.stdout.readline() if service.stdout else ""
        yield line.removeprefix("listening on ").strip(), service.pid
    finally:
        service.terminate()
        service.wait()


def _read(
    olload: Path, url: str, load: Load, question: Question, asked: argparse.Namespace
) -> dict[str, Mapping[str, float]]:
    """The load generator's own figures; every answer must have been good."""
    wanted = [name for name in question.only.split(",") if name.startswith(tuple(asked.only.split(",")))]
    only = ",".join(wanted) if question.only else asked.only
    if question.only and not wanted:
        return {}
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_text("[]")
        options = [*load.options(), *question.options, "--only", only, "--n", str(asked.n), "--json", file.name]
        command = [sys.executable, str(olload), "read", *options, "--url", url]
        subprocess.run(command, capture_output=True, text=True, check=True)
        endpoints = json.loads(Path(file.name).read_text())[0]["endpoints"]
    wrong = {name: found["errors"] for name, found in endpoints.items() if found["errors"]}
    if wrong:
        sys.exit(f"not every answer was good: {wrong}")
    return {f"{load.name} {name}": found for name, found in endpoints.items()}


def _rss_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1_024 for line in lines if line.startswith("VmRSS:"))


def _print(sizes: Sequence[Answers]) -> None:
    for answers in sizes:
        loaded, after = answers.rss_mb
        print(
            f"{answers.datasets:,} datasets: listening after {answers.listening_s:.1f} s, "
            f"{loaded:.0f} MB then, {after:.0f} MB after the reads"
        )
    print(
        f"\n{'p50 / p99 in ms':40}" + "".join(f"{each.datasets:>18,}" for each in sizes) + f"{'growth':>9}{'peer':>9}"
    )
    for name in dict.fromkeys(name for each in sizes for name in each.latency):
        found = [each.latency.get(name) for each in sizes]
        cells = "".join(f"{_cell(each):>18}" for each in found)
        peer = PEER_P50_MS.get(name)
        print(f"{name:40}{cells}{_growth(found):>9}{'' if peer is None else f'{peer:,.0f}':>9}")


def _cell(found: Mapping[str, float] | None) -> str:
    return "" if found is None else f"{found['p50_ms']:.1f} / {found['p99_ms']:.1f}"


def _growth(found: Sequence[Mapping[str, float] | None]) -> str:
    """Of the median from the last size but one to the last."""
    if len(found) < 2 or found[-1] is None or found[-2] is None:
        return ""
    return f"{found[-1]['p50_ms'] / found[-2]['p50_ms']:.1f}x"


if __name__ == "__main__":
    main()
