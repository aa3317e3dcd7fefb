"""Typed clients of the services: what other services, workers and programs call.

    keeper = KeeperClient.local()
    keeper.ledger(limit=10), keeper.training_control("pause")
    Worker(HttpStore(keeper), …)          # the queue over HTTP, same protocol as the local one

Every answer that is no success raises the error it stands for, with the server's own message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import httpx

from levelcap.jobs.job import Accepted, Job, Refused, Stale, Status, Unreachable
from levelcap.kit.errors import BadValue, Busy, Conflict, StateError, UnknownName, refuse
from levelcap.kit.ids import check_id
from levelcap.services.door.tokens import load_tokens
from levelcap.services.process.hosts import get_service_url

TIMEOUT_S = 30.0
JSON_HEADERS = {"Content-Type": "application/json"}


class Client:
    """One service, one token."""

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

    def _answer(self, method: str, path: str, **sent: Any) -> Any:
        try:
            answer = self._http.request(method, path, **sent)
        except httpx.HTTPError as error:
            what = f"no answer from {self.url} ({type(error).__name__})"
            remedy = "Check that the service runs: levelcap status"
            raise Unreachable(refuse(what, f"{method} {path}", remedy)) from error
        if answer.is_success:
            return answer.json()
        raise _error(answer)


def _error(answer: httpx.Response) -> Exception:
    try:
        said = answer.json()
        message = str(said["message"])
    except (ValueError, KeyError, TypeError):
        return StateError(refuse("the answer is not ours", answer.status_code, "Check the address"))
    if answer.status_code == 429 and "reason" in said:
        numbers = {
            k: int(said[k])
            for k in ("pending", "running", "max_pending", "max_running", "retry_after_sec")
        }
        return Refused(str(said["reason"]), message, **numbers)
    kinds: dict[int, type[Exception]] = {400: BadValue, 404: UnknownName, 503: Busy}
    if answer.status_code == 409:
        return Stale(message) if said.get("error") == "stale" else Conflict(message)
    return kinds.get(answer.status_code, StateError)(message)


class KeeperClient(Client):
    """The VaultKeeper."""

    @classmethod
    def local(cls, role: str = "admin") -> KeeperClient:
        """The Keeper of this realm, with one of its own tokens."""
        return cls(get_service_url("keeper"), getattr(load_tokens(), role))

    def health(self) -> dict[str, Any]:
        """Does it answer?"""
        return self.call("GET", "/health")

    def submit(
        self,
        job_type: str,
        payload: dict[str, Any],
        *,
        priority: str = "normal",
        idempotency_key: str | None = None,
    ) -> Accepted:
        """Queue a job."""
        body = {"job_type": job_type, "payload": payload, "priority": priority}
        body |= {} if idempotency_key is None else {"idempotency_key": idempotency_key}
        said = self.call("POST", "/api/jobs", body)
        return Accepted(
            said["job_id"], Status(said["status"]), said["queue_position"], said.get("warnings", [])
        )

    def jobs(
        self,
        status: str | None = None,
        type: str | None = None,
        limit: int = 100,
        before: str | None = None,
    ) -> list[Job]:
        """Jobs, newest first."""
        said = self.call("GET", "/api/jobs", status=status, type=type, limit=limit, before=before)
        return [Job.from_json(row) for row in said["jobs"]]

    def job(self, job_id: str) -> Job:
        """One job."""
        return Job.from_json(self.call("GET", f"/api/jobs/{job_id}"))

    def ledger(self, campaign: str | None = None, limit: int = 100) -> list[dict[str, Any]]:
        """Rows of the ledger, newest first."""
        found = self.call("GET", "/api/ledger", campaign=campaign, limit=limit)["checkpoints"]
        return list(found)

    def locate(self, asset_id: str) -> dict[str, str]:
        """Zone -> key of an asset."""
        return dict(self.call("GET", f"/api/locate/{asset_id}")["locations"])

    def training_status(self) -> dict[str, Any]:
        """What is going on."""
        return self.call("GET", "/api/training/status")

    def training_control(self, action: str) -> dict[str, Any]:
        """Pause, resume, stop or skip."""
        return self.call("POST", "/api/training/control", {"action": action})

    def add_quest(self, recipe: dict[str, Any]) -> dict[str, Any]:
        """Queue a recipe."""
        return self.call("POST", "/api/quests", {"recipe": recipe})

    def upload_quest(self, name: str, data: bytes) -> dict[str, Any]:
        """Queue a recipe file."""
        path = f"/api/quests/upload/{check_id(name, 'file')}"
        return self.send("POST", path, data, "application/yaml")

    def promote(self, checkpoint: str, reason: str) -> dict[str, Any]:
        """Make a checkpoint champion."""
        return self.call("POST", "/api/champion", {"checkpoint": checkpoint, "reason": reason})


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
        self._report(id, "running", {"worker": worker, "fence": fence})

    def progress(
        self, id: str, worker: str, fence: int, fraction: float, message: str = ""
    ) -> None:
        body = {"worker": worker, "fence": fence, "fraction": fraction, "message": message}
        self._report(id, "progress", body)

    def complete(self, id: str, worker: str, fence: int, result: dict[str, Any]) -> Job:
        body = {"worker": worker, "fence": fence, "result": result}
        return Job.from_json(self._report(id, "complete", body))

    def fail(self, id: str, worker: str, fence: int, code: str, message: str) -> Job:
        body = {"worker": worker, "fence": fence, "code": code, "message": message}
        return Job.from_json(self._report(id, "failed", body))

    def release(self, id: str, worker: str, fence: int) -> Job:
        return Job.from_json(self._report(id, "release", {"worker": worker, "fence": fence}))

    def _report(self, id: str, what: str, body: dict[str, Any]) -> Any:
        return self.keeper.call("POST", f"/api/jobs/{id}/{what}", body)
