"""Response times of reads at several sizes of the graph, and how they grow with it.

    .venv/bin/python benchmarks/reads.py [--sizes 1000 10000 100000] [--homes FOLDER] [--only lineage,search]

For each size, a home is filled with one run of each job, directly through the store in large transactions (which is
several times as fast as by HTTP); each dataset has 20 columns and 25 column edges. Then a service starts on it, and the
load generator of the shared folder ($HEADWATER_SHARED, or ../shared beside the checkout) reads over one connection,
once the service is idle: after its start it renders answers in advance. For comparison: Marquez's response times,
measured at 9,200 datasets. Homes kept in a folder are used again.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlencode

import httpx
from support.served import Served, generated, latency, measured, served

from headwater.model.events import parse_event
from headwater.signing.notefile import log_key
from headwater.store.entries import entry_of
from headwater.store.sqlite import SqliteStore

MARQUEZ_P50_MS: Final[Mapping[str, float]] = {
    "narrow lineage_dataset_d20": 2_450,
    "wide lineage_dataset_d20": 25_800,
    "hub lineage_hub_d2": 3_300,
    "narrow column_lineage_dataset_d2": 1_100,
    "narrow column_lineage_dataset_d20": 120_000,
    "narrow jobs_list_25": 9_400,
}
"""Marquez at 9,200 datasets on such a machine; the timeout where it did not answer."""

_PER_TRANSACTION: Final = 2_000
"""Events per transaction while a home is filled."""


class Load(NamedTuple):
    """A part of a graph from the load generator, in its own namespaces."""

    name: str
    datasets: int
    pipelines: int
    hubs: int = 0

    def options(self) -> list[str]:
        """The load generator's options for this part."""
        return [
            *("--namespace", self.name, "--ds-namespace", f"iceberg://{self.name}", "--layers", "20"),
            *("--datasets", str(self.datasets), "--jobs", str(self.datasets), "--pipelines", str(self.pipelines)),
            *("--hubs", str(self.hubs)),
        ]

    @property
    def events(self) -> int:
        """Two for each job: START and COMPLETE of one run."""
        return 2 * (self.datasets + 1_000 * self.hubs)


class Query(NamedTuple):
    """A call of the load generator that reads one part."""

    load: str
    only: str
    options: Sequence[str] = ()


QUERIES: Final = (
    Query("narrow", ""),
    Query("narrow", "column_lineage", ("--col-depth", "2")),
    Query("wide", "lineage_dataset,column_lineage_dataset"),
    Query("hub", "lineage_hub"),
)


OVERVIEWS: Final = ("summary", "namespaces", "sources", "tags", "stats/jobs?period=DAY", "stats/datasets?period=DAY")
"""Reads about the whole graph, whose response times must not grow with it."""


RECENT: Final = 100
"""Differences are read since this many events."""


class Measurements(NamedTuple):
    """The measurements at one size."""

    datasets: int
    ready_s: tuple[float, float]
    """Seconds until it listened, and from then until its background work was done."""
    rss_mb: tuple[float, float]
    """At the start, and after all reads."""
    latency: Mapping[str, Mapping[str, float]]
    """The load generator's figures, by part and endpoint."""


def parts(datasets: int) -> tuple[Load, ...]:
    """A graph of about so many datasets.

    Narrow: connected pieces of about 231 nodes. Wide: of about 2,520. Hub: a dataset with 1,000 consumers.
    """
    wide = round(datasets / 4 / 1_265)
    hubs = 1 if datasets >= 5_000 else 0
    narrow = max(1, round((datasets - wide * 1_265 - hubs * 1_001) / 126))
    found = (Load("narrow", narrow * 126, narrow), Load("wide", wide * 1_265, wide), Load("hub", 20, 1, hubs))
    return tuple(load for load in found if load.pipelines and (load.hubs or load.name != "hub"))


def add_options(parser: argparse.ArgumentParser, sizes: Sequence[int]) -> None:
    """Add the options of filled homes and their reads; `sizes` is the default of `--sizes`."""
    parser.add_argument("--sizes", type=int, nargs="+", default=sizes, help="numbers of datasets")
    parser.add_argument("--homes", type=Path, help="a folder that keeps filled homes (default: not kept)")
    parser.add_argument("--n", type=int, default=50, help="how often each endpoint is read (default 50)")
    parser.add_argument(
        "--settle",
        type=float,
        default=240,
        help="at most this many seconds of waiting for the service to be idle (default 240)",
    )


def main() -> None:
    """Measure each size and print the figures side by side."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, sizes=[1_000, 10_000])
    parser.add_argument("--only", default="", help="prefixes of endpoints to read, separated by commas")
    parser.add_argument("--fill", action="store_true", help="only fill the homes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        homes = {size: filled_home(options.homes or Path(folder), size) for size in options.sizes}
        if not options.fill:
            figures = [answers(home, size, options.only, options.n, options.settle) for size, home in homes.items()]
            _print(figures)


def filled_home(folder: Path, size: int) -> Path:
    """A home whose log gives a graph of so many datasets; an existing one is used again."""
    home = folder / f"{size}-datasets"
    filled = home / "filled"
    if not filled.exists():
        started = time.perf_counter()
        with closing(SqliteStore(home / "headwater.db")) as store:
            options = [[*load.options(), "--events", str(load.events)] for load in parts(size)]
            events = (raw for each in options for raw in generated(each))
            while group := list(islice(events, _PER_TRANSACTION)):
                store.add([entry_of(parse_event(raw), "unsigned", None, time.time_ns() // 1_000) for raw in group])
        filled.touch()
        print(f"filled {home.name} in {time.perf_counter() - started:.0f} s", file=sys.stderr)
    log_key(home, None, "benchmark")  # otherwise the service warns that the key is lost
    return home


def answers(home: Path, size: int, only: str, n: int, settle_s: float) -> Measurements:
    """Start a service on a filled home, wait until it is idle, and read each endpoint `n` times."""
    with served(home) as service:
        loaded_mb = service.rss_mb
        settled_s = service.settle(settle_s)
        found: dict[str, Mapping[str, float]] = {}
        for load in parts(size):
            for query in QUERIES:
                if query.load == load.name:
                    found |= _read(service.url, load, query, only, n)
            found |= _impact(service, load, n) if "impact".startswith(tuple(only.split(","))) else {}
        found |= _overviews(service, n) if not only or "overview" in only else {}
        found |= _differences(service, n) if "diff".startswith(tuple(only.split(","))) else {}
        return Measurements(size, (service.started_s, settled_s), (loaded_mb, service.rss_mb), found)


def _read(url: str, load: Load, query: Query, only: str, n: int) -> dict[str, Mapping[str, float]]:
    wanted = [name for name in query.only.split(",") if name.startswith(tuple(only.split(",")))]
    if query.only and not wanted:
        return {}
    endpoints = ",".join(wanted) if query.only else only
    options = [*load.options(), *query.options, "--only", endpoints, "--n", str(n)]
    return {f"{load.name} {name}": found for name, found in measured("read", options, url).items()}


def _impact(service: Served, load: Load, n: int) -> dict[str, Mapping[str, float]]:
    """Response times of the impact of dropping a random column."""
    rng = random.Random(load.name)  # noqa: S311  the same columns each time
    namespace = f"iceberg://{load.name}"
    with httpx.Client(base_url=f"{service.url}/api/v1/", timeout=120) as client:
        listing = f"namespaces/{namespace.replace('/', '%2F')}/datasets"
        count = client.get(listing, params={"limit": 1}).json()["totalCount"]
        urls = []
        for _ in range(n):
            page = client.get(listing, params={"limit": 1, "offset": rng.randrange(count)}).json()["datasets"]
            column = rng.choice(page[0]["fields"])["name"]
            node = f"dataset:{namespace}:{page[0]['name']}"
            urls.append(f"impact?{urlencode({'nodeId': node, 'column': column, 'change': 'drop'})}")
        return {f"{load.name} impact_column": latency(client, urls)}


def _overviews(service: Served, n: int) -> dict[str, Mapping[str, float]]:
    with httpx.Client(base_url=f"{service.url}/api/v1/", timeout=120) as client:
        return {path: latency(client, [path] * n) for path in OVERVIEWS}


def _differences(service: Served, n: int) -> dict[str, Mapping[str, float]]:
    """Response times of differences since the last events: of the whole graph, and of one of their datasets."""
    with httpx.Client(base_url=f"{service.url}/api/v1/", timeout=120) as client:
        *_, first = client.get("events/lineage", params={"limit": RECENT}).json()["events"]
        output = first["outputs"][0]
        since = urlencode({"from": first["eventTime"], "limit": 25})
        node = urlencode({"nodeId": f"dataset:{output['namespace']}:{output['name']}"})
        reads = {f"diff since {RECENT} events": f"diff?{since}", "diff of a dataset": f"diff?{since}&{node}"}
        return {what: latency(client, [url] * n) for what, url in reads.items()}


def _print(sizes: Sequence[Measurements]) -> None:
    for answers in sizes:
        loaded, after = answers.rss_mb
        print(
            f"{answers.datasets:,} datasets: listening after {answers.ready_s[0]:.1f} s with {loaded:.0f} MB, "
            f"idle {answers.ready_s[1]:.0f} s later, {after:.0f} MB after the reads"
        )
    print(
        f"\n{'p50 / p99 in ms':40}"
        + "".join(f"{each.datasets:>18,}" for each in sizes)
        + f"{'growth':>9}{'Marquez':>9}"
    )
    for name in dict.fromkeys(name for each in sizes for name in each.latency):
        found = [each.latency.get(name) for each in sizes]
        cells = "".join(f"{_cell(each):>18}" for each in found)
        marquez = MARQUEZ_P50_MS.get(name)
        print(f"{name:40}{cells}{_growth(found):>9}{'' if marquez is None else f'{marquez:,.0f}':>9}")


def _cell(found: Mapping[str, float] | None) -> str:
    return "" if found is None else f"{found['p50_ms']:.1f} / {found['p99_ms']:.1f}"


def _growth(found: Sequence[Mapping[str, float] | None]) -> str:
    """The ratio of the medians at the last size and the one before."""
    if len(found) < 2 or found[-1] is None or found[-2] is None:
        return ""
    return f"{found[-1]['p50_ms'] / found[-2]['p50_ms']:.1f}x"


if __name__ == "__main__":
    main()
