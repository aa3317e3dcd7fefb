"""`levelcap export`: a checkpoint as a bundle that runs without torch."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console
from rich.table import Table

from levelcap.cli.options import AsJson
from levelcap.export.bundle import Deploy, bundle_name
from levelcap.export.exporter import ModelExporter
from levelcap.export.targets import TARGETS
from levelcap.kit.errors import BadValue, refuse, unknown_name
from levelcap.kit.paths import folder as folder_of
from levelcap.vault.ask import find_folder
from levelcap.vault.assets import content_id


def export(
    checkpoint: str,
    *,
    to: str = "onnx",
    out: Path | None = None,
    threads: int = 1,
    batch: int = 1,
    latency_budget_ms: float = 10.0,
    json_: AsJson = False,
) -> None:
    """Export a checkpoint and prove that the bundle decides as it does.

    Parameters
    ----------
    checkpoint
        Its id, champion, best, latest, or a folder.
    to
        onnx, torchserve, tensorrt or mobile.
    out
        The bundle's folder, a new one; by default under exports/ of the realm.
    threads
        Threads of one decision when it is run.
    batch
        Players that are usually decided for at once.
    latency_budget_ms
        What one decision may take; told if it takes longer.
    json_
        Print one JSON object as the last line.
    """
    if to not in TARGETS:
        raise unknown_name("export target", to, TARGETS)
    for name, number in (("threads", threads), ("batch", batch)):
        if not 1 <= number <= 4096:
            raise BadValue(refuse(f"--{name} is 1 to 4096", number, "Give another number"))
    if not 0 < latency_budget_ms < 1e5:
        raise BadValue(refuse("--latency-budget-ms is above 0", latency_budget_ms, "Raise it"))
    place = find_folder(checkpoint)
    folder = out or folder_of("exports") / bundle_name(content_id("checkpoint", place)[0], to)
    found = ModelExporter(place, Deploy(threads, batch, latency_budget_ms)).export(to, folder)
    console = Console(highlight=False, soft_wrap=True)
    parity, latency = found.parity, found.latency
    told = f"{parity.action_agreement:.4%} of {parity.observations:,} decisions are the same"
    console.print(f"{folder}\n{told}; logits differ by at most {parity.max_difference:.1e}")
    console.print(f"observations: {parity.source}")
    table = Table("players", "p50 ms", "p99 ms", "torch p50 ms")
    for rows in latency.p50_ms:
        columns = (part[rows] for part in (latency.p50_ms, latency.p99_ms, latency.torch_p50_ms))
        table.add_row(rows, *(f"{ms:.3f}" for ms in columns))
    console.print(table)
    size = sum(found.bytes.values())
    console.print(f"graphs {size / 1e6:.2f} MB; {latency.energy_mj} mJ a decision")
    console.print(f"({latency.energy_source})\n{found.notes}")
    if (p99 := latency.p99_ms["1"]) > latency_budget_ms:
        late = f"p99 {p99:.2f} ms is over the budget of {latency_budget_ms:g} ms"
        console.print(late, style="yellow")
    if json_:
        told = json.dumps({"folder": str(folder), **found.as_json()})
        console.print(told, markup=False)
