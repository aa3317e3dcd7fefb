"""Files a page offers: the report as JSON, a checkpoint as .tar (passed on from the Keeper)."""

from __future__ import annotations

from typing import Literal

from fastapi import FastAPI
from starlette.responses import JSONResponse, Response, StreamingResponse

from levelcap.campaign.realm import Realm
from levelcap.campaign.sheet.report import make_report
from levelcap.services.clients.keeper import KeeperClient
from levelcap.services.door.fields import Id
from levelcap.services.door.rights import Routes


def add_downloads(app: FastAPI, realm: Realm, keeper: KeeperClient) -> None:
    """Adds the routes."""
    door = Routes(app)

    @door.get("/download/report/{period}", "viewer", include_in_schema=False)
    def report(period: Literal["weekly", "campaign"]) -> Response:
        """Gains and costs."""
        name = {"Content-Disposition": 'attachment; filename="report.json"'}
        return JSONResponse(make_report(realm.engine, period).as_json(), headers=name)

    @door.get("/download/checkpoint/{checkpoint}", "admin", include_in_schema=False)
    async def checkpoint_tar(checkpoint: Id) -> Response:
        """A checkpoint as one .tar."""
        pieces = await keeper.stream("GET", f"/api/checkpoints/{checkpoint}/pack")
        name = {"Content-Disposition": f'attachment; filename="{checkpoint}.tar"'}
        return StreamingResponse(pieces, media_type="application/x-tar", headers=name)
