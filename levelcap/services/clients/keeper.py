"""Typed clients of the services: what other services, workers and programs call.

    keeper = KeeperClient.local()
    keeper.call("GET", "/api/ledger", limit=10)["checkpoints"]
    Worker(HttpStore(keeper), …)          # the queue over HTTP, same protocol as the local one

Every answer that is no success raises the error it stands for, with the server's own message.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, ClassVar, Self

import httpx

from levelcap.jobs.job import Job, Refused, Stale, Unreachable
from levelcap.kit.errors import BadValue, Busy, Conflict, StateError, UnknownName, refuse
from levelcap.kit.ids import check_id
from levelcap.services.door.tokens import load_tokens
from levelcap.services.process.hosts import get_service_url

TIMEOUT_S = 30.0
SILENCE_S = 60.0  # of a stream, between two pieces
JSON_HEADERS = {"Content-Type": "application/json"}


class Client:
    """One service, one token."""

    name: ClassVar[str] = "The service"

    def __init__(self, url: str, token: str, timeout_s: float = TIMEOUT_S) -> None:
        self.url = url.rstrip("/")
        self.headers = {"Authorization": f"Bearer {token}"}
        self._http = httpx.Client(
            base_url=self.url, headers=self.headers, timeout=timeout_s, trust_env=False
        )

    def close(self) -> None:
        """Give the connections back."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """One request; the answer's JSON.

        Raises:
            Unreachable: no answer. UnknownName, BadValue, Conflict, Stale, Busy, Refused,
            StateError: what the server said.
        """
        given = {name: value for name, value in query.items() if value is not None}
        sent = {"json": body} if body is not None else {"headers": JSON_HEADERS}
        return self._answer(method, path, params=given, **sent)

    def send(self, method: str, path: str, data: bytes, content_type: str) -> Any:
        """One request with a body that is no JSON; errors as those of `call`."""
        return self._answer(method, path, content=data, headers={"Content-Type": content_type})

    async def stream(
        self, method: str, path: str, body: Any = None, patience_s: float = SILENCE_S
    ) -> AsyncIterator[bytes]:
        """The body of an answer in pieces, once it has begun; closing it tells the service to stop.

        patience_s: before the first piece, and between two. Errors as those of `call`.
        """
        client = httpx.AsyncClient(
            base_url=self.url, headers=self.headers, timeout=patience_s, trust_env=False
        )
        try:
            sent = client.build_request(method, path, json=body)
            answer = await client.send(sent, stream=True)
            if not answer.is_success:
                await answer.aread()
                raise _error(answer)
        except httpx.HTTPError as error:
            await client.aclose()
            raise self._away(method, path, error) from error
        except BaseException:
            await client.aclose()
            raise

        async def pieces() -> AsyncIterator[bytes]:
            try:
                async for piece in answer.aiter_raw():
                    yield piece
            finally:
                await answer.aclose()
                await client.aclose()

        return pieces()

    def _answer(self, method: str, path: str, **sent: Any) -> Any:
        try:
            answer = self._http.request(method, path, **sent)
        except httpx.HTTPError as error:
            raise self._away(method, path, error) from error
        if answer.is_success:
            return answer.json()
        raise _error(answer)

    def _away(self, method: str, path: str, error: httpx.HTTPError) -> Unreachable:
        what = f"{self.name} is not reachable at {self.url} ({type(error).__name__})"
        remedy = "Start the realm (levelcap up), or see what runs: levelcap status"
        return Unreachable(refuse(what, f"{method} {path}", remedy))


def _error(answer: httpx.Response) -> Exception:
    try:
        said = answer.json()
        # Below /v1 an error has OpenAI's shape.
        message = str(said["error"]["message"] if "message" not in said else said["message"])
    except (ValueError, KeyError, TypeError):
        return StateError(refuse("the answer is not ours", answer.status_code, "Check the address"))
    if answer.status_code == 429 and "reason" in said:
        counts = ("pending", "running", "max_pending", "max_running", "retry_after_sec")
        numbers = {name: int(said[name]) for name in counts}
        return Refused(str(said["reason"]), message, **numbers)
    kinds: dict[int, type[Exception]] = {400: BadValue, 404: UnknownName, 503: Busy}
    if answer.status_code == 409:
        return Stale(message) if said.get("error") == "stale" else Conflict(message)
    return kinds.get(answer.status_code, StateError)(message)


class KeeperClient(Client):
    """The VaultKeeper."""

    name = "The Keeper"

    @classmethod
    def local(cls, role: str = "admin") -> KeeperClient:
        """The Keeper of this realm, with one of its own tokens."""
        return cls(get_service_url("keeper"), getattr(load_tokens(), role))

    def locate(self, asset_id: str) -> dict[str, str]:
        """Zone -> key of an asset."""
        return dict(self.call("GET", f"/api/locate/{asset_id}")["locations"])

    def add_quest(self, recipe: dict[str, Any]) -> dict[str, Any]:
        """Queue a recipe."""
        return self.call("POST", "/api/quests", {"recipe": recipe})

    def upload_quest(self, name: str, data: bytes) -> dict[str, Any]:
        """Queue a recipe file."""
        path = f"/api/quests/upload/{check_id(name, 'file')}"
        return self.send("POST", path, data, "application/yaml")

    def upload_lessons(self, name: str, data: bytes) -> tuple[str, dict[str, int]]:
        """Queue a lesson file: the quest's title, and what the data gate counted."""
        path = f"/api/quests/lessons/{check_id(name, 'file')}"
        said = self.send("POST", path, data, "application/x-ndjson")
        return said["title"], said["report"]


class HttpStore:
    """The queue over HTTP, for workers that do not sit beside the database."""

    def __init__(self, keeper: KeeperClient) -> None:
        self.keeper = keeper

    def register(
        self,
        worker: str,
        device: str,
        roles: Sequence[str],
        *,
        pid: int | None = None,
        host: str | None = None,
    ) -> None:
        """See `levelcap.jobs.store.Store`, here and below."""
        body = {"worker": worker, "device": device, "roles": list(roles), "pid": pid, "host": host}
        self.keeper.call("POST", "/api/jobs/workers/register", body)

    def heartbeat(self, worker: str) -> list[str]:
        said = self.keeper.call("POST", "/api/jobs/workers/heartbeat", {"worker": worker})
        return list(said["give_up"])

    def claim(self, worker: str, *, types: Sequence[str] | None = None) -> Job | None:
        body = {"worker": worker, "types": None if types is None else list(types)}
        said = self.keeper.call("POST", "/api/jobs/claim", body)["job"]
        return None if said is None else Job.from_json(said)

    def renew(self, id: str, worker: str, fence: int) -> None:
        self._report(id, "running", worker, fence)

    def progress(
        self, id: str, worker: str, fence: int, fraction: float, message: str = ""
    ) -> None:
        self._report(id, "progress", worker, fence, fraction=fraction, message=message)

    def complete(self, id: str, worker: str, fence: int, result: dict[str, Any]) -> Job:
        return Job.from_json(self._report(id, "complete", worker, fence, result=result))

    def fail(self, id: str, worker: str, fence: int, code: str, message: str) -> Job:
        return Job.from_json(self._report(id, "failed", worker, fence, code=code, message=message))

    def release(self, id: str, worker: str, fence: int) -> Job:
        return Job.from_json(self._report(id, "release", worker, fence))

    def _report(self, id: str, what: str, worker: str, fence: int, **told: Any) -> Any:
        body = {"worker": worker, "fence": fence, **told}
        return self.keeper.call("POST", f"/api/jobs/{id}/{what}", body)
