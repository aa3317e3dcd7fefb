"""Spellings of paths that must stay outside wherever an id is asked for; reused by every app.

`PATHS` are decoded values, for bodies and query strings; `in_url` spells them for a path segment.
"""

import itertools
from urllib.parse import quote

_DOTS = ("..", "../", "../..", "../../../../../../etc/passwd", "..\\", "..\\..\\windows\\win.ini")
_STARTS = (
    "/etc/passwd",
    "//etc/passwd",
    "///etc/passwd",
    "\\\\host\\share",
    "C:\\boot.ini",
    "C:/x",
)
_ODD = (
    *(
        "",
        " ",
        ".",
        "...",
        "....//",
        "./",
        "~",
        "~root",
        "~/x",
        "-",
        "--help",
        "-rf",
        "_x",
        ".hidden",
    ),
    *("a/../b", "a/./b", "a//b", "a/b", "a\\b", "a/..", "a..b", "..a", "x..", "con/../x", "x/.."),
    *(
        "a\x00b",
        "\x00",
        "a\nb",
        "a\rb",
        "a\tb",
        "a b",
        "a%00",
        "%00",
        "a%2fb",
        "%2e%2e",
        "%2e%2e%2f",
    ),
    *("%252e%252e%252f", "%c0%ae%c0%ae/", "%uff0e%uff0e/", "..%00/", "..%2f", "..%5c", "%5c..%5c"),
    *("．．／", "‥/", "..／", "..∕", "..⁄", "..\u2215x", "\u202e..", "é", "名前", "a\u0301", "🎮"),
    *("file:///etc/passwd", "http://127.0.0.1/", "data:,x", "$HOME", "${HOME}", "$(id)", "`id`"),
    *(
        "a;b",
        "a|b",
        "a&b",
        "a>b",
        "a<b",
        "a'b",
        'a"b',
        "a*b",
        "a?b",
        "a#b",
        "a:b",
        "a@b",
        "a,b",
        "a=b",
    ),
    *("a" * 101, "a" * 5000, "../" * 50, "/" * 50, "." * 50, "NUL ", "tokens.json/..", "!x", "(x)"),
    *(
        "' OR 1=1 --",
        "x'; DROP TABLE jobs;--",
        "{{7*7}}",
        "<script>",
        "%s%n",
        "[]",
        "{}",
        "\ufeffx",
    ),
)
_TARGETS = ("config/tokens.json", "state/realm.db", "etc/shadow")
_CLIMBS = ("../", "..\\", "....//", "..;/", "%2e%2e/", "..%2f", "%2e%2e%2f", ".%2e/", "..%c0%af")

PATHS = tuple(
    dict.fromkeys(
        [*_DOTS, *_STARTS, *_ODD]
        + [
            climb * depth + target
            for climb, depth, target in itertools.product(_CLIMBS, (1, 3, 8), _TARGETS)
        ]
    )
)
assert len(PATHS) >= 150


def in_url(text):
    """A payload as one segment of a URL, slashes and all encoded."""
    return quote(text, safe="")
