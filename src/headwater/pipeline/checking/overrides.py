"""Applies `--set a.b.c=value` to the tree: the key is a path, the value is YAML."""

import re
from collections.abc import Mapping
from dataclasses import replace

from headwater.pipeline.checking.document import Fields, Items, Node, Scalar, node_at, read_document
from headwater.pipeline.checking.problems import Mark, Path, Problem

_STEP = re.compile(r'"(?P<quoted>[^"]*)"|(?P<bare>[^."]+)')


def override(root: Node, settings: Mapping[str, str]) -> tuple[Node, tuple[Problem, ...]]:
    """Apply settings in order; missing keys are created, `0`, `1`, … are indexes of a list."""
    problems: list[Problem] = []
    for key, text in settings.items():
        path = _steps(key)
        mark = replace(node_at(root, path or ()).mark, setting=key or "''")
        if path is None:
            problems.append(Problem(mark, (), "expected a path such as output.iceberg.mode"))
            continue
        value, wrong = read_document(text)
        if wrong:
            problems += (Problem(mark, (), problem.message) for problem in wrong)
            continue
        try:
            root = _placed(root, path, _marked(value, mark), mark)
        except _NoSuchItemError as missing:
            problems.append(Problem(mark, (), str(missing)))
    return root, tuple(problems)


class _NoSuchItemError(Exception):
    pass


def _steps(key: str) -> Path | None:
    steps = [found["quoted"] or found["bare"] for found in _STEP.finditer(key)]
    rewritten = _STEP.sub("x", key)
    return tuple(steps) if all(steps) and rewritten == ".".join("x" for _ in steps) and steps else None


def _placed(node: Node, path: Path, value: Node, mark: Mark) -> Node:
    if not path:
        return value
    step, rest = path[0], path[1:]
    match node:
        case Items(nodes):
            if step not in map(str, range(len(nodes) + 1)):
                raise _NoSuchItemError(f"expected a place in the list, from 0 to {len(nodes)}, found {step!r}")
            index = int(step)
            below = nodes[index] if index < len(nodes) else Scalar("", mark)
            return replace(node, nodes=(*nodes[:index], _placed(below, rest, value, mark), *nodes[index + 1 :]))
        case Fields(nodes, keys):
            below = nodes.get(step, Scalar("", mark))
            return replace(
                node,
                nodes={**nodes, step: _placed(below, rest, value, mark)},
                keys={**keys, step: keys.get(step, mark)},
            )
        case Scalar():
            return Fields({step: _placed(Scalar("", mark), rest, value, mark)}, {step: mark}, mark)


def _marked(node: Node, mark: Mark) -> Node:
    match node:
        case Scalar():
            return replace(node, mark=mark)
        case Items(nodes):
            return Items(tuple(_marked(item, mark) for item in nodes), mark)
        case Fields(nodes, keys):
            return Fields({key: _marked(value, mark) for key, value in nodes.items()}, dict.fromkeys(keys, mark), mark)
