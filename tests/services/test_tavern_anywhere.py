"""/anywhere without a browser: who may run WebAssembly, which files go out, what is said."""

import json

import pytest

from levelcap.export.bundle import FILE
from levelcap.kit.paths import folder
from levelcap.kit.publish import publish
from levelcap.services.door.tokens import load_tokens
from levelcap.services.tavern import lore
from levelcap.services.tavern.pages import anywhere
from tests.services.conftest import HOSTILE
from tests.services.paths import PATHS, in_url

WASM = "'wasm-unsafe-eval'"


@pytest.fixture
def bundle(home):
    """A published folder that calls itself a bundle, and a secret beside it."""
    place = folder("exports") / "made"

    def write(tmp):
        (tmp / FILE).write_text('{"format": 1, "kind": "x"}')
        (tmp / "policy.onnx").write_bytes(b"graph")

    publish(place, write, made_by="test")
    (folder("config") / "secret.txt").write_text("secret")
    (place / "extra.onnx").symlink_to(folder("config") / "secret.txt")
    return place


def test_only_this_page_may_compile_webassembly(client):
    policies = {}
    for place in (*lore.PLACES, lore.ANYWHERE):
        policies[place.path] = client.get(place.path).headers["content-security-policy"]
    script = client.get("/anywhere/bundles/x/y").headers["content-security-policy"]
    assert WASM in policies.pop("/anywhere") and WASM not in script
    assert [path for path, policy in policies.items() if "unsafe" in policy] == []
    assert len(set(policies.values())) == 1
    assert anywhere.WASM_POLICY.replace(f" {WASM}", "") == policies["/"]


def test_files_of_a_bundle_and_no_others_go_out(client, bundle):
    path = "/anywhere/bundles/made"
    assert client.get(f"{path}/policy.onnx").content == b"graph"
    assert client.get(f"{path}/manifest.json").content == (bundle / "manifest.json").read_bytes()
    told = client.get(f"{path}/extra.onnx")
    assert told.status_code == 404 and "policy.onnx" in told.json()["message"]
    assert "made" in client.get("/anywhere/bundles/mad/policy.onnx").json()["message"]
    (bundle / "policy.onnx").unlink()
    (bundle / "policy.onnx").symlink_to(folder("config") / "secret.txt")
    assert client.get(f"{path}/policy.onnx").status_code == 400
    for number, odd in enumerate(PATHS):
        places = (f"/anywhere/bundles/{in_url(odd)}/policy.onnx", f"{path}/{in_url(odd)}")
        answer = client.get(places[number % 2])
        assert answer.status_code in (400, 404, 405), (odd, answer.status_code)
    token = {"authorization": f"Bearer {load_tokens().viewer}"}
    assert client.get(f"{path}/manifest.json", headers=token).status_code == 200
    assert client.get(f"{path}/manifest.json", headers={"authorization": ""}).status_code == 401


def test_what_is_missing_or_damaged_is_said(client, bundle, monkeypatch, tmp_path):
    (bundle / "extra.onnx").unlink()
    hostile = json.dumps({"format": HOSTILE})
    publish(folder("exports") / "odd", lambda p: (p / FILE).write_text(hostile), made_by="test")
    page = client.get("/anywhere").text
    assert "made: bundle.json does not describe a bundle" in page
    assert "odd: a bundle of another format" in page and "<img" not in page
    (bundle / "policy.onnx").write_bytes(b"grapH")
    assert "wrong sha256" in client.get("/anywhere").text
    monkeypatch.setattr(anywhere, "RUNTIME", tmp_path / "nowhere")
    assert "install npm, run <code>make setup</code>" in client.get("/anywhere").text
    (tmp_path / "nowhere" / "1.0.0").mkdir(parents=True)
    assert "levelcap export champion --to onnx" in client.get("/anywhere").text
    for address in ("/anywhere?seat=-1", "/anywhere?colour=red"):
        assert client.get(address).status_code == 400
