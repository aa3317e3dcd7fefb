"""Who may call a route: declared at the endpoint, or the service does not start.

door = Routes(APIRouter(prefix="/api/jobs"))

@door.post("/claim", "worker")
def claim(body: Claim) -> Job: ...
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from fastapi import APIRouter, FastAPI
from fastapi.routing import RouteContext, iter_route_contexts
from starlette.routing import Match

from levelcap.kit.errors import StateError, refuse, unknown_name
from levelcap.services.door.tokens import ROLES

OPEN = "open"
RIGHTS = (OPEN, *ROLES)
JSON = "application/json"
MARK = "levelcap_right"
Endpoint = TypeVar("Endpoint")
Where = TypeVar("Where", FastAPI, APIRouter)


@dataclass(frozen=True)
class Right:
    """What a route declares: the least role, its largest body, the one kind of body it takes."""

    role: str
    body_cap: int | None = None
    content_type: str = JSON

    def allows(self, role: str | None) -> bool:
        """Whether a caller with this role (None: no token) may call the route."""
        return RIGHTS.index(role or OPEN) >= RIGHTS.index(self.role)


def right(
    role: str, *, body_cap: int | None = None, content_type: str = JSON
) -> Callable[[Endpoint], Endpoint]:
    """Declares who may call an endpoint; stands below the line that makes it a route.

    Args:
        role: open (no token), viewer, worker or admin.
        body_cap: bytes this route takes when they differ from the app's.
        content_type: the kind of body it takes; anything but JSON reaches the endpoint unread.
    """
    if role not in RIGHTS:
        raise unknown_name("right", role, RIGHTS)
    declared = Right(role, body_cap, content_type)

    def mark(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, MARK, declared)
        return endpoint

    return mark


class Routes(Generic[Where]):
    """Routes of an app or a router: each line says the path and who may call it."""

    def __init__(self, where: Where) -> None:
        self.where: Where = where

    def get(self, path: str, role: str, **options: Any) -> Callable[[Endpoint], Endpoint]:
        """A route that changes nothing; options: as FastAPI takes them."""
        return _both(self.where.get(path, **options), right(role))

    def post(
        self,
        path: str,
        role: str,
        *,
        body_cap: int | None = None,
        kind: str = JSON,
        **options: Any,
    ) -> Callable[[Endpoint], Endpoint]:
        """A route that takes a body of a kind; see `right` for the arguments."""
        declared = right(role, body_cap=body_cap, content_type=kind)
        return _both(self.where.post(path, **options), declared)

    def delete(self, path: str, role: str) -> Callable[[Endpoint], Endpoint]:
        """A route that removes something."""
        return _both(self.where.delete(path), right(role))


def _both(route: Any, mark: Any) -> Any:
    return lambda endpoint: route(mark(endpoint))


def routes_of(app: FastAPI) -> list[RouteContext]:
    """All routes of an app in the order they are tried, those of included routers with them."""
    return list(iter_route_contexts(app.routes))


def right_of(route: RouteContext) -> Right | None:
    """What a route declares; a mounted app declares it on itself."""
    target: Any = route.endpoint or getattr(route.route, "app", None)
    return getattr(target, MARK, None)


def find(app: FastAPI, scope: Any) -> tuple[RouteContext | None, Right | None]:
    """Finds the route a request will reach, and what that route declares.

    Returns:
        (None, None) when no route takes this path with this method.
    """
    for route in routes_of(app):
        if route.matches(scope)[0] is Match.FULL:
            return route, right_of(route)
    return None, None


def check_rights(app: FastAPI) -> None:
    """Refuses an app with a route that does not say who may call it.

    Raises:
        StateError: names the routes.
    """
    if missing := [str(r.path) for r in routes_of(app) if right_of(r) is None]:
        what = f"every route of {app.title} must declare its right"
        raise StateError(refuse(what, missing, "Add @right(...) below the route's line"))
