"""The table of contents: which contestants there are, family by family, and how to get one.

Nothing is imported until `load` is asked, so listing costs nothing and a worker loads only the queue it measures.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SUBJECTS: dict[str, dict[str, str]] = {
    "timer": {
        "linked": "queues.timer.linked:Linked",
        "linked-known-tail": "queues.timer.linked_known_tail:LinkedKnownTail",
        "array": "queues.timer.array:Array",
        "array-naive": "queues.timer.array_naive:ArrayNaive",
    },
}
"""family -> subject -> "module:Class"."""


def load(family: str, name: str) -> Any:
    """Return the class registered as `name` in `family`.

    Raises LookupError naming what there is. `"module:Class"` loads any importable class instead.

    >>> load("timer", "array").__name__
    'Array'
    >>> load("timer", "rope")
    Traceback (most recent call last):
        ...
    LookupError: no subject 'rope' in family 'timer': there are linked, linked-known-tail, array, array-naive
    """
    if ":" in name:
        return load_target(name)
    try:
        subjects = SUBJECTS[family]
    except KeyError:
        raise LookupError(f"no family {family!r}: there are {', '.join(SUBJECTS)}") from None
    try:
        target = subjects[name]
    except KeyError:
        raise LookupError(f"no subject {name!r} in family {family!r}: there are {', '.join(subjects)}") from None
    return load_target(target)


def load_target(target: str) -> Any:
    """Return the object that "package.module:Class" names, importing the module.

    Raises LookupError when the module has no such name, and whatever the import raises.
    """
    module_name, _, attribute = target.partition(":")
    module = import_module(module_name)
    try:
        return getattr(module, attribute)
    except AttributeError:
        raise LookupError(f"module {module_name!r} has no {attribute!r}: expected the name of a queue class") from None
