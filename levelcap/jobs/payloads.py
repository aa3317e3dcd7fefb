"""What may enter the queue: payloads checked by their model, keys and numbers by their bounds."""

import math
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from levelcap.jobs.job import JobType
from levelcap.jobs.rows import dumped
from levelcap.kit.errors import BadValue, refuse, unknown_name

MAX_KEY_CHARS = 200
MAX_DELAY_S = 366 * 86_400.0


def checked_payload(type_: JobType, payload: Mapping[str, Any]) -> str:
    """Returns the payload as stored: one line of JSON, defaults filled in.

    Raises:
        UnknownName: a field the type does not have.
        BadValue: a missing field or a wrong value; the message names the field.
    """
    if not isinstance(payload, Mapping):
        what = f"the payload of a {type_.name!r} job is a mapping"
        raise BadValue(refuse(what, payload, "Give its fields by name"))
    try:
        model = type_.payload.model_validate_json(dumped(dict(payload)), strict=True)
    except ValidationError as error:
        raise _wrong_field(type_, error) from error
    return dumped(model.model_dump(mode="json"))


def _wrong_field(type_: JobType, error: ValidationError) -> Exception:
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"]) or "payload"
    if first["type"] == "extra_forbidden":
        kind = f"payload field of a {type_.name!r} job"
        return unknown_name(kind, field, type_.payload.model_fields)
    what = f"payload field {field!r} of a {type_.name!r} job: {first['msg']}"
    value = "nothing" if first["type"] == "missing" else first["input"]
    return BadValue(refuse(what, value, "Correct this field"))


def checked_key(key: str | None) -> str | None:
    """Returns an idempotency key that can be stored: 1–200 printable characters, or None."""
    fits = isinstance(key, str) and 0 < len(key) <= MAX_KEY_CHARS and key.isprintable()
    if key is None or fits:
        return key
    what = f"an idempotency key has 1–{MAX_KEY_CHARS} printable characters"
    raise BadValue(refuse(what, key, "Use a shorter or plainer key"))


def checked_delay(delay_s: float) -> float:
    """Returns a delay of 0 s to a year."""
    if math.isfinite(delay_s) and 0 <= delay_s <= MAX_DELAY_S:
        return float(delay_s)
    raise BadValue(refuse("a delay lies between 0 s and a year", delay_s, "Use a shorter delay"))


def checked_fraction(fraction: float) -> float:
    """Returns a progress between 0 and 1."""
    if math.isfinite(fraction) and 0 <= fraction <= 1:
        return float(fraction)
    raise BadValue(refuse("progress lies between 0 and 1", fraction, "Divide by the whole"))
