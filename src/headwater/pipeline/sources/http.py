"""Records of an API: fetched once, into files that the run reads and then deletes.

Files rather than memory, so that the number of records is not limited, and Spark reads them in parallel, counts them
and infers their columns as for any file. Spark must run on this machine.
"""

from collections.abc import Iterator
from pathlib import Path

import httpx
import orjson
from pyspark.sql import DataFrame, SparkSession

from headwater.errors import InvalidInputError
from headwater.model.words import so_many
from headwater.pipeline.http.call import Caller, caller_of, shown
from headwater.pipeline.http.paging import Page, as_sent, first_page, next_page, records_of
from headwater.pipeline.spec import HttpInput


def read_http(spark: SparkSession, reads: HttpInput, folder: Path) -> DataFrame:
    """The records as one frame; their files are in the folder, one per page.

    Raises:
        InvalidInputError: the API refused, its answer does not match the pipeline's settings, or has too many pages.
        UnavailableError: the API did not answer, or failed, in all attempts.
        SetupError: an environment variable that `auth` names is not set.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with caller_of(reads) as caller:
        for number, records in enumerate(_pages(caller, reads), 1):
            (folder / f"page-{number:06}.json").write_bytes(b"".join(b"%b\n" % record for record in records))
    reader = spark.read if reads.schema is None else spark.read.schema(reads.schema)
    return reader.json(str(folder))


def _pages(caller: Caller, reads: HttpInput) -> Iterator[list[bytes]]:
    page: Page | None = first_page(reads.url, reads.params, reads.paging)
    for _ in range(reads.most_pages):
        if page is None:
            return
        answer = caller.get(page.url, page.params)
        body = _json(answer)
        found = len(records_of(body, reads.records))
        yield as_sent(answer.content, reads.records)
        page = next_page(page, reads.paging, found, body, answer.links.get("next", {}).get("url"))
    if page is not None:
        raise InvalidInputError(f"most_pages: {shown(reads.url)} has more than {so_many(reads.most_pages, 'page')}")


def _json(answer: httpx.Response) -> object:
    try:
        return orjson.loads(answer.content)
    except orjson.JSONDecodeError:
        raise InvalidInputError(f"{shown(str(answer.url))}: the answer is not JSON") from None
