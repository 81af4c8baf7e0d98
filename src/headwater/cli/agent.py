"""`headwater agent`: the edge agent, until it is told to stop."""

import logging
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from headwater.agent.config import AgentConfig, load_config
from headwater.agent.loop import AgentContext
from headwater.agent.program import run_agent
from headwater.cli.printed import say
from headwater.emission import new_run_id
from headwater.emit.home import headwater_home


def agent(
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The agent's configuration; without it, the defaults.")
    ] = None,
) -> None:
    """Run deployed pipelines on this machine: scheduled batches, streams, restarts.

    Example: headwater agent --config agent.yaml
    """
    logging.getLogger("headwater.agent").setLevel(logging.INFO)
    context = AgentContext(
        home=headwater_home(),
        config=AgentConfig() if config is None else load_config(config),
        now=lambda: datetime.now(UTC),
        new_run_id=new_run_id,
    )
    run_agent(context, say)
