"""Mutations of valid certificates, in their numbers and in their structure."""

import base64
import copy
import json
import math
import random
import zlib

NUMBERS = (
    math.nan,
    math.inf,
    -math.inf,
    1e308,
    1.7976931348623157e308,
    -1e308,
    1e307,
    1e-308,
    5e-324,
    2**53,
    2**53 - 1,
    2**53 + 1,
    float(2**53),
    10**30,
    10**400,
    -(10**400),
    0,
    -0.0,
    -1,
    1,
    0.1,
    1e15,
    "1/3",
    "-1/3",
    "1/0",
    "600/7",
    "9007199254740993/9007199254740992",
    f"1/{10**320}",
    f"{10**308}/{3**600}",
    f"{7**300}/{10**290}",
    "nan",
    "1e5",
    "",
)
OTHERS = (None, True, [], {}, "x", [[]], [None], {"x": 1})


def places(data, path=()):
    """Yield the path to every part of a JSON value."""
    yield path
    parts = data.items() if isinstance(data, dict) else ()
    parts = enumerate(data) if isinstance(data, list) else parts
    for key, part in parts:
        yield from places(part, (*path, key))


def part_at(data, path):
    for key in path:
        data = data[key]
    return data


def copied(data):
    """Return a copy in which no part is the same as another: what changes in one stays there."""
    if isinstance(data, dict):
        return {key: copied(part) for key, part in data.items()}
    return [copied(part) for part in data] if isinstance(data, list) else data


def replaced(data, path, part):
    """Return a copy with another part at a path."""
    if not path:
        return copied(part)
    data = copied(data)
    part_at(data, path[:-1])[path[-1]] = copied(part)
    return data


def is_number(part):
    """Return True for a number, or the text of a fraction."""
    if isinstance(part, str):
        return part.replace("/", "").lstrip("-").isdigit()
    return isinstance(part, int | float) and not isinstance(part, bool)


def mutated(data, others, rng):
    """Return a certificate's data after one to three mutations; `others` lend their parts."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        data = _once(data, others, rng)
    return data


def _once(data, others, rng):
    every = list(places(data))
    numbers = [path for path in every if path and is_number(part_at(data, path))]
    kind = rng.random()
    if kind < 0.4 and numbers:
        return replaced(data, rng.choice(numbers), rng.choice(NUMBERS))
    if kind < 0.65 and numbers:
        return _scaled(data, rng.choice(numbers), rng)
    if kind < 0.75 and numbers:  # all numbers, or many, become the same
        number, some = rng.choice(NUMBERS), rng.choice((1.0, 0.5))
        for path in numbers:
            if rng.random() < some:
                data = replaced(data, path, number)
        return data
    path = rng.choice(every)
    if kind < 0.82 and others:
        other = rng.choice(others)
        return replaced(data, path, part_at(other, rng.choice(list(places(other)))))
    if kind < 0.9:
        return replaced(data, path, rng.choice((*OTHERS, *NUMBERS)))
    return _restructured(data, path, rng)


def _scaled(data, path, rng):
    text = part_at(data, path)
    top, _, bottom = str(text).partition("/")
    factor = rng.choice((0.5, 2.0, 1 + 2**-52, 1 - 2**-53, 1e-9, 1e9, -1.0, rng.random()))
    try:
        return replaced(data, path, float(top) / float(bottom or 1) * factor)
    except (OverflowError, ZeroDivisionError):
        return data


def _restructured(data, path, rng):
    """Return a copy with an entry of a list or record dropped, doubled, moved or added."""
    data = copy.deepcopy(data)
    part = part_at(data, path)
    if isinstance(part, dict):
        if part and rng.random() < 0.7:
            del part[rng.choice(sorted(part))]
        else:
            part["unknown"] = 1
    elif isinstance(part, list) and part:
        k = rng.randrange(len(part))
        action = rng.randrange(4)
        if action == 0:
            del part[k]
        elif action == 1:
            part.insert(k, copy.deepcopy(part[k]))
        elif action == 2:
            rng.shuffle(part)
        else:
            part.append(rng.choice((*NUMBERS, *OTHERS)))
    return data


#: What stands for parts that Python's lists and numbers do not write.
_DEEP, _LONG, _OVERFLOW = "nested deeply", "a long integer", "a number that overflows"

#: Bytes of a list that is repeated.
MOST_BYTES = 10**7

#: What no honest certificate has: sizes and counts that fill memory or run for ever, depth, control
#: characters, other types.
HOSTILE = (
    *NUMBERS,
    *OTHERS,
    *(10**7, 2**31 - 1, 2**31, 2**32, 10**9, 10**12, 2**62, 2**63 - 1, 2**63, 10**18, 10**4000),
    *(f"{'9' * 4000}/7", f"1/{'9' * 4000}", "9" * 4000, "9" * 5000, "9" * 10**6),
    *(_DEEP, _LONG, _OVERFLOW),
    *("\x1b[2J\x07", "a\x00b", "line\nline\r", "\u202e\u2028", "\ud800"),
    *([0] * 10**5, [1] * 10**5, ["1/3"] * 10**4, [[0]] * 10**4, "x" * 10**6),
    *([10**30] * 1000, list(range(10**5)), {str(k): k for k in range(10**4)}),
)


def hostile(data, rng):
    """Return a certificate's data with one or two parts that no honest one has."""
    for _ in range(rng.choice((1, 1, 2))):
        path = rng.choice(list(places(data))[:10_000])
        part = part_at(data, path)
        kind = rng.random()
        if isinstance(part, dict) and part and kind < 0.5:
            changed = {
                key: value for key, value in part.items() if kind < 0.25 or rng.random() < 0.7
            }
            if kind < 0.25:
                changed[rng.choice(("\x1b[2J", "x" * 10**5, "\n", ""))] = 1
            data = replaced(data, path, changed)
        elif isinstance(part, list) and part and kind < 0.6:
            times = rng.choice((2, 10**2, 10**4, 10**5)) // len(part) + 1
            # A list of long ones, repeated, would fill the memory of this test.
            data = replaced(data, path, part * min(times, MOST_BYTES // len(json.dumps(part)) + 1))
        else:
            data = replaced(data, path, rng.choice(HOSTILE))
    return data


def bombs(rng):
    """Return the text of a proof that takes much more to read than its file has bytes."""
    lines = rng.choice(
        (
            ["lemma " + "1234567 " * 10**6],
            ["0" * 10**7],
            ["tree", *["b 0 1000000"] * 10**5, *["l 0 1"] * 10**5],
            ["lemma 0 1", "l 0 1"] * 10**5,
            ["tree", "l 400 1 0 " + "9" * 4000],
            ["tree", *(f"b {k} 0" for k in range(10**5))],
            ["tree", "s 1 " + " ".join(f"{k} {10**300}" for k in range(10**4))],
            ["\x00\x1b[2J", "tree"],
        )
    )
    text = "".join(f"{line}\n" for line in lines).encode()
    return base64.b64encode(zlib.compress(text, rng.choice((0, 9)))).decode()


def as_text(problem, data):
    """Return the text of a certificate's file, NaN and infinities as Python writes them."""
    text = json.dumps(
        {"gadgetopt": 1, "problem": problem, "kind": "certificate", "name": "x", "data": data}
    )
    for word, written in (
        (_DEEP, "[" * 10**5 + "]" * 10**5),
        (_LONG, "9" * 10**6),
        (_OVERFLOW, "1e999999"),
    ):
        text = text.replace(f'"{word}"', written)
    return text


def generator(seed):
    return random.Random(seed)
