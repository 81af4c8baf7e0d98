"""Rules about operation: lineage and streams."""

from typing import Final

from headwater.pipeline.lint_rules.rule import Hit, Hits, Rule, Subject


def _lineage_disabled(subject: Subject) -> Hits:
    if not subject.spec.lineage.enabled:
        yield Hit(("lineage", "enabled"), "no lineage events are sent")


def _no_checkpoint(subject: Subject) -> Hits:
    if subject.spec.mode == "stream" and subject.spec.stream.checkpoint is None:
        yield Hit(("mode",), "the stream checkpoint is stored on this machine")


RULES: Final = (
    Rule(
        "HW401",
        "lineage is disabled",
        "In the graph, the data this pipeline writes has no origin, and an impact analysis misses the pipeline.",
        "Remove `enabled: false`; sending lineage neither slows nor fails a pipeline.",
        _lineage_disabled,
    ),
    Rule(
        "HW402",
        "a stream without a configured stream checkpoint",
        "Started on another machine, it starts from scratch and reads or writes everything again.",
        "Write `stream: {checkpoint: …}` with a location that does not depend on this machine.",
        _no_checkpoint,
    ),
)
