"""Recordings as others write them, made from the formats' descriptions (not from our importers).

ticks(root, sequence, episode, player)     data/processed/{episode}_{player}.jsonl.gz
feedback(root, run, events)                …/feedback_stream.jsonl
manifest(root, rows)                       …/manifest.jsonl
filtered(root, …)                          session_*/sequence_0001_SUCCESS_COMBAT.json
watch(root, …)                             session_YYYYMMDD_HHMMSS/
"""

import csv
import gzip
import hashlib
import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SIDE = 40.0  # of the duel's map, in units
FEATURES = (
    "px py vx vy hp ammo zone_x zone_y zone_radius is_safe enemy_x enemy_y enemy_hp item_x item_y "
    "n_entities n_items enemy_dist item_dist"
).split()


def tick(number, features, action, reward, done, **more):
    """One line of a tick trajectory out of the 19 numbers of a player and what it did.

    action: move_x, move_y, aim_x, aim_y, fire, ability (0 none), interact.
    """
    f = dict(zip(FEATURES, (float(v) for v in features), strict=True))
    half = SIDE / 2
    x, y = f["px"] * half, f["py"] * half
    entities, items = [], []
    if f["enemy_dist"]:
        place = [x + 10 * f["enemy_x"], y + 10 * f["enemy_y"]]
        entities.append({"id": 7, "position": place, "type": "enemy", "hp": 100 * f["enemy_hp"]})
    for extra in range(round(10 * f["n_entities"]) - len(entities)):
        entities.append({"id": 20 + extra, "position": [x, y], "type": "ally", "hp": 50.0})
    if f["item_dist"]:
        place = [x + 10 * f["item_x"], y + 10 * f["item_y"]]
        items.append({"id": 40, "position": place, "type": "health"})
    for extra in range(round(5 * f["n_items"]) - len(items)):
        place = [x + 11 * f["item_x"] + 9.0, y + 11 * f["item_y"]]
        if math.hypot(place[0] - x, place[1] - y) < 10 * f["item_dist"]:
            place = [x + 30 * f["item_dist"] + 30, y]
        items.append({"id": 41 + extra, "position": place, "type": "ammo"})
    names = ("move_x", "move_y", "aim_x", "aim_y")
    return {
        "tick_id": number,
        "observation": {
            "self_state": {
                "position": [x, y],
                "velocity": [5 * f["vx"], 5 * f["vy"]],
                "hp": 100 * f["hp"],
                "cooldowns": [0.0, 0.0, 0.0],
                "ammo": 30 * f["ammo"],
            },
            "zone_state": {
                "position": [half * f["zone_x"], half * f["zone_y"]],
                "radius": half * f["zone_radius"],
                "is_safe": bool(f["is_safe"]),
            },
            "visible_entities": entities,
            "visible_items": items,
        },
        "action": {
            **{name: float(value) for name, value in zip(names, action[:4], strict=True)},
            "fire": bool(action[4]),
            "ability_id": int(action[5]) or None,
            "interact": bool(action[6]),
        },
        "reward": float(reward),
        "done": bool(done),
        **more,
    }


def ticks(root, lines, episode="ep1", player="ann"):
    """A file of these lines (values, or text that is no JSON)."""
    path = root / "data" / "processed" / f"{episode}_{player}.jsonl.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join((x if isinstance(x, str) else json.dumps(x)) + "\n" for x in lines)
    # No time in the head of the file: the same lines are the same bytes.
    path.write_bytes(gzip.compress(text.encode(), mtime=0, compresslevel=1))
    return path


def some_ticks(count=12, seed=0, **more):
    """Ticks of somebody who wanders; the last one wins."""
    rng = np.random.default_rng(seed)
    found = []
    for t in range(count):
        features = rng.uniform(-0.4, 0.4, 19)
        features[[4, 5, 12]] = rng.uniform(0.1, 1, 3)
        features[[9, 15, 16]] = 1, 0.1, 0.4
        features[17] = math.hypot(features[10], features[11])
        features[18] = math.hypot(features[13], features[14])
        action = [*rng.integers(-5, 6, 4) / 5, *rng.integers(0, (2, 4, 2))]
        found.append(tick(100 + t, features, action, float(t == count - 1), t == count - 1, **more))
    return found


def event(mono, state="IN_MATCH", keys=("KeyW",), action="fire", ok=True, **more):
    """One line of a feedback stream."""
    return {
        "mono": mono,
        "bot_state": state,
        "state_reason": "enemy seen",
        "action": action,
        "action_ok": ok,
        "active_keys": list(keys),
        "ability_last": "Q",
        "ui_state": {"canvas_visible": True, "play_visible": False, "character_visible": True},
        "input_probe": {"keyDown": 3, "pointerMove": 17, "focusEvents": 1, "blurEvents": 2},
        "click_probe": {"click0": 4},
        "cursor_probe": {"moves": 9, "visible": True},
        **more,
    }


END = {"event": "session_end", "run_stop_reason": "timeout", "death": {"active": False}}


def feedback(root, lines, run="run-1"):
    """A stream in the folder of its run."""
    path = root / "reports" / "feedback_training" / run / "feedback_stream.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join((x if isinstance(x, str) else json.dumps(x)) + "\n" for x in lines))
    return path


def manifest(root, rows):
    """How runs ended: (path of the stream as it was on the other machine, run_finish)."""
    path = root / "reports" / "live" / "manifest.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"runtime_feedback": a, "run_finish": b}) for a, b in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


def filtered(root, states, actions, label="SUCCESS", number=1, metadata=True, **more):
    """A session of one sequence, with two pictures."""
    place = root / "session_20260101_120000"
    (place / "screenshots").mkdir(parents=True, exist_ok=True)
    pictures = [f"screenshots/seq{number:04d}_frame{k:02d}.jpg" for k in (1, 2)]
    for name in pictures:
        (place / name).write_bytes(b"\xff\xd8\xff\xe0 no real picture " + name.encode())
    body = {
        "id": number,
        "label": label,
        "mode": "COMBAT",
        "num_frames": len(states),
        "timestamp": 1767268800.5,
        "states": states,
        "actions": actions,
        "screenshots": [
            {"image": name, "context": {"hp": 80}, "timestamp": 2.0 * k}
            for k, name in enumerate(pictures)
        ],
        **more,
    }
    path = place / f"sequence_{number:04d}_{label}_COMBAT.json"
    path.write_text(json.dumps(body))
    if metadata:
        part = {"id": number, "start_t": 0.0, "end_t": 4.0, "combat": True, "kills": 1}
        part |= {"deaths": 0, "damage_in": 10.0, "damage_out": 90.5, "mode": "COMBAT"}
        told = {
            "session_id": place.name,
            "fps": 30,
            "resolution": [1920, 1080],
            "n_frames": len(states),
            "sequences": [part],
            "format_version": 1,
            "consent": {"recording": True},
            "hashes": {path.name: hashlib.sha256(path.read_bytes()).hexdigest()},
        }
        (place / "metadata.json").write_text(json.dumps(told))
    return path


COLUMNS = (
    "t_ns t_capture_ns is_duplicate event_type stream key_code mouse_x mouse_y mouse_button delta "
    "frame_ref window_id session_id metadata"
).split()


def inputs(seconds=4.0, start=10**18):
    """Rows of a person who runs up and to the right and clicks twice a second."""
    rows = []
    for k in range(round(seconds * 20)):
        t = start + k * 50_000_000
        row = dict.fromkeys(COLUMNS) | {"t_ns": t, "t_capture_ns": t + 1000, "is_duplicate": False}
        row |= {"stream": "input", "session_id": "watch-1", "window_id": "game"}
        x, y = 0.5 + 0.4 * math.sin(k / 9), 0.5 + 0.4 * math.cos(k / 9)
        row |= {"event_type": "mouse_move", "mouse_x": x, "mouse_y": y}
        if k == 0:
            row |= {"event_type": "key_down", "key_code": "KeyW"}
        elif k % 10 == 5:
            row |= {"event_type": "mouse_click", "mouse_button": "left"}
        elif k % 20 == 12:
            row |= {"event_type": "key_down", "key_code": "q"}
        elif k % 20 == 13:
            row |= {"event_type": "key_up", "key_code": "q"}
        elif k % 20 == 17:
            row |= {"event_type": "frame", "stream": "screen", "frame_ref": str(k)}
        rows.append(row)
    return rows


def watch(root, rows, kind="parquet", name="session_20260102_130405", **told):
    """A whole session with a film that is none."""
    place = root / name
    place.mkdir(parents=True, exist_ok=True)
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), place / "events.parquet")
    else:
        with (place / "events.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(rows)
    (place / "frames.mp4").write_bytes(b"\0\0\0\x18ftypmp42" + bytes(64))
    metadata = {
        "format_version": 1,
        "session_id": "watch-1",
        "captured_at": "2026-01-02T13:04:05Z",
        "game": "duel",
        "patch": "1.0",
        "resolution": [1280, 720],
        "capture_fps": 30,
        "dropped_frames": 2,
        "clock_drift_ppm": 1.5,
        "consent": {"recording": True},
        "privacy": {"names": "removed"},
        "env": {"os": "linux"},
        **told,
    }
    (place / "metadata.json").write_text(json.dumps(metadata))
    sign(place)
    return place


def sign(place):
    """integrity.sha256 of all files of a session."""
    files = sorted(p for p in place.iterdir() if p.name != "integrity.sha256")
    lines = [f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in files]
    (place / "integrity.sha256").write_text("".join(lines))
