"""What the list says when it refuses, word for word, that nothing has changed then, and what an empty fragment is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from queues.timer.linked_list import Cursor, Fragment, LinkedList, Node
from tests.queues.test_linked_list import at, built

LAST = "the cursor stands on the last node: expected a node after it to remove"
ANOTHER = "stop is a cursor of another list: expected one that stands after this cursor"
NOTHING = "nothing lies between this cursor and stop: expected stop to stand after it"
EMPTY = "the fragment is empty: its nodes were put back or handed over already"


def nodes_of(fragment: Fragment) -> list[Node]:
    found = []
    node = fragment.node
    while node is not None:
        found.append(node)
        node = node.next
    return found


def first_of(chain: LinkedList) -> Fragment:
    """The first two nodes, cut out."""
    return chain.cursor().detach(2)


def used(chain: LinkedList) -> Fragment:
    """An empty fragment: its nodes are back."""
    fragment = first_of(chain)
    fragment.append_to(chain.cursor())
    return fragment


REFUSALS: list[tuple[str, Callable[[LinkedList], object]]] = [
    (LAST, lambda chain: at(chain, 3).remove_next()),
    ("count is 0: expected at least 1 node to cut out", lambda chain: chain.cursor().detach(0)),
    ("count is -2: expected at least 1 node to cut out", lambda chain: chain.cursor().detach(-2)),
    ("count is 4: expected at most 3, the nodes after the cursor", lambda chain: chain.cursor().detach(4)),
    ("count is 1: expected at most 0, the nodes after the cursor", lambda chain: at(chain, 3).detach(1)),
    (ANOTHER, lambda chain: chain.cursor().detach_through(at(built(1, 2), 1))),
    (NOTHING, lambda chain: at(chain, 1).detach_through(at(chain, 1))),
    (NOTHING, lambda chain: at(chain, 3).detach_through(at(chain, 1))),
    (EMPTY, lambda chain: used(chain).tail()),
    (EMPTY, lambda chain: used(chain).append_to(chain.cursor())),
]


@pytest.mark.parametrize(("words", "call"), REFUSALS, ids=[f"{at}" for at in range(len(REFUSALS))])
def test_a_list_says_what_it_expected_and_stays_as_it_was(words: str, call: Callable[[LinkedList], object]) -> None:
    chain = built(1, 2, 3)
    with pytest.raises(ValueError, match=r"expected|already") as refused:
        call(chain)
    assert str(refused.value) == words
    assert list(chain) == [1, 2, 3]


PUT_BACK: list[tuple[str, Callable[[LinkedList, Fragment], object]]] = [
    (
        "the cursor belongs to another list: expected one of the list the fragment was cut from",
        lambda chain, fragment: fragment.append_to(built(1).cursor()),
    ),
    (
        "the known tail belongs to another list: expected a cursor on this fragment's last node",
        lambda chain, fragment: fragment.append_to(chain.cursor(), at(built(1), 1)),
    ),
    (
        "the known tail has a node after it: expected a cursor on the fragment's last node",
        lambda chain, fragment: fragment.append_to(chain.cursor(), Cursor(nodes_of(fragment)[0], chain.cursor().mark)),
    ),
]


@pytest.mark.parametrize(("words", "call"), PUT_BACK, ids=[f"{at}" for at in range(len(PUT_BACK))])
def test_a_fragment_says_where_it_expected_to_go_and_keeps_its_nodes(
    words: str, call: Callable[[LinkedList, Fragment], object]
) -> None:
    chain = built(1, 2, 3)
    fragment = first_of(chain)
    with pytest.raises(ValueError, match="expected") as refused:
        call(chain, fragment)
    assert str(refused.value) == words
    assert [node.data for node in nodes_of(fragment)] == [1, 2]
    fragment.append_to(chain.cursor())
    assert list(chain) == [1, 2, 3]


def test_the_anchor_holds_nothing() -> None:
    chain = built(1)
    anchor = next(chain.nodes())
    assert (anchor.data, chain.cursor().node is anchor, chain.cursor().mark is chain.mark) == (None, True, True)


def test_a_copy_and_a_tail_carry_the_mark_of_their_list() -> None:
    chain = built(1, 2, 3)
    fragment = first_of(chain)
    marks = [fragment.mark, fragment.tail().mark, chain.cursor().copy().mark]
    assert [mark is chain.mark for mark in marks] == [True] * 3


def test_a_fragment_that_gave_its_nodes_away_is_empty() -> None:
    fragment = first_of(built(1, 2, 3))
    node = fragment.node
    assert fragment.release() is node
    assert fragment.node is None
    assert fragment.release() is None
    assert (bool(fragment), fragment.consume(print)) == (False, 0)


def test_a_fragment_is_empty_after_all_of_it_was_handed_over_and_after_it_was_put_back() -> None:
    chain = built(1, 2, 3)
    back = used(chain)
    handed = first_of(chain)
    assert handed.consume(lambda data: None) == 2
    assert (back.node, handed.node) == (None, None)


def test_a_removed_node_leaves_what_was_behind_it() -> None:
    chain = built(1, 2, 3)
    cursor = at(chain, 1)
    assert cursor.remove_next() == 2
    assert (cursor.next_data(), list(chain)) == (3, [1, 3])
    assert cursor.advance()
    assert cursor.next_data() is None
