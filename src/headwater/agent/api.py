"""The control API: each route translates and calls one function of the agent.

Over the Unix socket, file permissions decide who may connect, and every caller may do everything; over HTTP a bearer
token is required.
"""

import json
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import FastAPI, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator, model_validator
from starlette.exceptions import HTTPException

from headwater.agent import shapes
from headwater.agent.guard import Guard, failure
from headwater.agent.logs import last_lines, log_of
from headwater.agent.loop import Agent
from headwater.agent.messages import Pipeline
from headwater.errors import HeadwaterError, InvalidInputError, NotFoundError
from headwater.model.numbers import Whole
from headwater.model.words import in_words

_STATUS_OF_ERROR: Final = (
    (NotFoundError, HTTPStatus.NOT_FOUND),
    (InvalidInputError, HTTPStatus.BAD_REQUEST),
    (HeadwaterError, HTTPStatus.SERVICE_UNAVAILABLE),
)
_MOST: Final = 1_000
_Limit = Annotated[Whole, Query(ge=1, le=_MOST)]
_LAST_ID: Final = (1 << 63) - 1
_JobId = Annotated[Whole, Path(ge=1, le=_LAST_ID)]
_OfJob = Annotated[Whole | None, Query(ge=1, le=_LAST_ID)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _is_text(cls, sent: object) -> object:
        """Refuse lone surrogates, which JSON may hold, but no file, database or answer can; and a body of another type.

        FastAPI passes that on as bytes.
        """
        if isinstance(sent, bytes):
            raise ValueError("expected JSON with the header `Content-Type: application/json`")
        try:
            json.dumps(sent, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("expected Unicode text throughout") from None
        return sent


class Deployment(_Body):
    """A pipeline to deploy: its text, the file's path (local paths are relative to it), and who deploys it."""

    source: str
    path: str | None = None
    settings: dict[str, str] = {}
    by: str | None = None


class OrderBody(_Body):
    """The person who gives the order, and the reason."""

    by: str | None = None
    note: str | None = None

    @field_validator("by", "note")
    @classmethod
    def _check_text(cls, text: str | None, field: ValidationInfo) -> str | None:
        return None if text is None else in_words(text, field.field_name or "body")


def create_api(agent: Agent, token: str | None) -> FastAPI:
    """An agent's API; without a token only for a transport that controls access itself."""
    app = FastAPI(title="Headwater agent", openapi_url=None)
    app.add_middleware(Guard, token=token)
    _handle_failures(app)
    _add_jobs(app, agent)
    _add_executions(app, agent)
    return app


def _add_jobs(app: FastAPI, agent: Agent) -> None:
    @app.post("/api/v1/jobs", status_code=HTTPStatus.CREATED)
    async def deploy(body: Deployment) -> shapes.JobShape:
        path = body.path or str(agent.context.home / "agent" / "pipeline.yaml")
        pipeline = Pipeline(source=body.source, path=path, settings=body.settings)
        return shapes.job_shape(agent, agent.deploy(pipeline, body.by))

    @app.get("/api/v1/jobs")
    async def jobs(name: str | None = None, namespace: str | None = None) -> list[shapes.JobShape]:
        wanted = [
            job
            for job in agent.store.jobs()
            if name in (None, job.name) and namespace in (None, job.namespace) and job.wanted != "deleted"
        ]
        return [shapes.job_shape(agent, job) for job in wanted]

    @app.get("/api/v1/jobs/{job_id}")
    async def describe(job_id: _JobId) -> shapes.JobWhole:
        return shapes.job_whole(agent, agent.deployed.find(job_id))

    @app.post("/api/v1/jobs/{job_id}/stop", status_code=HTTPStatus.ACCEPTED)
    async def stop(job_id: _JobId, body: OrderBody) -> shapes.JobShape:
        return shapes.job_shape(agent, agent.stop(agent.deployed.find(job_id), body.by, body.note))

    @app.post("/api/v1/jobs/{job_id}/rerun", status_code=HTTPStatus.ACCEPTED)
    async def rerun(job_id: _JobId) -> shapes.ExecutionShape:
        return shapes.execution_shape(agent, agent.rerun(agent.deployed.find(job_id)))

    @app.delete("/api/v1/jobs/{job_id}", status_code=HTTPStatus.ACCEPTED)
    async def delete(job_id: _JobId, by: str | None = None, note: str | None = None) -> shapes.JobShape:
        order = OrderBody(by=by, note=note)
        return shapes.job_shape(agent, agent.delete(agent.deployed.find(job_id), order.by, order.note))

    @app.get("/api/v1/jobs/{job_id}/history")
    async def history(job_id: _JobId, limit: _Limit = 50) -> shapes.HistoryShape:
        return shapes.history_shape(agent, agent.deployed.find(job_id), limit)


def _add_executions(app: FastAPI, agent: Agent) -> None:
    @app.get("/api/v1/executions")
    async def executions(job: _OfJob = None, limit: _Limit = 50) -> list[shapes.ExecutionShape]:
        return [shapes.execution_shape(agent, one) for one in agent.store.executions(job, limit=limit)]

    @app.get("/api/v1/executions/{run_id}")
    async def execution(run_id: str) -> shapes.ExecutionWhole:
        return shapes.execution_whole(agent, agent.store.execution(run_id))

    @app.get("/api/v1/executions/{run_id}/logs")
    async def logs(run_id: str, lines: _Limit = 200) -> list[str]:
        one = agent.store.execution(run_id)
        return last_lines(log_of(agent.context.home, one.run_id), lines)

    @app.get("/api/v1/node")
    async def node() -> shapes.NodeShape:
        return shapes.node_shape(agent)


def _handle_failures(app: FastAPI) -> None:
    @app.exception_handler(HeadwaterError)
    async def ours(_: Request, error: HeadwaterError) -> JSONResponse:
        return failure(next(status for kind, status in _STATUS_OF_ERROR if isinstance(error, kind)), str(error))

    @app.exception_handler(HTTPException)
    async def of_http(_: Request, error: HTTPException) -> JSONResponse:
        return failure(error.status_code, error.detail, error.headers)

    @app.exception_handler(RequestValidationError)
    async def of_request(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        return failure(HTTPStatus.UNPROCESSABLE_ENTITY, f"{where}: {first['msg']}")
