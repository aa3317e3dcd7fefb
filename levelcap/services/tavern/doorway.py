"""Before the door: what a browser without a cookie sees, and which scripts a page may run.

The policy allows our own origin only. Inline scripts of a page carry a number that is drawn anew
for every answer; nothing is compiled from text in the browser (no unsafe-eval), which is why our
elements have render functions and no page uses templates or `run_javascript`. Styles may be inline:
bars have widths.
"""

from __future__ import annotations

import re
import secrets
from html import escape

from starlette.responses import HTMLResponse, Response
from starlette.types import Message, Scope

from levelcap.services.door.rewrite import Rewriting, headers_of

POLICY = (
    "default-src 'none'; script-src 'self'{nonce}; style-src 'self' 'unsafe-inline';"
    " img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; media-src 'self';"
    " worker-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'"
)
PLAIN_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
SCRIPT = re.compile(rb"<script(?=[ >])")

_LOOK = (
    "body{margin:0;min-height:100vh;display:grid;place-items:center;background:#14110e;"
    "color:#f1e7d6;font:18px/1.6 Georgia,serif}main{max-width:34rem;padding:2rem;"
    "border:1px solid #4a3b2a;border-radius:14px;background:#1e1914;margin:1rem}"
    "h1{color:#f0b95b;margin:0 0 .5rem;font-size:1.6rem}code{background:#2b231b;"
    "padding:.15em .5em;border-radius:6px;color:#ffd891}a{color:#f0b95b}"
)


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
    """Outermost: a browser that is refused for want of a token gets a page, not JSON."""

    def wants(self, scope: Scope, start: Message) -> bool:
        """Refused, and asked for as a page."""
        accepts = [value for name, value in scope["headers"] if name == b"accept"]
        page = scope["method"] == "GET" and any(b"text/html" in value for value in accepts)
        return page and bool(start["status"] == 401)

    def instead(self, start: Message, body: bytes) -> Response:
        """What somebody without a cookie sees."""
        lines = [
            "The hero is inside, but this browser has no key yet.",
            "Run `levelcap open` in a terminal on this machine and follow the address it prints.",
        ]
        page = small_page("The Tavern is closed to strangers", lines, 401)
        page.headers["x-content-type-options"] = "nosniff"
        return page


class Nonces(Rewriting):
    """Around the pages: numbers their inline scripts and sends the policy that names the number."""

    def wants(self, scope: Scope, start: Message) -> bool:
        """HTML."""
        kinds = [value for name, value in start["headers"] if name.lower() == b"content-type"]
        return any(b"text/html" in value for value in kinds)

    def instead(self, start: Message, body: bytes) -> Response:
        """The same page, its scripts numbered."""
        nonce = secrets.token_urlsafe(16)
        # Text of users cannot become a tag here: inside the page it stands with &lt; for <.
        made = Response(SCRIPT.sub(f'<script nonce="{nonce}"'.encode(), body), start["status"])
        made.raw_headers += headers_of(start, (b"content-length", b"content-security-policy"))
        made.headers["content-security-policy"] = POLICY.format(nonce=f" 'nonce-{nonce}'")
        return made
