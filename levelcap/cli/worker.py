"""`levelcap worker`: one more process that takes jobs, beside the database or over HTTP."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console

from levelcap.cli.options import Int
from levelcap.jobs.devices import DEFAULT_DEVICE, check_device
from levelcap.jobs.worker import Worker
from levelcap.kit.errors import BadValue, Corrupt, refuse
from levelcap.kit.ids import check_id
from levelcap.vault.zones import load_zones


def worker(
    *,
    device: str = DEFAULT_DEVICE,
    server: str | None = None,
    roles: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    name: str | None = None,
    jobs: Int | None = None,
) -> None:
    """Claim jobs, carry them out, report; SIGTERM or Ctrl-C gives the present one back.

    Parameters
    ----------
    device
        The device it runs on, from config/devices.json.
    server
        Address of the Keeper (its token is the realm's worker token); default: this realm's own
        database. The worker must see the same files under $LEVELCAP_HOME.
    roles
        What it offers: trainer, eval_worker, data_forge, analytics, vault_worker (default: all the
        device allows).
    name
        Its name; default: made of the process number.
    jobs
        Stop after so many jobs.
    """
    allowed = check_device(device, roles or ["eval_worker"]).roles
    chosen = roles or list(allowed)
    own_name = check_id(name or f"worker-{os.getpid()}", "worker")
    store, locate, publish, types = _local() if server is None else _remote(server)
    from levelcap.campaign.work.bench import handlers_of

    handlers = handlers_of(locate, publish)
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"{own_name} on {device}: {', '.join(chosen)}; Ctrl-C stops it")
    done = Worker(
        store,
        own_name,
        device,
        chosen,
        handlers,
        types=None if types is None else (lambda: types(list(handlers))),
    ).run(max_jobs=jobs)
    console.print(f"{done} jobs")


def _local() -> tuple[Any, Any, Any, Any]:
    from levelcap.campaign.realm import open_realm
    from levelcap.campaign.wheel.control import claimable
    from levelcap.campaign.work.lessons import locate
    from levelcap.campaign.work.snapshots import publish_row

    opened = open_realm()

    def publish(run: str, place: Path) -> None:
        publish_row(opened.store, run, place)

    def types(names: list[str]) -> list[str]:
        return claimable(opened.store, names)

    return opened.store, lambda name: locate(opened.engine, name), publish, types


def _remote(server: str) -> tuple[Any, Callable[[str], Path], None, None]:
    from levelcap.services.clients.keeper import HttpStore, KeeperClient
    from levelcap.services.door.tokens import load_tokens
    from levelcap.services.process.hosts import get_service_url

    if not server.startswith(("http://", "https://")):
        remedy = f"Give e.g. --server {get_service_url('keeper')}"
        raise BadValue(refuse("a server is an http address", server, remedy))
    keeper = KeeperClient(server, load_tokens().worker)

    def locate(checkpoint: str) -> Path:
        zones = load_zones()
        for zone_id, key in keeper.locate(checkpoint).items():
            if zone_id in zones and (place := zones[zone_id].place(key)).is_dir():
                return place
        remedy = "Run the worker where the realm's files are"
        raise Corrupt(refuse("this worker does not see the checkpoint", checkpoint, remedy))

    return HttpStore(keeper), locate, None, None
