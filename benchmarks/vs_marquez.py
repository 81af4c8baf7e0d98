"""Our service compared with Marquez, with the same calls of the load generator; prints Markdown.

    .venv/bin/python benchmarks/vs_marquez.py --homes FOLDER --postgresql URL > benchmarks/vs_marquez.md

Starts a service on an empty home and sends it events of about 10 kB over 1, 8 and 32 connections, then signed ones (see
ingest.py); with `--postgresql`, all of it again on that database. Then it starts services on homes with graphs of
several sizes (see reads.py, which fills them) and reads, also as of past times (see past.py). The load generator is not
in this repository: it is expected in the shared folder ($HEADWATER_SHARED, or ../shared beside the checkout). Takes
half an hour if homes must be filled; those kept in a folder are used again.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from ingest import MARQUEZ_EVENTS_PER_S, Sent, signed_loads, unsigned_loads
from past import Compared, of_large_graph
from reads import Load, Measurements, add_options, answers, filled_home
from support.served import Figures, measured, served

from headwater.model.producer import VERSION

MARQUEZ_BYTES_PER_EVENT: Final = 27_000
COMPARED_AT: Final = 10_000
"""The number of datasets, the size nearest to Marquez's."""
LISTED: Final = Load("listed", 750, 6)
"""A graph of 750 jobs, for which Marquez's list of jobs was measured, too."""

_INGEST: Final = "olload.py ingest --events {events} --pregen -c {connections}"
_READ: Final = "olload.py read {options}"


class Row(NamedTuple):
    """One figure of ours and of Marquez's; `is_rate`: higher is better."""

    what: str
    ours: float
    marquez: float | None
    unit: str
    command: str
    is_rate: bool = False

    def line(self) -> str:
        """The row of the table."""
        ratio = "" if self.marquez is None else (self.ours / self.marquez if self.is_rate else self.marquez / self.ours)
        cells = [
            self.what,
            f"{_short(self.ours)} {self.unit}",
            "" if self.marquez is None else f"{_short(self.marquez)} {self.unit}",
            "" if ratio == "" else f"{_short(float(ratio))}x",
            f"`{self.command}`",
        ]
        return f"| {' | '.join(cells)} |"


class Read(NamedTuple):
    """A read that was measured with Marquez, by part of the graph and endpoint; milliseconds."""

    what: str
    part: str
    endpoint: str
    options: str
    marquez_ms: float


READS: Final = (
    Read("lineage, depth 20, 231 nodes", "narrow", "lineage_dataset_d20", "--depth 20", 2_450),
    Read("lineage, depth 20, 2,521 nodes", "wide", "lineage_dataset_d20", "--depth 20", 25_800),
    Read("hub with 1,000 consumers", "hub", "lineage_hub_d2", "--only lineage_hub", 3_300),
    Read("column lineage, depth 2", "narrow", "column_lineage_dataset_d2", "--col-depth 2", 1_100),
    Read("column lineage, depth 20, downstream too", "narrow", "column_lineage_dataset_d20", "--col-depth 20", 120_000),
    Read("`/jobs?limit=25`", "narrow", "jobs_list_25", "--only jobs_list", 9_400),
)


def main() -> None:
    """Measure, and print the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, sizes=[1_000, 10_000, 100_000])
    parser.add_argument("--events", type=int, default=4_000, help="of each ingest (default 4000)")
    parser.add_argument("--postgresql", metavar="URL", help="a database on which the ingest is measured too")
    options = parser.parse_args()
    load_before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        homes = options.homes or Path(folder)
        rows = [*_ingest(options.events), *_sent(signed_loads(options.events))]
        if options.postgresql:
            unsigned, signed = (loads(options.events, options.postgresql) for loads in (unsigned_loads, signed_loads))
            rows += _sent(chain(unsigned, signed), ", into PostgreSQL")
        rows.append(_listed(options.n, options.settle))
        sizes = [answers(filled_home(homes, size), size, "", options.n, options.settle) for size in options.sizes]
        middle = next((each for each in sizes if each.datasets == COMPARED_AT), sizes[-1])
        pasts = list(of_large_graph(homes, middle.datasets))
    page = (*_page([*rows, *_reads(middle)], sizes, load_before), *_pasts(pasts, middle.datasets))
    print("\n".join(page))


def _ingest(events: int) -> Iterator[Row]:
    for connections, marquez in MARQUEZ_EVENTS_PER_S.items():
        with tempfile.TemporaryDirectory() as home:
            with served(Path(home)) as service:
                options = ["--events", str(events), "--pregen", "-c", str(connections)]
                found = measured("ingest", options, service.url)["ingest"]
            stored = sum(file.stat().st_size for file in Path(home).glob("headwater.db*"))
        what = (
            f"ingest, {connections} connection{'s' * (connections > 1)}, events of {found['mean_event_bytes']:,} bytes"
        )
        command = _INGEST.format(events=events, connections=connections)
        yield Row(what, found["events_per_s"], marquez, "events/s", command, is_rate=True)
        yield Row("p99 of these POSTs", found["p99_ms"], None, "ms", command)
    yield Row("storage per event", stored / events, MARQUEZ_BYTES_PER_EVENT, "bytes", command)


def _sent(loads: Iterable[Sent], where: str = "") -> Iterator[Row]:
    command = f"benchmarks/ingest.py{' --postgresql URL' if where else ''}"
    for load in loads:
        figures, marquez = load.figures, MARQUEZ_EVENTS_PER_S[1 if load.connections == 1 else 8]
        yield Row(f"ingest, {load.what}{where}", figures.events_per_s, marquez, "events/s", command, is_rate=True)
        yield Row("p99 of these POSTs", figures.p99_ms, None, "ms", command)


def _listed(n: int, settle_s: float) -> Row:
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as service:
        options = LISTED.options()
        _post(service.url, [*options, "--events", str(LISTED.events)])
        found = measured("read", [*options, "--only", "jobs_list", "--n", str(n)], service.url)["jobs_list_25"]
    command = _READ.format(options="--jobs 750 --only jobs_list")
    return Row("`/jobs?limit=25` at 750 jobs", found["p50_ms"], 3_400, "ms", command)


def _post(url: str, options: Sequence[str]) -> Figures:
    return measured("ingest", [*options, "-c", "8"], url)


def _reads(found: Measurements) -> Iterator[Row]:
    for read in READS:
        figures = found.latency.get(f"{read.part} {read.endpoint}")
        if figures is not None:
            command = _READ.format(options=read.options)
            yield Row(f"{read.what}, at {found.datasets:,} datasets", figures["p50_ms"], read.marquez_ms, "ms", command)


def _page(rows: Sequence[Row], sizes: Sequence[Measurements], load_before: float) -> Iterator[str]:
    yield "# Headwater compared with Marquez"
    yield ""
    yield f"Printed by `benchmarks/vs_marquez.py` on {datetime.now(UTC):%Y-%m-%d}, unedited. Headwater {_version()},"
    load = f"{load_before:.1f} before the run, {os.getloadavg()[0]:.1f} at its end, its own included"
    yield f"{_machine()}; load average {load}."
    yield "Marquez's figures come from an earlier run of the same load generator on such a machine, at 9,200 datasets;"
    yield "120 s is the timeout, where it did not answer. Unless stated otherwise, figures are medians over one"
    yield "connection; options that only select the part of the graph are left out of the commands."
    yield "`olload.py`, the load generator in the commands below, is not in this repository ([where it is"
    yield "expected](README.md)): without it these figures cannot be measured again."
    yield ""
    yield "| | Headwater | Marquez | factor | command |"
    yield "|---|---|---|---|---|"
    yield from (row.line() for row in rows)
    yield ""
    yield "## By size of the graph"
    yield ""
    yield "p50 / p99 in milliseconds. A dataset has 20 columns, and 25 column edges end at it. Growth is the ratio of"
    yield "the medians at the last size and the one before. Reads begin once the service is idle: after its start it"
    yield "renders answers in advance."
    yield ""
    yield from _growth(sizes)


def _growth(sizes: Sequence[Measurements]) -> Iterator[str]:
    yield f"| datasets | {' | '.join(f'{each.datasets:,}' for each in sizes)} | growth |"
    yield f"|---|{'---|' * len(sizes)}---|"
    yield f"| listening after | {' | '.join(f'{each.ready_s[0]:.1f} s' for each in sizes)} | |"
    yield f"| idle after another | {' | '.join(f'{each.ready_s[1]:.0f} s' for each in sizes)} | |"
    yield f"| memory at the start | {' | '.join(f'{each.rss_mb[0]:.0f} MB' for each in sizes)} | |"
    yield f"| memory after all reads | {' | '.join(f'{each.rss_mb[1]:.0f} MB' for each in sizes)} | |"
    for name in dict.fromkeys(name for each in sizes for name in each.latency):
        found = [each.latency.get(name) for each in sizes]
        cells = ["" if each is None else f"{each['p50_ms']:.1f} / {each['p99_ms']:.1f}" for each in found]
        known = [each["p50_ms"] for each in found[-2:] if each is not None]
        growth = f"{known[1] / known[0]:.1f}x" if len(known) > 1 else ""
        yield f"| {name} | {' | '.join(cells)} | {growth} |"


def _pasts(pasts: Sequence[Compared], datasets: int) -> Iterator[str]:
    yield ""
    yield "## As of a time"
    yield ""
    yield f"Medians in milliseconds at {datasets:,} datasets, as `benchmarks/past.py` prints them: of the current"
    yield "state, of past times read for the first time, and of one past time read repeatedly."
    yield ""
    yield "| | now | first read of a time | | again | |"
    yield "|---|---|---|---|---|---|"
    for read in pasts:
        first, again = f"{read.first / read.now:.1f}x", f"{read.again / read.now:.1f}x"
        yield f"| `{read.what}` | {read.now:.1f} | {read.first:.1f} | {first} | {read.again:.1f} | {again} |"


def _version() -> str:
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, capture_output=True, text=True).stdout.strip()
    return f"{VERSION} ({commit})" if commit else VERSION


def _machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    processor = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    python = ".".join(map(str, sys.version_info[:3]))
    return f"{os.cpu_count()} cores of {processor}, {memory_gb:.0f} GB, Python {python}"


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.1f}"


if __name__ == "__main__":
    main()
