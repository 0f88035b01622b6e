"""What a caller keeps of a library that cancels by handle: the handle of every message, found by its start.

Our `cancel(start)` looks for a message, the libraries want the very handle that they gave when it came in. Their users
keep it in a variable or in a dict of their own; the adapters keep it here, in one that is made by the first `cancel`,
so that whoever never cancels pays nothing. That first call costs O(n log n), once: a benchmark of `cancel` makes one
before it starts its clock.

Functions over a plain dict, nothing to inherit: start -> id of the handle -> handle, in the order of arrival.
"""

from __future__ import annotations

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeAlias

    Kept: TypeAlias = dict[Any, dict[int, Any]]


def kept(handles: Iterable[tuple[Any, Any]]) -> Kept:
    """Return the dict of `handles`, pairs of start and handle in the order in which the library would hand them out.

    What came first is not known any more of equal starts. O(n).

    >>> list(kept([(1.0, "a"), (1.0, "b"), (2.0, "c")]))
    [1.0, 2.0]
    """
    found: Kept = {}
    for start, handle in handles:
        keep(found, start, handle)
    return found


def keep(found: Kept, start: Any, handle: Any) -> None:
    """Add a handle. O(1)."""
    found.setdefault(start, {})[id(handle)] = handle


def forget(found: Kept, start: Any, handle: Any) -> None:
    """Take a handle out, if it is there. O(1)."""
    tied = found.get(start)
    if tied is not None:
        tied.pop(id(handle), None)
        if not tied:
            del found[start]


def first(
    found: Kept, start: Any, match: Callable[..., object] | None, message_of: Callable[[Any], tuple[Any, ...]]
) -> Any:
    """Return the first handle at exactly `start` for whose message `match(*message)` is true, or None.

    Without `match` it is the first one. `message_of(handle)` is `(start, *message)`. O(equal starts).

    >>> first(kept([(1.0, (1.0, "a")), (1.0, (1.0, "b"))]), 1, lambda name: name == "b", tuple)
    (1.0, 'b')
    """
    for handle in tuple(found.get(start, {}).values()):
        if match is None or match(*message_of(handle)[1:]):
            return handle
    return None
