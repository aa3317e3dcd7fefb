"""Asking a service of this machine how it is."""

from typing import Any

import httpx

from levelcap.kit.errors import StateError, refuse
from levelcap.services.process.hosts import LOCAL

TIMEOUT_S = 3.0


def ask_health(name: str, port: int) -> dict[str, Any]:
    """Returns what `GET /health` answers on a port.

    Raises:
        StateError: nobody answers in time, or somebody else does.
    """
    try:
        with httpx.Client(trust_env=False, timeout=TIMEOUT_S) as client:
            answer = client.get(f"http://{LOCAL}:{port}/health").raise_for_status().json()
    except (httpx.HTTPError, ValueError) as error:
        what = f"{name} does not answer on port {port} ({error})"
        raise StateError(
            refuse(what, type(error).__name__, f"See `levelcap logs {name}`")
        ) from error
    if not isinstance(answer, dict) or answer.get("service") != name:
        what = f"somebody else answers on the port of {name}"
        raise StateError(refuse(what, answer, "Stop that process, or set port_offset"))
    return answer
