"""Parses and validates a pipeline file into its spec, before Spark starts."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Final

from headwater.errors import InvalidPipelineError
from headwater.pipeline.checking.constraints import complaints
from headwater.pipeline.checking.document import Fields, Node, Scalar, node_at, read_document
from headwater.pipeline.checking.frames import Frames, resolve
from headwater.pipeline.checking.grammar import Draft, read_draft
from headwater.pipeline.checking.overrides import override
from headwater.pipeline.checking.problems import Mark, Problem
from headwater.pipeline.checking.problems import Path as KeyPath
from headwater.pipeline.checking.reading import Reader, located
from headwater.pipeline.checking.variables import expand
from headwater.pipeline.spec import LineageSpec, PipelineSpec
from headwater.pipeline.terms import HttpUrl

_NOTHING: Mapping[str, str] = MappingProxyType({})
_ENDPOINT: Final = "HEADWATER_ENDPOINT"


def load_pipeline(
    path: Path, overrides: Mapping[str, str] = _NOTHING, environment: Mapping[str, str] | None = None
) -> PipelineSpec:
    """Read and validate a pipeline file.

    Args:
        path: the YAML file; local paths in it are relative to its directory.
        overrides: `--set` settings, key path to YAML text, such as `{"output.iceberg.mode": "overwrite"}`.
        environment: the values of `${NAME}` in the file, and the default endpoint of events, `HEADWATER_ENDPOINT`; by
            default the process's environment.

    Raises:
        InvalidPipelineError: the file cannot be read, or is invalid; the message has a line for each problem: its
            position, its key, what was expected.
    """
    checked = check_source(read_source(path), path, overrides, os.environ if environment is None else environment)
    if checked.spec is None:
        raise InvalidPipelineError("\n".join(problem.text(str(path)) for problem in checked.problems))
    return checked.spec


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of checking a file: a spec, or at least one problem.

    Attributes:
        written: the file's tree with settings applied, and `${…}` not expanded.
        problems: in the file's order.
    """

    written: Node
    spec: PipelineSpec | None
    problems: tuple[Problem, ...]


def read_source(path: Path) -> bytes:
    """The file's bytes.

    Raises:
        InvalidPipelineError: the file cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidPipelineError(f"{path}: {error.strerror or 'cannot be read'}") from error


def check_source(
    source: bytes, path: Path, overrides: Mapping[str, str], environment: Mapping[str, str], *, keep_unset: bool = False
) -> Checked:
    """Validate a file's bytes; reports all problems at once, or only the YAML error if the YAML itself is broken."""
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        mark = Mark(source.count(b"\n", 0, error.start) + 1, 1)
        return Checked(read_document("")[0], None, (Problem(mark, (), "not UTF-8"),))
    root, syntax_problems = read_document(text)
    if syntax_problems:
        return Checked(root, None, syntax_problems)
    written, of_settings = override(root, overrides)
    root, of_variables = expand(written, environment, keep_unset=keep_unset)
    reader = Reader(path.absolute().parent)
    draft = read_draft(root, reader)
    endpoint = _default_endpoint(root, reader, environment)
    frames = _resolved(draft, root, reader) if draft else None
    problems = tuple(sorted({*of_settings, *of_variables, *reader.problems}))
    if problems or draft is None or frames is None:
        return Checked(written, None, problems)
    return Checked(written, _spec(draft, frames, source, path, endpoint), ())


def _default_endpoint(root: Node, reader: Reader, environment: Mapping[str, str]) -> str | None:
    """The endpoint of events from the environment; None if the file has its own, or the environment has none."""
    match node_at(root, ("lineage", "http")):
        case Fields(nodes) if "endpoint" in nodes:
            return None
    named = environment.get(_ENDPOINT)
    return reader.read(Scalar(named, Mark(1, 1), plain=False), HttpUrl, (_ENDPOINT,)) if named else None


def _resolved(draft: Draft, root: Node, reader: Reader) -> Frames:
    def report(path: KeyPath, message: str) -> None:
        reader.report(node_at(root, path).mark, path, message)

    for path, message in complaints(draft):
        report(path, message)
    return resolve(draft, report)


def _spec(draft: Draft, frames: Frames, source: bytes, path: Path, endpoint: str | None) -> PipelineSpec:
    settings = dict(draft.settings)
    lineage: LineageSpec = settings.pop("lineage", LineageSpec())
    if endpoint:
        lineage = replace(lineage, http=replace(lineage.http, endpoint=endpoint))
    events = replace(lineage.file, path=located(lineage.file.path, path.absolute().parent))
    return PipelineSpec(
        **settings,
        lineage=replace(lineage, file=events),
        inputs=frames.inputs,
        processors=frames.processors,
        outputs=frames.outputs,
        source=path.absolute(),
        source_sha256=sha256(source).hexdigest(),
    )
