"""Options that several commands have, under the same names everywhere."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, Token

from levelcap.kit.errors import BadFile, refuse


def _whole(type_: object, tokens: Sequence[Token]) -> int:
    """A whole number; the parser alone would round 3.5 and say nothing."""
    try:
        return int(tokens[0].value, 0)
    except ValueError:
        raise ValueError(f'"{tokens[0].value}" is no whole number') from None


Int = Annotated[int, Parameter(converter=_whole)]
World = Annotated[str, Parameter(name=["--world", "--ruleset"])]
Overrides = Annotated[list[str] | None, Parameter(name="--set", consume_multiple=False)]
NetOptions = Annotated[list[str] | None, Parameter(name="--net", consume_multiple=False)]
Several = Annotated[list[str] | None, Parameter(consume_multiple=True)]
Files = Annotated[list[Path] | None, Parameter(consume_multiple=True)]
From = Annotated[str | None, Parameter(name="--from")]
AsJson = Annotated[bool, Parameter(name="--json")]


def check_targets(*files: Path | None) -> None:
    """Refuse files in folders that do not exist, before any work is done."""
    for file in files:
        if file is not None and not file.absolute().parent.is_dir():
            raise BadFile(refuse("no such folder", str(file), "Create the folder first"))
