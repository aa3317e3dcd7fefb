"""OpenAI's shapes: bodies, answers, chunks, and errors of everything below /v1.

What is not supported is refused by name instead of being ignored, unless it says what is done
anyway (top_p 1, penalties 0). A hero of ours was trained on single problems: it reads the last
message of the user, and earlier ones are not shown to it.
"""

from __future__ import annotations

import json
import secrets
import time
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Scope

from levelcap.kit.errors import BadValue, refuse
from levelcap.play.answers import SamplingParams
from levelcap.services.door.fields import Body, Id, Seed
from levelcap.services.door.rewrite import Rewriting, headers_of
from levelcap.services.oracle.generate import (
    MAX_CHARS,
    MAX_STOP_CHARS,
    MAX_STOPS,
    MAX_TOKENS,
    Ask,
    Piece,
)
from levelcap.vault.ledger import Entry

MAX_MESSAGES = 64
MAX_CHOICES = 8
LONGEST = 256
Stop = Annotated[str, Field(min_length=1, max_length=MAX_STOP_CHARS)]
Stops = Stop | Annotated[list[Stop], Field(max_length=MAX_STOPS)] | None
Text = Annotated[str, Field(max_length=MAX_CHARS)]
Count = Annotated[int, Field(ge=1, le=MAX_TOKENS)]
Temperature = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]
Nothing = Annotated[float, Field(ge=0, le=0)]


class Part(Body):
    """A part of a message; text only."""

    type: Literal["text"]
    text: Text


class ChatMessage(Body):
    """One message."""

    role: Literal["system", "developer", "user", "assistant"]
    content: Text | Annotated[list[Part], Field(min_length=1, max_length=16)]
    name: Annotated[str, Field(max_length=64)] | None = None

    def words(self) -> str:
        """Its text."""
        if isinstance(self.content, str):
            return self.content
        return "".join(part.text for part in self.content)


class StreamOptions(Body):
    """Of a stream."""

    include_usage: bool = False


class ChatBody(Body):
    """A chat completion."""

    model: Id
    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=MAX_MESSAGES)]
    max_tokens: Count | None = None
    max_completion_tokens: Count | None = None
    temperature: Temperature | None = None
    seed: Seed | None = None
    stop: Stops = None
    n: Annotated[int, Field(ge=1, le=MAX_CHOICES)] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    top_p: Annotated[float, Field(ge=1, le=1)] | None = None
    presence_penalty: Nothing | None = None
    frequency_penalty: Nothing | None = None
    logprobs: Literal[False] | None = None
    user: Annotated[str, Field(max_length=200)] | None = None

    def ask(self) -> Ask:
        """What it asks for; without a temperature the likeliest answer.

        Raises:
            BadValue: nobody asks anything.
        """
        asked = [message for message in self.messages if message.role == "user"]
        if not asked:
            roles = [message.role for message in self.messages]
            raise BadValue(refuse("messages hold none of the user", roles, "Add one"))
        longest = self.max_completion_tokens or self.max_tokens or LONGEST
        taste = SamplingParams(self.temperature or 0.0, 0, seed_of(self.seed))
        return Ask((asked[-1].words(),) * (self.n or 1), longest, taste, stops_of(self.stop))


def seed_of(seed: int | None) -> int:
    """The seed, or a fresh one."""
    return secrets.randbits(53) if seed is None else seed


def stops_of(stop: str | list[str] | None) -> tuple[str, ...]:
    """One, several or none."""
    return (stop,) if isinstance(stop, str) else tuple(stop or ())


class Completion:
    """One answer under way: collects pieces, writes chunks."""

    def __init__(self, model: str, count: int, prompt_tokens: int) -> None:
        self.texts, self.finish = [""] * count, ["stop"] * count
        self._prompt, self._tokens = prompt_tokens, 0
        self._head = {
            "id": f"chatcmpl-{secrets.token_hex(12)}",
            "created": int(time.time()),
            "model": model,
        }

    def add(self, piece: Piece) -> None:
        """Take in a piece."""
        self.texts[piece.row] += piece.text
        self._tokens += piece.tokens
        if piece.finish is not None:
            self.finish[piece.row] = piece.finish

    def usage(self) -> dict[str, int]:
        """Tokens read and written."""
        return {
            "prompt_tokens": self._prompt,
            "completion_tokens": self._tokens,
            "total_tokens": self._prompt + self._tokens,
        }

    def whole(self) -> dict[str, Any]:
        """The answer in one."""
        choices = [
            {
                "index": row,
                "message": {"role": "assistant", "content": words, "refusal": None},
                "logprobs": None,
                "finish_reason": self.finish[row],
            }
            for row, words in enumerate(self.texts)
        ]
        return {
            **self._head,
            "object": "chat.completion",
            "choices": choices,
            "usage": self.usage(),
        }

    def first(self) -> list[str]:
        """The chunks that open a stream."""
        return [
            self._chunk(row, {"role": "assistant", "content": ""}) for row in range(len(self.texts))
        ]

    def chunk(self, piece: Piece) -> str:
        """A piece as chunks of a stream."""
        said = self._chunk(piece.row, {"content": piece.text}) if piece.text else ""
        return said + (self._chunk(piece.row, {}, piece.finish) if piece.finish else "")

    def last(self, usage: bool) -> str:
        """What closes a stream."""
        told = {**self._head, "object": "chat.completion.chunk", "choices": []}
        return (event(told | {"usage": self.usage()}) if usage else "") + "data: [DONE]\n\n"

    def _chunk(self, row: int, delta: dict[str, Any], finish: str | None = None) -> str:
        choice = {"index": row, "delta": delta, "logprobs": None, "finish_reason": finish}
        return event({**self._head, "object": "chat.completion.chunk", "choices": [choice]})


def event(values: dict[str, Any]) -> str:
    """One server-sent event; JSON holds no line break."""
    return f"data: {json.dumps(values, ensure_ascii=False)}\n\n"


def model_json(row: Entry) -> dict[str, Any]:
    """A checkpoint as a model."""
    created = int(datetime.fromisoformat(row.timestamp).timestamp())
    return {"id": row.id, "object": "model", "created": created, "owned_by": row.hero}


def error_shape(status: int, said: dict[str, Any]) -> dict[str, Any]:
    """An error of ours as OpenAI writes it."""
    code = str(said.get("error", "refused"))
    kind = "server_error" if status >= 500 else "invalid_request_error"
    param = str(said["field"]).removeprefix("body.") if "field" in said else None
    message = str(said.get("message", code))
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


class ErrorsBelow(Rewriting):
    """Outermost middleware: what is refused below /v1, by whomever, has OpenAI's shape."""

    def wants(self, scope: Scope, start: Message) -> bool:
        """Refused, and below /v1."""
        return str(scope["path"]).startswith("/v1/") and bool(start["status"] >= 400)

    def instead(self, start: Message, body: bytes) -> Response:
        """The same refusal in the other shape."""
        try:
            said = json.loads(body)
        except ValueError:
            said = {}
        made = JSONResponse(error_shape(start["status"], said), start["status"])
        made.raw_headers += headers_of(start, (b"content-length", b"content-type"))
        return made
