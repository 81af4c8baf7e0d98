"""`headwater log`: operations on the log itself."""

import time
from contextlib import closing
from typing import Annotated
from uuid import uuid4

import typer

from headwater.cli.access import operators_token
from headwater.cli.cosign import cosign
from headwater.cli.json_output import AnswerOption, JsonOption, print_answer, print_result
from headwater.cli.option_values import DatabaseOption
from headwater.cli.printed import say
from headwater.cli.service_client import DEFAULT_URL, UrlOption, service_at
from headwater.emit.home import headwater_home
from headwater.store.erasing import Erasure
from headwater.store.erasing import erase as erased
from headwater.store.opening import open_existing

log = typer.Typer(
    name="log",
    help="The log: who did what; erase a facet without breaking any proof; ask for witnesses' signatures.",
    no_args_is_help=True,
)
log.command()(cosign)


@log.callback()
def _group() -> None:
    """The log itself: erase a facet without breaking any proof."""


@log.command()
def actions(
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="How many at most.")] = 50,
    json_output: AnswerOption = False,
    url: UrlOption = DEFAULT_URL,
) -> None:
    """List who wrote, deleted, granted, erased and exported what, newest first.

    Example: headwater log actions --limit 10
    """
    with service_at(url, token=operators_token()) as client:
        answer = client.get("/actions", {"limit": limit})
    if json_output:
        print_answer(answer)
        return
    if not answer["actions"]:
        say("no entries")
    for each in answer["actions"]:
        for did in each["did"]:
            what = f"{did['what']}  {' '.join(did['target'])}"
            say(f"{each['index']:>8}  {each['at']}  {each['by'] or 'unauthenticated'}  {what}")


@log.command()
def redact(
    index: Annotated[int, typer.Argument(min=0, help="The entry's place in the log.")],
    path: Annotated[str, typer.Argument(help="The facet, as run.facets.owner or inputs.0.facets.schema.")],
    reason: Annotated[str, typer.Option(help="Why; kept in the log.")],
    by: Annotated[str, typer.Option(help="Who; kept in the log.")],
    database: DatabaseOption = None,
    json_output: JsonOption = False,
) -> None:
    """Erase a facet of an event for good; its commitment stays, so every proof and receipt still holds.

    Stop the services first. All facts are rebuilt from the log, which takes a while. The event's signature is erased
    too: with it, a guess at the erased content could be checked. Backups are not touched. If the command was killed,
    run it again; it is done when it says that the facet was erased before.

    Example: headwater log redact 41 run.facets.owner --reason "asked for by the person" --by ann
    """
    home = headwater_home()
    with closing(open_existing(database or home / "headwater.db", home / "segments")) as store:
        erasure = Erasure(index, path, reason, by, str(uuid4()), time.time_ns() // 1_000)
        gone, entry = erased(store, erasure)
    in_words = f"erased from entry {index}: {', '.join(gone)}; recorded as entry {entry}"
    print_result(in_words, {"index": index, "erased": gone, "saidBy": entry}, json_output=json_output)
