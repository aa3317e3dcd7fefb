"""The Watchtower's API, 8081: metrics for Prometheus, health of everything, raised alarms."""

import threading
from dataclasses import asdict
from typing import Any

from fastapi import FastAPI, Response

from levelcap.services.door.http import make_app, while_served
from levelcap.services.door.rights import Routes
from levelcap.services.door.tokens import Tokens
from levelcap.services.watchtower.gauges import CONTENT_TYPE
from levelcap.services.watchtower.watch import NAMES, Watch

NAME = "watchtower"


def make_watchtower(watch: Watch, *, tokens: Tokens, port: int, lan: bool = False) -> FastAPI:
    """Makes the app; the watch looks in a thread of its own while the app runs."""

    thread = threading.Thread(target=watch.run, name="watch", daemon=True)
    lifespan = while_served(thread.start, watch.end)
    app = make_app(NAME, tokens=tokens, port=port, lan=lan, lifespan=lifespan)
    door = Routes(app)

    @door.get("/metrics", "viewer", response_class=Response)
    def metrics() -> Response:
        """Gauges in Prometheus' text format."""
        return Response(watch.gauges.text(), media_type=CONTENT_TYPE)

    @door.get("/api/health", "viewer")
    def health() -> dict[str, Any]:
        """Every service, and whether all of them are up."""
        return describe(watch)

    @door.get("/api/alarms", "viewer")
    def alarms() -> dict[str, Any]:
        """Every alarm: raised or not, since when, and why."""
        quiet = {"raised": False, "message": "", "since": None}
        return {
            "alarms": {
                name: {"raised": True, **watch.raised[name]} if name in watch.raised else quiet
                for name in NAMES
            }
        }

    return app


def describe(watch: Watch) -> dict[str, Any]:
    """The newest reading in plain values; "unknown" before the first."""
    reading = watch.reading
    if reading is None:
        return {"status": "unknown", "leader": False, "services": {}, "disk": None}
    services = {name: asdict(service) for name, service in reading.services.items()}
    well = reading.leader and all(service.up for service in reading.services.values())
    return {
        "status": "ok" if well and not watch.raised else "degraded",
        "leader": reading.leader,
        "services": services,
        "disk": asdict(reading.disk),
        "database": reading.jobs is not None,
    }
