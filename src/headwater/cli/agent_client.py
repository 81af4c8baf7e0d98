"""A client of this machine's agent, over its Unix socket."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

import httpx
import typer

from headwater.cli.service_client import ServiceClient
from headwater.emit.home import headwater_home
from headwater.errors import InvalidInputError, NotFoundError

NameArgument = Annotated[str, typer.Argument(metavar="JOB", help="The job's name.", show_default=False)]
NamespaceOption = Annotated[
    str | None, typer.Option("--namespace", help="The job's namespace, where several jobs have the name.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the agent's answer as JSON.")]
WhyOption = Annotated[
    str | None, typer.Option("--why", metavar="TEXT", help="The reason; recorded in the run's last event.")
]


@contextmanager
def agent_here() -> Iterator[ServiceClient]:
    """A client of the agent that runs on this HEADWATER_HOME."""
    path = headwater_home() / "agent" / "agent.sock"
    transport = httpx.HTTPTransport(uds=str(path), trust_env=False)  # loads no certificates
    with httpx.Client(base_url="http://agent/api/v1", transport=transport, timeout=30.0) as client:
        nobody = "no agent answers at {url} ({why}); start one with `headwater agent`"
        yield ServiceClient(str(path), client, nobody, is_here=True)


def found_job(client: ServiceClient, name: str, namespace: str | None) -> Mapping[str, Any]:
    """The job of this name.

    Raises:
        NotFoundError: there is none.
        InvalidInputError: there are several, in namespaces that are named in the message.
    """
    found: list[Mapping[str, Any]] = client.get("/jobs", {"name": name, "namespace": namespace})
    if not found:
        where = "" if namespace is None else f" in the namespace {namespace!r}"
        raise NotFoundError(
            f"no job {name!r} is deployed on this agent{where}; `headwater job list` shows the deployed jobs"
        )
    if len(found) > 1:
        namespaces = ", ".join(one["namespace"] for one in found)
        raise InvalidInputError(f"several jobs are named {name!r}: say --namespace, one of {namespaces}")
    return found[0]
