"""Bodies nobody should send: near-valid ones out of an app's own schema, and broken ones.

`bodies(app, seed, count)` yields (method, url, headers, content); every choice comes from the seed.
"""

import json
import random

from levelcap.services.door.rights import right_of, routes_of

ODD = [
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    2**53,
    2**63,
    -(2**63),
    10**400,
    0.0,
    -0.0,
    1e308,
    5e-324,
    "",
    " ",
    "x",
    "x" * 5000,
    "\u0000",
    "\ud7ff",
    "🎮",
    "../../etc/passwd",
    "NaN",
    "null",
    "-1",
    [],
    [[]],
    [None] * 50,
    {},
    {"a": {}},
    {"": ""},
    {"__proto__": {}},
    ["x"] * 300,
]
TEXTS = [
    b"",
    b"{",
    b"}",
    b"[",
    b"nul",
    b"NaN",
    b"Infinity",
    b"-Infinity",
    b"1e999",
    b"-1e999",
    b'{"a": NaN}',
    b'{"a": 1e999}',
    b'{"a": 1, "a": 2}',
    b"[" * 3000,
    b'{"a":' * 3000,
    b'"\\ud800"',
    b'{"\\udfff": 1}',
    b"\xff\xfe",
    b"\xef\xbb\xbf{}",
    b"\x00",
    b"{}\x00",
    b"{} {}",
    b"'a'",
    b"{'a': 1}",
    b"// x",
    b'"' + b"x" * 100_000 + b'"',
    b"1" * 10_000,
    b"[" + b"0," * 9999,
]
TYPES = [
    "application/json", "application/json; charset=utf-8", "application/json; charset=utf-16",
    "text/plain", "application/yaml", "application/x-tar", "multipart/form-data; boundary=x", "",
]  # fmt: skip


def targets(app):
    """(method, path template, content type) of every route, streams left out."""
    found = []
    for route in routes_of(app):
        if route.methods and route.path not in ("/api/events",):
            for method in sorted(route.methods - {"HEAD"}):
                found.append((method, route.path, right_of(route).content_type))
    return found


def _schemas(app):
    return app.openapi()["components"]["schemas"], app.openapi()["paths"]


def bodies(app, seed, count):
    """`count` requests."""
    rng = random.Random(seed)
    schemas, paths = _schemas(app)
    places = targets(app)
    for _ in range(count):
        method, path, kind = rng.choice(places)
        url = "/".join(
            rng.choice(["x", "1", "latest", "job-1", "kestrel", "a.yaml", "%00", "0" * 90])
            if part.startswith("{")
            else part
            for part in path.split("/")
        )
        url += _query(rng, paths.get(path, {}).get(method.lower(), {}))
        content = _content(rng, schemas, paths.get(path, {}).get(method.lower(), {}))
        yield method, url, {"Content-Type": rng.choice([kind, kind, kind, *TYPES])}, content


def _query(rng, entry):
    words = []
    for parameter in entry.get("parameters", []):
        if parameter["in"] == "query" and rng.random() < 0.5:
            value = rng.choice(["", "x", "-1", "0", "99999999999999999999", "%00", "1e9", "%ff"])
            words.append(f"{parameter['name']}={value}")
    return "?" + "&".join(words) if words else ""


def _content(rng, schemas, entry):
    if rng.random() < 0.3:
        return rng.choice(TEXTS)
    reference = (
        entry.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    )
    value = _value(rng, schemas, reference) if reference else rng.choice(ODD)
    data = json.dumps(value, allow_nan=True).encode()
    if rng.random() < 0.15 and data:
        place = rng.randrange(len(data))
        data = data[:place] + bytes([rng.randrange(256)]) + data[place + 1 :]
    return data


def _value(rng, schemas, schema, depth=0):
    """Something like what the schema asks for, wrong now and then."""
    if rng.random() < 0.12 or depth > 6:
        return rng.choice(ODD)
    if "$ref" in schema:
        return _value(rng, schemas, schemas[schema["$ref"].rsplit("/", 1)[1]], depth + 1)
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return _value(rng, schemas, rng.choice(schema[key]), depth + 1)
    if "enum" in schema or "const" in schema:
        return rng.choice(schema.get("enum") or [schema["const"]])
    kind = schema.get("type")
    if kind == "object":
        made = {
            name: _value(rng, schemas, inner, depth + 1)
            for name, inner in schema.get("properties", {}).items()
            if rng.random() < 0.9
        }
        if rng.random() < 0.1 or "properties" not in schema:
            made[rng.choice(["quest", "games", "x", "set", "minutes"])] = rng.choice(
                ["record", "reinforce", 4, *ODD]
            )
        return made
    if kind == "array":
        inner = schema.get("items", {})
        return [_value(rng, schemas, inner, depth + 1) for _ in range(rng.randrange(4))]
    simple = {"integer": [0, 1, 7, 2**40], "number": [0.5, 0, 1e9], "boolean": [True, False]}
    return rng.choice(simple.get(kind, ["x", "latest", "eval", "pause", "record", "kestrel"]))
