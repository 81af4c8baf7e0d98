"""The captured lineage as text."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from headwater.cli.lineage_walk import INDIRECT, Step, Target, Walk
from headwater.model.words import so_many


def origin(walked: Walk) -> str:
    """The origin of a column: the chain of direct steps up to its sources, and how many indirect ones there are."""
    sentence = f"{walked.labels[walked.start]} comes from {', which comes from '.join(_chain(walked))}"
    hangs_on = len(walked.hops) - 1 - len({step.source for step in walked.steps if _is_direct(step)})
    if hangs_on <= 0:
        return sentence
    how = "filters, joins or groups" if hangs_on == 1 else "filter, join or group"
    return f"{sentence}; {so_many(hangs_on, 'more column')} {how} its rows"


def reach(walked: Walk) -> str:
    """The columns and datasets that a change of a column reaches."""
    reached = [walked.labels[node] for node in walked.hops if node != walked.start]
    datasets = sorted({name.rpartition(":")[0] for name in reached})
    return (
        f"a change of {walked.labels[walked.start]} reaches {so_many(len(reached), 'column')} "
        f"in {so_many(len(datasets), 'dataset')}: {', '.join(datasets)}"
    )


def tally(summary: dict[str, Any]) -> str:
    """How much the service knows."""
    events = summary["events"]
    unproved = sum(events[verdict] for verdict in ("unsigned", "unknownKey", "tampered"))
    counts = ", ".join(so_many(summary[f"{what}s"], what) for what in ("job", "run", "dataset", "column"))
    return (
        f"{counts}, {so_many(summary['edges'], 'edge')} between jobs and datasets, "
        f"{summary['columnEdges']:,} between columns; of {so_many(events['stored'], 'event')} "
        f"{events['verified']:,} verified, {unproved:,} not; {events['refused']:,} refused"
    )


def ways_on(url: str, folder: Path, name: str, target: Target, *, is_served: bool) -> Iterator[str]:
    """Suggestions for further commands, one per line; if the service has ended, first how to start it again."""
    if is_served:
        yield f"the page        {url}"
    else:
        home = shlex.quote(str(folder.parent))
        yield f"the page        HEADWATER_HOME={home} headwater serve --port {urlsplit(url).port}, then {url}"
    yield f"the pipelines   {folder}/*.yaml, to read, change and `headwater run`"
    yield "their proof     headwater key show --jwks > node.jwks"
    yield f"                headwater verify {folder}/events.jsonl --keys node.jwks"
    dataset, at = shlex.join(target.dataset), f" --url {url}" if is_served else ""
    yield f"its audit       headwater audit export --dataset {dataset} --upstream -o mart.zip{at}"
    yield f"                headwater audit verify mart.zip --column {target.column}"
    yield f"from the shell  headwater trace {name} --url {url}{'' if is_served else ', while it is served'}"


def _chain(walked: Walk) -> Iterator[str]:
    node = walked.start
    while sources := sorted({step.source for step in walked.next_steps(node) if _is_direct(step)}):
        yield " and ".join(walked.labels[source] for source in sources)
        node = sources[0]


def _is_direct(step: Step) -> bool:
    return not step.only(INDIRECT)
