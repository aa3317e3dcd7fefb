"""A second reader of BIN: prompts and worked lines checked with code of its own.

Nothing here imports the package; numbers are Python integers read from the text.
"""

import re

CALL = re.compile(r"([a-z_0-9]+)\(([^()]*)\)")
SIGNED = ("add_signed", "subtract_signed", "multiply_signed", "negate", "absolute_value", "sign_of")


def value(text):
    return int(text.translate(str.maketrans("⓪①", "01")), 2)


def circled(number, width):
    return "".join("⓪①"[int(c)] for c in bin(number)[2:].zfill(width))


def two(number, width):
    return number - 2**width if number >= 2 ** (width - 1) else number


def compute(name, args):
    """Result as text, for arguments as text."""
    if name == "tobinary":
        return circled(int(args[0]), int(args[1]))
    if name in SIGNED:
        return compute_signed(name, [value(a) for a in args[:-1]], int(args[-1]))
    numbers = [value(a) for a in args]
    m, n = len(args[0]), len(args[-1])
    a, b = numbers[0], numbers[-1]
    results = {
        "add": lambda: (a + b, max(m, n) + 1),
        "subtract": lambda: (a - b, max(m, n)),
        "multiply": lambda: (a * b, m + n),
        "increment": lambda: (a + 1, m + 1),
        "decrement": lambda: (a - 1, m),
        "divide": lambda: (a // b, m),
        "divide_by_2": lambda: (a // 2, m),
        "multiply_by_2": lambda: (a * 2, m + 1),
        "equals": lambda: (int(a == b), 1),
        "lessthan": lambda: (int(a < b), 1),
        "greaterthan": lambda: (int(a > b), 1),
        "minimum": lambda: (min(a, b), max(m, n)),
        "maximum": lambda: (max(a, b), max(m, n)),
        "and": lambda: (a & b, max(m, n)),
        "or": lambda: (a | b, max(m, n)),
        "xor": lambda: (a ^ b, max(m, n)),
    }
    if name == "todecimal":
        return str(a)
    result, width = results[name]()
    assert result >= 0
    return circled(result, width)


def compute_signed(name, patterns, width):
    values = [two(p, width) for p in patterns]
    if name == "sign_of":
        return "①①" if values[0] < 0 else "⓪①" if values[0] else "⓪⓪"
    result = {
        "add_signed": lambda: values[0] + values[1],
        "subtract_signed": lambda: values[0] - values[1],
        "multiply_signed": lambda: values[0] * values[1],
        "negate": lambda: -values[0],
        "absolute_value": lambda: abs(values[0]),
    }[name]()
    digits = 2 * width if name == "multiply_signed" else width
    return circled(result % 2**digits, digits)


def result_of(text):
    """Value of a nested call: the innermost brackets are replaced until none is left."""
    while match := CALL.search(text):
        args = match[2].split(", ")
        text = text[: match.start()] + compute(match[1], args) + text[match.end() :]
    return text


def plain(prompt, answer):
    """Prompt and answer without the signs of a key; asserts that the key covers the prompt."""
    if not prompt.startswith("Key: "):
        return prompt, answer
    head, body = prompt.split("\n")
    key = dict(part.split("=") for part in head[5:].split(" "))
    for sign in re.findall(r"(\S)\(", body):
        assert key[sign] not in "⓪①"
    for letter in body:
        assert letter.isascii() or letter in key
    for sign, meaning in key.items():
        body = body.replace(sign, meaning)
        answer = answer.replace(sign, meaning)
    return body, answer


def check_position(line):
    """Asserts that a line of work is true by itself; returns False when it is none."""
    if m := re.fullmatch(r"\d+: ([⓪①])([+-])([⓪①]) ([cb])([⓪①]) = ([⓪①]) ([cb])([⓪①])", line):
        x, y, before, digit, after = (value(m[i]) for i in (1, 3, 5, 6, 8))
        assert (m[2], m[4], m[7]) in (("+", "c", "c"), ("-", "b", "b"))
        if m[2] == "+":
            assert x + y + before == digit + 2 * after
        else:
            assert x - y - before == digit - 2 * after
    elif m := re.fullmatch(r"\d+: ([⓪①])([&|^])([⓪①]) = ([⓪①])", line):
        x, y, out = value(m[1]), value(m[3]), value(m[4])
        assert out == {"&": x * y, "|": max(x, y), "^": abs(x - y)}[m[2]]
    elif m := re.fullmatch(r"\d+: ([⓪①])([<=>])([⓪①])", line):
        assert (m[1] == m[3]) == (m[2] == "=")
        assert (value(m[1]) < value(m[3])) == (m[2] == "<")
    elif m := re.fullmatch(r"(\d+): ([⓪①])\*(\d+) s(\d+) = s(\d+)", line):
        assert int(m[4]) + value(m[2]) * int(m[3]) == int(m[5])
        assert int(m[3]) % 2 ** int(m[1]) == 0
    elif m := re.fullmatch(r"\d+: (\d+) = (\d+)\*2\+([⓪①])", line):
        assert int(m[1]) == 2 * int(m[2]) + value(m[3])
    elif m := re.fullmatch(r"(-?\d+)\*(-?\d+): \|(\d+)\*(\d+)\|, minus ([⓪①])", line):
        a, b = int(m[1]), int(m[2])
        assert (abs(a), abs(b)) == (int(m[3]), int(m[4]))
        assert value(m[5]) == (a * b < 0)
    else:
        return False
    return True


def check_equation(text):
    """Asserts that a decimal check is true."""
    text, _, wrapped = text.partition(" overflow ")
    if m := re.fullmatch(r"(-?\d+) ([-+*]|and|or|xor) (-?\d+) = (-?\d+)", text):
        a, b, r = int(m[1]), int(m[3]), int(m[4])
        rules = {
            "+": lambda: a + b,
            "-": lambda: a - b,
            "*": lambda: a * b,
            "and": lambda: a & b,
            "or": lambda: a | b,
            "xor": lambda: a ^ b,
        }
        assert rules[m[2]]() == r
        if wrapped:
            difference = abs(int(wrapped) - r)
            assert difference and difference & (difference - 1) == 0
    elif m := re.fullmatch(r"(\d+) = (\d+) \* (\d+) \+ (\d+)", text):
        a, b, q, rest = (int(m[i]) for i in (1, 2, 3, 4))
        assert a == b * q + rest and rest < b
    elif m := re.fullmatch(r"(-?\d+) ([<=>]) (-?\d+)", text):
        a, b = int(m[1]), int(m[3])
        assert {"<": a < b, "=": a == b, ">": a > b}[m[2]]
    elif m := re.fullmatch(r"(min|max)\((\d+), (\d+)\) = (\d+)", text):
        assert {"min": min, "max": max}[m[1]](int(m[2]), int(m[3])) == int(m[4])
    elif m := re.fullmatch(r"\|(-?\d+)\| = (\d+)", text):
        assert abs(int(m[1])) == int(m[2])
    else:
        number, parts = text.split(" = ")
        powers = [int(p) for p in parts.split(" + ")]
        assert sum(powers) == int(number)
        assert all(p & (p - 1) == 0 for p in powers)


def check_steps(lines, operation_line):
    """Asserts the facts that lie between the lines of one call (carries chain, bits are theirs)."""
    match = CALL.fullmatch(operation_line.split(" = ")[0])
    name, args = match[1], match[2].split(", ")
    top = operation_line.split(" = ")[1]
    rows = [re.fullmatch(r"(\d+): ([⓪①])[-+]([⓪①]) [cb]([⓪①]) = ([⓪①]) .*", x) for x in lines]
    signs = [r for r in rows if r]
    if name in ("add", "add_signed", "subtract", "subtract_signed") and signs:
        a, b = value(args[0]), value(args[1])
        for row in signs:
            i = int(row[1])
            assert value(row[2]) == a >> i & 1 and value(row[3]) == b >> i & 1
            assert row[5] == top[-1 - i]
            low_a, low_b = a % 2**i, b % 2**i
            taken = low_a + low_b >= 2**i if name.startswith("add") else low_a < low_b
            assert value(row[4]) == taken
    for line in lines:
        if m := re.fullmatch(r"(\d+): r(\d+) ([⓪①]) = ([⓪①]) r(\d+)", line):
            divisor, brought = value(args[1]), 2 * int(m[2]) + value(m[3])
            assert divmod(brought, divisor) == (value(m[4]), int(m[5]))
            assert value(m[3]) == value(args[0]) >> int(m[1]) & 1
        elif m := re.fullmatch(r"(\d+)>(\d+): ([⓪①])", line):
            assert value(m[3]) == value(args[0]) >> int(m[1]) & 1
            assert m[3] == top[-1 - int(m[2])]
        elif m := re.fullmatch(r"0 (in|out): ([⓪①])", line):
            assert value(m[2]) == (value(args[0]) & 1 if m[1] == "out" else 0)
        elif m := re.fullmatch(r"(sign|any) ([⓪①])", line):
            bit = value(args[0]) >> (int(args[-1]) - 1) & 1
            assert value(m[2]) == (bit if m[1] == "sign" else value(args[0]) > 0)
        elif m := re.fullmatch(r"([⓪①]+) = ([+-]\d+)", line):
            assert m[1] in args
            expected = two(value(m[1]), int(args[-1])) if name in SIGNED else value(m[1])
            assert int(m[2]) == expected
        elif line not in ("none", "overflow"):
            assert check_position(line), line
