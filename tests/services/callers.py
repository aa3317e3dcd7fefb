"""Calling an app of ours without a socket."""

from starlette.testclient import TestClient

from levelcap.services.door.tokens import load_tokens


def caller(app, port, role="admin"):
    """A client with this role's token; an error of the app is an answer, as it is for anybody."""
    token = getattr(load_tokens(), role)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    return TestClient(
        app, base_url=f"http://localhost:{port}", headers=headers, raise_server_exceptions=False
    )
