"""Rules about operation: lineage and streams."""

from typing import Final

from headwater.pipeline.lint_rules.rule import Hit, Hits, Rule, Subject


def _lineage_disabled(subject: Subject) -> Hits:
    if not subject.spec.lineage.enabled:
        yield Hit(("lineage", "enabled"), "no events are sent")


def _no_checkpoint(subject: Subject) -> Hits:
    if subject.spec.mode == "stream" and subject.spec.stream.checkpoint is None:
        yield Hit(("mode",), "the stream checkpoint is kept on this machine")


RULES: Final = (
    Rule(
        "HW401",
        "lineage is disabled",
        "The data this pipeline writes comes from nowhere in the graph, and whoever looks for impact does not see it.",
        "Take `enabled: false` out; sending lineage neither slows nor fails a pipeline.",
        _lineage_disabled,
    ),
    Rule(
        "HW402",
        "a stream without a stream checkpoint of its own",
        "Started on another machine it begins from scratch, and reads or writes everything again.",
        "Write `stream: {checkpoint: …}` with a place that outlives the machine.",
        _no_checkpoint,
    ),
)
