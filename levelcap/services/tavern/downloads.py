"""Files a page offers: the report as JSON, a checkpoint as .tar (passed on from the Keeper)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Literal

import httpx
from fastapi import FastAPI
from starlette.responses import JSONResponse, Response, StreamingResponse

from levelcap.campaign.realm import Realm
from levelcap.campaign.sheet.report import make_report
from levelcap.jobs.job import Unreachable
from levelcap.kit.errors import UnknownName, refuse
from levelcap.services.clients.keeper import KeeperClient
from levelcap.services.door.http import Id
from levelcap.services.door.rights import right


def add_downloads(app: FastAPI, realm: Realm, keeper: KeeperClient) -> None:
    """Adds the routes."""

    @app.get("/download/report/{period}", include_in_schema=False)
    @right("viewer")
    def report(period: Literal["weekly", "campaign"]) -> Response:
        """Gains and costs."""
        name = {"Content-Disposition": 'attachment; filename="report.json"'}
        return JSONResponse(make_report(realm.engine, period).as_json(), headers=name)

    @app.get("/download/checkpoint/{checkpoint}", include_in_schema=False)
    @right("admin")
    async def checkpoint_tar(checkpoint: Id) -> Response:
        """A checkpoint as one .tar."""
        client = httpx.AsyncClient(trust_env=False, timeout=60.0)
        request = client.build_request(
            "GET", f"{keeper.url}/api/checkpoints/{checkpoint}/pack", headers=keeper.headers
        )
        try:
            answer = await client.send(request, stream=True)
        except httpx.HTTPError as error:
            await client.aclose()
            what = f"no answer from the Keeper ({type(error).__name__})"
            raise Unreachable(refuse(what, checkpoint, "Try again in a moment")) from error
        if not answer.is_success:
            await asyncio.gather(answer.aclose(), client.aclose())
            remedy = "See /vault for what there is"
            raise UnknownName(refuse("the Keeper does not give it", checkpoint, remedy))
        name = {"Content-Disposition": f'attachment; filename="{checkpoint}.tar"'}
        body = _pass_on(client, answer)
        return StreamingResponse(body, media_type="application/x-tar", headers=name)


async def _pass_on(client: httpx.AsyncClient, answer: Any) -> AsyncIterator[bytes]:
    try:
        async for block in answer.aiter_bytes():
            yield block
    finally:
        await answer.aclose()
        await client.aclose()
