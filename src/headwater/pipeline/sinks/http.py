"""Rows to an API, in calls of so many: at least once, in the order in which Spark hands them out.

Spark first writes the rows to files of this machine, which are then sent one by one. So any number of rows will do, no
row is computed twice however often a call is made again, and Spark counts them as it counts any file's. (Its own way to
hand out rows piece by piece, `toLocalIterator`, computes them without the session's settings: of a JSON file that is
filtered it does not count what the filter leaves out.)
"""

import hashlib
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from headwater.pipeline.http.call import caller_of
from headwater.pipeline.spec import HttpOutput


def send_rows(frame: DataFrame, writes: HttpOutput) -> None:
    """Send all rows.

    A call that is made again has the same `Idempotency-Key`, the digest of its body: an API that minds it takes each
    row once.

    Raises:
        InvalidInputError: the API refused.
        UnavailableError: it did not answer, or not well, as often as it was asked; calls before have taken their rows.
        SetupError: an environment variable that `auth` names is not set.
    """
    content_type = "application/json" if writes.format == "json" else "application/x-ndjson"
    with caller_of(writes) as caller, tempfile.TemporaryDirectory(prefix="headwater-http-") as folder:
        as_json = F.to_json(F.struct("*"), {"ignoreNullFields": "false"})
        frame.select(as_json.alias("value")).write.mode("append").text(f"file://{folder}")
        rows = _lines(Path(folder))
        while batch := list(islice(rows, writes.batch_size)):
            body = _body(batch, writes)
            key = hashlib.sha256(body).hexdigest()
            caller.send(writes.method, body, {"Content-Type": content_type, "Idempotency-Key": key})


def _lines(folder: Path) -> Iterator[bytes]:
    for part in sorted(folder.glob("part-*")):
        with part.open("rb") as lines:
            for line in lines:
                yield line.rstrip(b"\n")


def _body(batch: list[bytes], writes: HttpOutput) -> bytes:
    return b"[" + b",".join(batch) + b"]" if writes.format == "json" else b"\n".join(batch) + b"\n"
