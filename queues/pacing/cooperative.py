"""Cooperative sleep: the default sleep that is looked up when it is needed, and the names that were bound too early.

gevent and its kin make blocking code cooperative by putting another function in place of `time.sleep`. Code that looks
`time.sleep` up when it sleeps takes part without knowing. Code that bound the name before (`from time import sleep`, a
default argument, `functools.partial(time.sleep, 1)`) keeps the real one, and its sleep stops every green thread of the
process. `bound_sleeps` finds such places and says where they are.

Only the standard library: the real sleep is recognised by what it is, so it does not matter who put what in its place.
"""

from __future__ import annotations

import sys
import threading
import time
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

DEEPEST = 4
"""How far the search follows classes, partials and containers from a module's name."""


def sleep(span: Any) -> None:
    """Sleep `span` seconds with what `time.sleep` is now: the default of every blocking design here.

    Raises what that raises: ValueError for a negative or NaN span, TypeError for what is no number.

    >>> sleep(0)
    """
    time.sleep(span if type(span) in (int, float) else float(span))


def is_real_sleep(value: object) -> bool:
    """Whether `value` is the interpreter's own `time.sleep`, under whatever name.

    >>> from time import sleep as nap
    >>> is_real_sleep(nap), is_real_sleep(print)
    (True, False)
    """
    return type(value) is BuiltinFunctionType and value.__name__ == "sleep" and value.__module__ == "time"


def is_ordinary(value: object) -> bool:
    """Whether a `sleep` given to a ticker or limiter is the default one, or `time.sleep` as it was or is.

    Then the design may wait in another way that takes as long, so that it can be woken.
    """
    return value is sleep or value is time.sleep or is_real_sleep(value)


def sleep_is_patched() -> bool:
    """Whether something else stands in place of `time.sleep`."""
    return not is_real_sleep(time.sleep)


def locks_are_patched() -> bool:
    """Whether something else stands in place of `threading.Lock`."""
    return getattr(threading.Lock, "__module__", None) != "_thread"


def bound_sleeps(
    modules: Mapping[str, ModuleType] | None = None, ignore: tuple[str, ...] = ("gevent", "queues.pacing")
) -> list[str]:
    """Return where the real `time.sleep` is bound, sorted: what goes on blocking after `time.sleep` is replaced.

    `modules`: name -> module, by default all that are loaded; `ignore`: those whose name begins so are left out. A
    place reads `module.attribute`, and for what is inside `module.Class.method(argument=)`, `module.function(closure
    name)`, `module.name(partial)`, `module.name['key']`. What no module leads to (a local variable, an instance's
    attribute) is not found. O(names in modules).

    >>> module = ModuleType("early")
    >>> exec("from time import sleep\\ndef poll(pause=sleep): pause(1)", module.__dict__)
    >>> bound_sleeps({"early": module})
    ['early.poll(pause=)', 'early.sleep']
    """
    found: set[str] = set()
    for name, module in dict(sys.modules if modules is None else modules).items():
        if name == "time" or any(name == prefix or name.startswith(f"{prefix}.") for prefix in ignore):
            continue
        if isinstance(module, ModuleType):
            seen: set[int] = set()
            for attribute, value in list(vars(module).items()):
                if not attribute.startswith("__"):
                    found.update(_places(f"{name}.{attribute}", value, name, DEEPEST, seen))
    return sorted(found)


def _places(where: str, value: object, module: str, depth: int, seen: set[int]) -> Iterator[str]:
    """Yield the places at and below `value`; `seen` holds what has been followed, so that nothing is followed twice."""
    if isinstance(value, staticmethod | classmethod | MethodType):
        value = value.__func__
    if isinstance(value, property):
        value = value.fget
    if is_real_sleep(value):
        yield where
        return
    if not depth or id(value) in seen:
        return
    for inner, found in _inside(where, value, module):
        seen.add(id(value))
        yield from _places(inner, found, module, depth - 1, seen)


def _inside(where: str, value: object, module: str) -> Iterator[tuple[str, object]]:
    """Yield what a function, class, partial or plain container holds on to, and how to call that place."""
    if isinstance(value, FunctionType):
        if value.__module__ == module:
            yield from _bound_by(where, value)
    elif isinstance(value, type):
        if value.__module__ == module:
            yield from ((f"{where}.{name}", inner) for name, inner in list(vars(value).items()))
    elif isinstance(value, partial):
        yield f"{where}(partial)", value.func
        yield from ((f"{where}(partial)", inner) for inner in (*value.args, *value.keywords.values()))
    elif type(value) is dict:
        yield from ((f"{where}[{key!r}]", inner) for key, inner in list(value.items()) if isinstance(key, str | int))
    elif type(value) is list or type(value) is tuple:
        yield from ((f"{where}[{place}]", inner) for place, inner in enumerate(value))


def _bound_by(where: str, function: FunctionType) -> Iterator[tuple[str, object]]:
    """Yield the default arguments and the closure of a function, and the function that it wraps."""
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    defaults = function.__defaults__ or ()
    for name, value in zip(positional[len(positional) - len(defaults) :], defaults, strict=True):
        yield f"{where}({name}=)", value
    for name, value in (function.__kwdefaults__ or {}).items():
        yield f"{where}({name}=)", value
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield f"{where}(closure {name})", cell.cell_contents
        except ValueError:  # an empty cell
            continue
    if "__wrapped__" in vars(function):
        yield f"{where}.__wrapped__", vars(function)["__wrapped__"]
