"""`headwater lint`: warnings about pipeline files."""

from pathlib import Path
from typing import Annotated, Final

import orjson
import typer

from headwater.cli.exit_status import IS_BAD, NOT_DONE
from headwater.cli.printed import lines_of, say
from headwater.errors import InvalidPipelineError
from headwater.pipeline.lint import Finding, lint_pipeline
from headwater.pipeline.lint_rules.registry import DOES_NOT_CHECK, RULES

_DOES_NOT_CHECK: Final = """\
the file is not valid

`headwater run` refuses it. Its problems are the findings, and no other rule is checked. It cannot be silenced.

Correct what each finding names; docs/pipelines.md describes every key."""


def lint(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE", help="Pipeline files.", show_default=False)
    ] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print the findings as one JSON array.")] = False,
    explain: Annotated[
        str | None,
        typer.Option(metavar="RULE", help="Explain why a rule exists and how to fix a finding.", show_default=False),
    ] = None,
) -> None:
    """Check pipeline files against the lint rules.

    Exit status: 0 nothing found, 1 a rule is broken, 2 a file cannot be read (the others are still checked).

    Silence a rule by the comment "# headwater: ignore HW301" on its line, or by lint: {ignore: [HW301]} in the file.

    Example: headwater lint orders.yaml --json
    """
    if explain is not None:
        if files or json_output:
            raise typer.BadParameter(
                "checks no file and prints text: leave out FILE and --json", param_hint="--explain"
            )
        say(*_explained(explain).splitlines())
        return
    if not files:
        raise typer.BadParameter("name at least one pipeline file")
    read = [(file, _findings(file)) for file in files]
    findings = [(file, finding) for file, found in read for finding in found or ()]
    if json_output:
        typer.echo(orjson.dumps([_as_json(file, finding, name_file=len(files) > 1) for file, finding in findings]))
    else:
        _print_lines(findings)
    if any(found is None for _, found in read):
        raise typer.Exit(NOT_DONE)
    raise typer.Exit(IS_BAD if findings else 0)


def _findings(file: Path) -> tuple[Finding, ...] | None:
    """The findings of a file; None if it cannot be read, which is reported."""
    try:
        return lint_pipeline(file)
    except InvalidPipelineError as error:
        say(*lines_of([f"headwater: {error}"]), err=True)
        return None


def _print_lines(findings: list[tuple[Path, Finding]]) -> None:
    for file, finding in findings:
        where = f"{finding.path}: " if finding.path else ""
        say(f"{file}:{finding.line}: {finding.rule} {where}{finding.message}")
    if findings:
        say("", f"Why: headwater lint --explain {findings[0][1].rule}", err=True)


def _as_json(file: Path, finding: Finding, *, name_file: bool) -> dict[str, object]:
    return {"file": str(file), **finding._asdict()} if name_file else finding._asdict()


def _explained(rule_id: str) -> str:
    if rule_id.upper() == DOES_NOT_CHECK:
        return f"{DOES_NOT_CHECK}: {_DOES_NOT_CHECK}"
    for rule in RULES:
        if rule.id == rule_id.upper():
            return f"{rule.id}: {rule.title}\n\n{rule.reason}\n\n{rule.mend}"
    ids = [DOES_NOT_CHECK, *(rule.id for rule in RULES)]
    raise typer.BadParameter(f"there is no rule {rule_id}; there are {', '.join(ids)}")
