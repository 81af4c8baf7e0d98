"""Splits a body of many events without changing a byte of any, and builds the answer for each."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from http import HTTPStatus
from itertools import islice
from json import JSONDecodeError, JSONDecoder
from typing import Final, Literal

import orjson
from starlette.exceptions import HTTPException

from headwater.errors import HeadwaterError, MalformedJsonError
from headwater.model.strict_json import end_of_brackets
from headwater.service.http.failures import status_of
from headwater.service.ingest.recording import Answer
from headwater.service.shapes.batch import BatchAnswer, BatchSummary, EventAnswer, FailedEvent
from headwater.service.shapes.log import Receipt
from headwater.signing.merkle import Growth

NDJSON: Final = "application/x-ndjson"
_MOST: Final = 140_000
"""Limit on elements, above the number of events that fit a body (the smallest takes 121 bytes). The answer for each
takes 5 kB of memory, so without it a body of 16 MB of zeros took all there was."""
_LINES: Final = frozenset({NDJSON, "application/ndjson", "application/jsonl", "application/jsonlines"})
"""Content types in use for one event per line; none of them is registered."""
_TO_SEND: Final = f"send a JSON array of events, or one event a line with the content type {NDJSON}"
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = JSONDecoder(parse_int=str)  # only to find the end of a value; `int` refuses more than 4,300 digits


def events_in(body: bytes, content_type: str) -> list[bytes]:
    """The events of a body: the elements of a JSON array, or the lines of newline-delimited JSON.

    Lines are not parsed here; a line that is not JSON fails by itself. Empty lines are skipped.

    Raises:
        MalformedJsonError: not a JSON array; the message gives the position, and what to send.
        HTTPException: 413 for more elements than there could be events.
    """
    if content_type.partition(";")[0].strip().lower() in _LINES:
        return _not_too_many(line for line in body.split(b"\n") if line and not line.isspace())
    return _rewritten(body) or _not_too_many(_elements(body))


def _not_too_many(elements: Iterable[bytes]) -> list[bytes]:
    events = list(islice(elements, _MOST + 1))
    if len(events) > _MOST:
        fault = f"batch: more than {_MOST:,} elements, the limit"
        raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, fault)
    return events


def _rewritten(body: bytes) -> list[bytes] | None:
    """The fast path: elements parsed and written again, if that gives the very same bytes, as for most senders."""
    try:
        values = orjson.loads(body)
        events = _not_too_many(map(orjson.dumps, values)) if isinstance(values, list) else []
    except (orjson.JSONDecodeError, orjson.JSONEncodeError, TypeError):
        return None
    return events if b"[" + b",".join(events) + b"]" == body.strip() else None


def _elements(body: bytes) -> Iterator[bytes]:
    try:
        text = body.decode()
    except UnicodeDecodeError as fault:
        raise MalformedJsonError(f"batch: not UTF-8 at byte {fault.start}") from None
    if not text.startswith("[", begin := _after_space(text, 0)):
        raise MalformedJsonError(f"batch: expected '[' at character {begin}: {_TO_SEND}")
    position = _after_space(text, begin + 1)
    is_more = not text.startswith("]", position)
    while is_more:
        end = _end_of_value(text, position)
        yield text[position:end].encode()
        position = _after_space(text, end)
        if is_more := text.startswith(",", position):
            position = _after_space(text, position + 1)
    if _expect(text, position, "]") != len(text):
        raise MalformedJsonError("batch: unexpected content after the array")


def _end_of_value(text: str, position: int) -> int:
    try:
        return _DECODER.raw_decode(text, position)[1]
    except JSONDecodeError as fault:
        raise MalformedJsonError(f"batch: not JSON at character {fault.pos}: {fault.msg}") from None
    except RecursionError:  # nested too deep to be an event; refused later, by itself
        end = end_of_brackets(text, position)
        if end is None:
            raise MalformedJsonError(f"batch: the event at character {position} is not terminated") from None
        return end


def _expect(text: str, position: int, character: str) -> int:
    position = _after_space(text, position)
    if not text.startswith(character, position):
        raise MalformedJsonError(f"batch: expected {character!r} at character {position}")
    return _after_space(text, position + 1)


def _after_space(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return position if space is None else space.end()


def batch_answer(
    outcomes: Sequence[Answer | HeadwaterError], receipt: Callable[[int, Growth], Receipt] | None = None
) -> BatchAnswer:
    """The answer for a batch: a summary, a result per event in order, and the failed ones listed again.

    `receipt` makes receipts for stored events, if the sender asked for them.
    """
    results = [_event_answer(index, outcome) for index, outcome in enumerate(outcomes)]
    if receipt is not None:
        for result, outcome in zip(results, outcomes, strict=True):
            if isinstance(outcome, Answer):
                result["receipt"] = receipt(outcome.log_index, outcome.growth)
    failed = [
        FailedEvent(index=each["index"], reason=each.get("message", ""), retriable=each["retriable"])
        for each in results
        if each["status"] >= 400
    ]
    retriable = sum(each["retriable"] for each in failed)
    summary = BatchSummary(
        received=len(results),
        successful=len(results) - len(failed),
        failed=len(failed),
        retriable=retriable,
        non_retriable=len(failed) - retriable,
    )
    return BatchAnswer(status=_status(summary), summary=summary, failed_events=failed, results=results)


def _status(summary: BatchSummary) -> Literal["success", "partial_success", "failure"]:
    if not summary["failed"]:
        return "success"
    return "partial_success" if summary["successful"] else "failure"


def _event_answer(index: int, outcome: Answer | HeadwaterError) -> EventAnswer:
    if isinstance(outcome, HeadwaterError):
        status = status_of(outcome)
        return EventAnswer(index=index, status=status, retriable=outcome.is_retriable, message=str(outcome))
    return EventAnswer(index=index, status=201 if outcome.is_new else 200, retriable=False)
