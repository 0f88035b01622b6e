"""Messages as lines of text, and back: what a durable queue keeps, and what it refuses because it would not come back.

Idea        A message is one JSON list, `[start, part, ...]`, in ASCII and on one line, so that a batch is lines and all
            of it is read by one call of the JSON parser. A start that JSON does not know is a JSON object in its place,
            where no number can be.
Source      RFC 8259; that each text holds one line is the convention of JSON Lines.
Cost        about a microsecond a message each way, most of it in the JSON of the standard library
Invariants  read(line(start, message)) is [start, *message], equal and of the same types all the way down.
Weakness    A message comes back as a copy: what a handler does to a list in it is not kept.
"""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from math import isfinite

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

SIMPLE = (str, bool, type(None))
DEEPEST = 100
LARGEST_INT = 10**4000  # Python reads no int of more than 4,300 digits from text, unless it is told to
SHORT_INT = 2**63
EXPECTED = "expected str, int, float, bool, None, list or dict, which JSON gives back as they were"
quoted = json.encoder.encode_basestring_ascii
encode = json.JSONEncoder(ensure_ascii=True, check_circular=False, separators=(",", ":")).encode


def line(start: Any, message: tuple[Any, ...]) -> str:
    """Return the line that keeps a message.

    O(size). Raises TypeError for a part, or a start, of a type that would not come back as it is, ValueError for a
    float that is not finite, an int of more than 4,000 digits and lists nested deeper than 100; each names the place.

    >>> line(1.5, ("mail", {"to": [1, None]}))
    '[1.5,"mail",{"to":[1,null]}]'
    >>> line(1.5, ({"when": [(1, 2)]},))
    Traceback (most recent call last):
        ...
    TypeError: message[0]["when"][0] is a tuple: expected str, int, float, bool, None, list or dict, which JSON gives \
back as they were
    """
    if type(start) is float and isfinite(start):
        for part in message:
            if type(part) is not str:
                break
        else:  # what most messages are made of needs no encoder to be set up
            return f"[{start!r},{','.join(map(quoted, message))}]" if message else f"[{start!r}]"
    for at, part in enumerate(message):
        if type(part) not in SIMPLE:
            _require_json(part, f"message[{at}]", 0)
    kept = start if type(start) is float or type(start) is bool else _kept(start)
    return encode((kept, *message))


def _kept(start: Any) -> Any:
    """Return what stands for `start` in JSON."""
    if type(start) is int:
        return start if -SHORT_INT <= start < SHORT_INT else {"int": hex(start)}
    if type(start) is Fraction:
        return {"Fraction": f"{start.numerator:x}/{start.denominator:x}"}
    if type(start) is Decimal:
        return {"Decimal": str(start)}
    raise TypeError(f"start is a {type(start).__name__}: expected int, float, Fraction or Decimal itself to keep it")


def _require_json(value: Any, where: str, depth: int) -> None:
    """Refuse what JSON would give back as something else, or not at all."""
    kind = type(value)
    if kind in SIMPLE:
        return
    if kind is float:
        if not isfinite(value):
            raise ValueError(f"{where} is {value!r}: expected a finite number, JSON has no other")
    elif kind is int:
        if not -LARGEST_INT < value < LARGEST_INT:
            raise ValueError(f"{where} is an int of more than 4,000 digits: expected a shorter one, or text")
    elif kind is not list and kind is not dict:
        raise TypeError(f"{where} is a {kind.__name__}: {EXPECTED}")
    elif depth >= DEEPEST:
        raise ValueError(f"{where[:60]}… is nested deeper than {DEEPEST} levels: expected fewer, and no list in itself")
    elif kind is list:
        for at, item in enumerate(value):
            _require_json(item, f"{where}[{at}]", depth + 1)
    else:
        for key, item in value.items():
            if type(key) is not str:
                raise TypeError(f"{where} has the key {key!r}: expected str, JSON knows no other keys")
            _require_json(item, f"{where}[{encode(key)}]", depth + 1)


def read(lines: Iterable[str]) -> list[list[Any]]:
    """Return the messages of `lines`, each as the list [start, *message]. O(size).

    >>> read([line(Fraction(1, 3), ("mail",)), line(2, ())])
    [[Fraction(1, 3), 'mail'], [2]]
    """
    return read_text(",".join(lines))


def read_text(text: str) -> list[list[Any]]:
    """Return what `read` returns, of lines that are one text, apart by commas or line ends."""
    items: list[list[Any]] = json.loads(f"[{text.replace(chr(10), ',')}]")
    for item in items:
        if type(item[0]) is dict:
            item[0] = _start(item[0])
    return items


def _start(kept: dict[str, str]) -> Any:
    """Return the start that `_kept` made this of."""
    ((kind, text),) = kept.items()
    if kind == "int":
        return int(text, 16)
    if kind == "Fraction":
        above, below = text.split("/")
        return Fraction(int(above, 16), int(below, 16))
    return Decimal(text)
