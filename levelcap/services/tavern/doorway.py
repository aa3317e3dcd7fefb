"""Before the door: what a browser sees that is refused, and which scripts a page may run.

The policy allows files of our own origin only: no script and no style stands in a page, nothing is
compiled from text in the browser.
"""

from __future__ import annotations

import json
import re
from html import escape

from starlette.responses import HTMLResponse, Response
from starlette.types import Message, Scope

from levelcap.services.door.rewrite import Rewriting

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self';"
    " img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; media-src 'self';"
    " worker-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'"
)
PLAIN_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

_LOOK = (
    "body{margin:0;min-height:100vh;display:grid;place-items:center;background:#14110e;"
    "color:#f1e7d6;font:18px/1.6 Georgia,serif}main{max-width:34rem;padding:2rem;"
    "border:1px solid #4a3b2a;border-radius:14px;background:#1e1914;margin:1rem}"
    "h1{color:#f0b95b;margin:0 0 .5rem;font-size:1.6rem}code{background:#2b231b;"
    "padding:.15em .5em;border-radius:6px;color:#ffd891}a{color:#f0b95b}"
)

REFUSED = {
    401: (
        "The Tavern is closed to strangers",
        [
            "The hero is inside, but this browser has no key yet.",
            "Run `levelcap open` in a terminal on this machine and follow the address it prints.",
        ],
    ),
    404: ("Nothing is here", ["No room of the Tavern has this address."]),
    500: (
        "A chair broke",
        ["This page failed.", "The reason is in the log: `levelcap logs tavern`."],
    ),
}


def small_page(
    title: str, lines: list[str], status: int = 200, refresh: str | None = None
) -> HTMLResponse:
    """A page of a few words without scripts; `lines` are text, `code` between backticks."""
    words = "".join(f"<p>{_marked(line)}</p>" for line in lines)
    again = f'<meta http-equiv="refresh" content="0;url={escape(refresh)}">' if refresh else ""
    body = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}'
        '</title><meta name="viewport" content="width=device-width,initial-scale=1">'
        f"{again}<style>{_LOOK}</style></head><body><main><h1>{escape(title)}</h1>{words}"
        "</main></body></html>"
    )
    headers = {"Content-Security-Policy": PLAIN_POLICY, "Cache-Control": "no-store"}
    return HTMLResponse(body, status, headers=headers)


def _marked(line: str) -> str:
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(line))


class Doorway(Rewriting):
    """Outermost: a browser that asked for a page and is refused gets a page, not JSON."""

    def wants(self, scope: Scope, start: Message) -> bool:
        """Refused, and asked for as a page."""
        accepts = [value for name, value in scope["headers"] if name == b"accept"]
        page = scope["method"] == "GET" and any(b"text/html" in value for value in accepts)
        kinds = [value for name, value in start["headers"] if name.lower() == b"content-type"]
        return page and start["status"] >= 400 and kinds == [b"application/json"]

    def instead(self, start: Message, body: bytes) -> Response:
        """What somebody without a cookie sees, or at a wrong address, or when a page failed."""
        title, lines = REFUSED.get(start["status"], ("That did not work", []))
        page = small_page(title, lines or [json.loads(body)["message"]], start["status"])
        page.headers["x-content-type-options"] = "nosniff"
        return page
