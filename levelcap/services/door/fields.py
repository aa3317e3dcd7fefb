"""What bodies and parameters of all services are made of: a strict model, names, numbers."""

from typing import Annotated

from fastapi import Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from levelcap.kit.ids import check_id

# A path parameter or field that names one thing and can never be a path.
Id = Annotated[str, AfterValidator(check_id)]
Seed = Annotated[int, Field(ge=0, lt=2**53)]
Page = Annotated[int, Query(ge=1, le=1000)]
Number = Annotated[int, Query(ge=0, lt=2**53)]
Seat = Annotated[int, Field(ge=0, lt=100)]
# Names with commas between them, e.g. "summary,objects,body".
ViewNames = Annotated[str, Query(pattern=r"^[a-z_]+(,[a-z_]+){0,7}$", max_length=200)]


class Body(BaseModel):
    """A body in which nothing unknown stands and nothing is coerced."""

    model_config = ConfigDict(extra="forbid", strict=True)
