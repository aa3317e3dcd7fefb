"""Routes of the queue. Their shapes are a format (ARCHITECTURE, Files)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import Field

from levelcap.campaign.realm import Realm
from levelcap.jobs.devices import check_device
from levelcap.jobs.priority import set_priority
from levelcap.services.door.fields import Body, Id, Page, Seed
from levelcap.services.door.rights import Routes

Priority = Literal["critical", "high", "normal", "low", "idle"]


class Submission(Body):
    """A new job."""

    job_type: Annotated[str, Field(max_length=64)]
    payload: dict[str, Any]
    priority: Priority = "normal"
    idempotency_key: Annotated[str, Field(max_length=100)] | None = None


class Place(Body):
    """Where a waiting job stands."""

    priority: Priority


class Registration(Body):
    """A worker."""

    worker: Id
    device: Id
    roles: Annotated[list[Annotated[str, Field(max_length=40)]], Field(max_length=20)]
    pid: Annotated[int, Field(ge=0, lt=2**31)] | None = None
    host: Annotated[str, Field(max_length=255)] | None = None


class Name(Body):
    """A worker's name."""

    worker: Id


class Claim(Name):
    """Which jobs it wants."""

    types: Annotated[list[Annotated[str, Field(max_length=64)]], Field(max_length=64)] | None = None


class Held(Name):
    """Who reports, with which claim."""

    fence: Seed


class Progress(Held):
    """How far."""

    fraction: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    message: Annotated[str, Field(max_length=500)] = ""


class Completion(Held):
    """What came out."""

    result: dict[str, Any]


class Failure(Held):
    """What went wrong."""

    code: Annotated[str, Field(max_length=40)]
    message: Annotated[str, Field(max_length=8000)] = ""


def routes(realm: Realm) -> APIRouter:
    """All routes of the queue on this realm."""
    door = Routes(APIRouter(prefix="/api/jobs", tags=["jobs"]))
    _questions(door, realm)
    _people(door, realm)
    _workers(door, realm)
    return door.where


def _questions(door: Routes[APIRouter], realm: Realm) -> None:
    store = realm.store

    @door.get("", "viewer")
    def list_jobs(
        status: str | None = None,
        type: str | None = None,
        limit: Page = 100,
        before: Id | None = None,
    ) -> dict[str, Any]:
        """Jobs, newest first; `before` is the last id of the page before."""
        return {"jobs": [job.as_json() for job in store.list(status, type, limit, before)]}

    @door.get("/stats", "viewer")
    def stats() -> dict[str, Any]:
        """Counts by type and status."""
        return store.stats()

    @door.get("/workers", "viewer")
    def workers() -> dict[str, Any]:
        """Known workers."""
        return {"workers": store.workers()}

    @door.get("/health", "viewer")
    def health() -> dict[str, Any]:
        """Is work being done?"""
        found, workers = store.stats(), store.workers()
        alive = sum(bool(row["alive"]) for row in workers)
        return {"open": found["open"], "oldest_queued_s": found["oldest_queued_s"], "alive": alive}

    @door.get("/{job_id}", "viewer")
    def get_job(job_id: Id) -> dict[str, Any]:
        """One job."""
        return store.get(job_id).as_json()

    @door.get("/{job_id}/events", "viewer")
    def events(job_id: Id) -> dict[str, Any]:
        """What happened to a job."""
        return {"events": store.events(job_id)}


def _people(door: Routes[APIRouter], realm: Realm) -> None:
    store = realm.store

    @door.post("", "admin", status_code=201)
    def submit(body: Submission) -> dict[str, Any]:
        """Queue a job: 201, or 429 when its queue is full, or 400 naming the field."""
        accepted = store.submit(
            body.job_type,
            body.payload,
            priority=body.priority,
            idempotency_key=body.idempotency_key,
        )
        answer = {
            "accepted": True,
            "job_id": accepted.job_id,
            "status": accepted.status.value,
            "queue_position": accepted.queue_position,
        }
        return answer | ({"warnings": accepted.warnings} if accepted.warnings else {})

    @door.post("/{job_id}/cancel", "admin")
    def cancel(job_id: Id) -> dict[str, Any]:
        """End an open job."""
        return store.cancel(job_id).as_json()

    @door.post("/{job_id}/retry", "admin")
    def retry(job_id: Id) -> dict[str, Any]:
        """Queue a failed, dead or cancelled job again."""
        return store.retry(job_id).as_json()

    @door.post("/{job_id}/priority", "admin")
    def prioritise(job_id: Id, body: Place) -> dict[str, Any]:
        """Move a waiting job forward or back."""
        return set_priority(store, job_id, body.priority).as_json()


def _workers(door: Routes[APIRouter], realm: Realm) -> None:
    store = realm.store

    @door.post("/workers/register", "worker")
    def register(body: Registration) -> dict[str, Any]:
        """Make a worker known; its device must allow its roles."""
        check_device(body.device, body.roles)
        store.register(body.worker, body.device, body.roles, pid=body.pid, host=body.host)
        return {"worker": body.worker}

    @door.post("/workers/heartbeat", "worker")
    def heartbeat(body: Name) -> dict[str, Any]:
        """A worker lives; the answer lists jobs it must give up."""
        return {"give_up": store.heartbeat(body.worker)}

    @door.post("/claim", "worker")
    def claim(body: Claim) -> dict[str, Any]:
        """The next job for a worker, or null."""
        job = store.claim(body.worker, types=body.types)
        return {"job": None if job is None else job.as_json()}

    @door.post("/{job_id}/running", "worker")
    def running(job_id: Id, body: Held) -> dict[str, Any]:
        """Renew the lease."""
        store.renew(job_id, body.worker, body.fence)
        return {"renewed": True}

    @door.post("/{job_id}/progress", "worker")
    def progress(job_id: Id, body: Progress) -> dict[str, Any]:
        """How far it is; renews the lease too."""
        store.progress(job_id, body.worker, body.fence, body.fraction, body.message)
        return {"renewed": True}

    @door.post("/{job_id}/complete", "worker", body_cap=8 << 20)
    def complete(job_id: Id, body: Completion) -> dict[str, Any]:
        """Done: result, state and effect in one transaction."""
        return store.complete(job_id, body.worker, body.fence, body.result).as_json()

    @door.post("/{job_id}/failed", "worker")
    def failed(job_id: Id, body: Failure) -> dict[str, Any]:
        """This attempt failed."""
        return store.fail(job_id, body.worker, body.fence, body.code, body.message).as_json()

    @door.post("/{job_id}/release", "worker")
    def release(job_id: Id, body: Held) -> dict[str, Any]:
        """Give it back unfinished."""
        return store.release(job_id, body.worker, body.fence).as_json()
