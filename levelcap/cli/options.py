"""Options that several commands have, under the same names everywhere."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

World = Annotated[str, Parameter(name=["--world", "--ruleset"])]
Overrides = Annotated[list[str] | None, Parameter(name="--set", consume_multiple=False)]
NetOptions = Annotated[list[str] | None, Parameter(name="--net", consume_multiple=False)]
Several = Annotated[list[str] | None, Parameter(consume_multiple=True)]
Files = Annotated[list[Path] | None, Parameter(consume_multiple=True)]
From = Annotated[str | None, Parameter(name="--from")]
AsJson = Annotated[bool, Parameter(name="--json")]
