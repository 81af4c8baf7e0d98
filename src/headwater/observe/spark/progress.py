"""Where a streaming query stands, for the run facet `headwater_stream`."""

from typing import Any

import orjson
from pyspark.sql.streaming.listener import StreamingQueryProgress


def sources_of(progress: StreamingQueryProgress) -> list[dict[str, object]]:
    """The sources of a query as its last micro-batch left them."""
    return [
        {
            "query": progress.name or "",
            "batchId": progress.batchId,
            "source": source.description,
            "startOffset": _offsets(source.startOffset),
            "endOffset": _offsets(source.endOffset),
            "numInputRows": source.numInputRows,
            **_lag(_offsets(source.endOffset), _offsets(source.latestOffset)),
        }
        for source in progress.sources
    ]


def _offsets(told: str | None) -> Any:  # noqa: ANN401  (JSON)
    """Offsets by topic and partition where the source is Kafka; of any other as it tells them."""
    if told is None or not told.startswith("{"):
        return told
    try:
        return orjson.loads(told)
    except orjson.JSONDecodeError:
        return told


def _lag(end: Any, latest: Any) -> dict[str, object]:  # noqa: ANN401  (JSON)
    """How many records of Kafka were there and not read yet; nothing for sources that do not tell.

    >>> _lag({"orders": {"0": 5, "1": 7}}, {"orders": {"0": 9, "1": 7}})
    {'latestOffset': {'orders': {'0': 9, '1': 7}}, 'lag': 4}
    """
    try:
        behind = sum(
            offset - end[topic].get(partition, 0)
            for topic, partitions in latest.items()
            for partition, offset in partitions.items()
        )
    except (AttributeError, KeyError, TypeError):
        return {}
    return {"latestOffset": latest, "lag": behind}
