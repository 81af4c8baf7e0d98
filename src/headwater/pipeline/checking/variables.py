"""`${NAME}` and `${NAME:-default}` in a file's values, from the environment; `$${` is a literal `${`."""

import re
from collections.abc import Mapping
from dataclasses import replace

from headwater.pipeline.checking.credentials import is_literal_secret
from headwater.pipeline.checking.document import Fields, Items, Node, Scalar
from headwater.pipeline.checking.problems import Path, Problem

_VARIABLE = re.compile(
    r"(?P<escaped>\$\$\{)|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(:-(?P<default>[^{}]*))?\}|(?P<other>\$\{)", re.ASCII
)
_WRITE_IT = "expected ${NAME} or ${NAME:-default}, the default without braces; a literal ${ is written $${"
_NAME_IT = (
    "secrets do not belong in the pipeline file; name the variable under a key that ends in _env, or under options_env"
)


def expand(node: Node, environment: Mapping[str, str], *, keep_unset: bool = False) -> tuple[Node, tuple[Problem, ...]]:
    """Expand variables in the values of a tree; keys are never expanded.

    A variable in a value whose key looks secret is a problem: secrets are referred to by `…_env`, never put into the
    spec.

    Args:
        node: the tree.
        environment: variables by name.
        keep_unset: leave a variable that is not set unexpanded, instead of reporting it.
    """
    expansion = _Expansion(environment, keep_unset)
    return expansion.expanded(node, ()), tuple(expansion.problems)


class _Expansion:
    def __init__(self, environment: Mapping[str, str], keep_unset: bool) -> None:
        self.problems: list[Problem] = []
        self._environment = environment
        self._keep_unset = keep_unset

    def expanded(self, node: Node, path: Path) -> Node:
        match node:
            case Scalar(text) if "${" in text:
                return replace(node, text=_VARIABLE.sub(lambda found: self._value(found, node, path), text))
            case Scalar():
                return node
            case Items(nodes):
                return replace(node, nodes=tuple(self.expanded(each, (*path, str(i))) for i, each in enumerate(nodes)))
            case Fields(nodes):
                return replace(node, nodes={key: self.expanded(each, (*path, key)) for key, each in nodes.items()})

    def _value(self, found: re.Match[str], node: Scalar, path: Path) -> str:
        name, default = found["name"], found["default"]
        if found["escaped"]:
            return found[0][1:]
        if found["other"]:
            self.problems.append(Problem(node.mark, path, _WRITE_IT))
        elif is_literal_secret(path):
            self.problems.append(Problem(node.mark, path, _NAME_IT))
        elif name in self._environment:
            value = self._environment[name]
            if not any("\ud800" <= character <= "\udfff" for character in value):  # Python's for a byte of no character
                return value
            self.problems.append(Problem(node.mark, path, f"environment variable {name} is not valid UTF-8"))
        elif default is not None:
            return default
        elif not self._keep_unset:
            message = f"environment variable {name} is not set; set it, or give a default: ${{{name}:-…}}"
            self.problems.append(Problem(node.mark, path, message))
        return found[0]
