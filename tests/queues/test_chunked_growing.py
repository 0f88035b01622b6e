"""The chunked queue as it grows: what is sealed, closed, opened and split, step by step."""

from __future__ import annotations

import pytest

from tests.queues.chunked_parts import resize
from tests.queues.chunked_scenes import SIZES, played, told_in

SCENES = {
    "a tail that is full is sealed, and a run that is full is closed": """
        0..7: (4) [4]
        8..19: (4) (4) (4) | [8]
        20..23: (4) (4) (4) | (4) (4) [4]
        24..35: (4) (4) (4) | <(4) (4) (4)> | (4) (4) [4]
        36..43: (4) (4) (4) | <(4) (4) (4)> | <(4) (4) (4)> | [8]
    """,
    "a tail that is full of late messages is sealed too": """
        0..6: [7]
        3.5: (4) [4]
        4.5: (4) [5]
        2.5: [5] [5]
    """,
    "a sealed chunk that a late message comes into is opened, and split when it is twice as long as others": """
        0..11: (4) (4) [4]
        0.5: [5] (4) [4]
        0.6: [6] (4) [4]
        0.7: [7] (4) [4]
        0.8: [4]k [4]k (4) [4]
    """,
    "where the starts are kept a chunk of the usual length is split, and a run that is WIDE": """
        0..19: (4) (4) (4) | [8]
        0.5: [5] (4) (4) | [8]
        0.6: [6] (4) (4) | [8]
        0.7: [7] (4) (4) | [8]
        0.8: [4]k [4]k (4) (4) | [8]
        1.5: [4]k [2]k [3]k (4) (4) | [8]
        1.6: [4]k [2]k [2]k | [2]k (4) (4) | [8]
        0.1: [2]k [3]k [2]k [2]k | [2]k (4) (4) | [8]
        0.2: [2]k [2]k [2]k [2]k [2]k | [2]k (4) (4) | [8]
        0.3: [2]k [3]k [2]k [2]k [2]k | [2]k (4) (4) | [8]
        0.4: [2]k [2]k [2]k | [2]k [2]k [2]k | [2]k (4) (4) | [8]
        0.05: [3]k [2]k [2]k | [2]k [2]k [2]k | [2]k (4) (4) | [8]
        5.5: [3]k [2]k [2]k | [2]k [2]k [2]k | [2]k [5] (4) | [8]
        5.6: [3]k [2]k [2]k | [2]k [2]k [2]k | [2]k [6] (4) | [8]
        5.7: [3]k [2]k [2]k | [2]k [2]k [2]k | [2]k [7] (4) | [8]
        5.8: [3]k [2]k [2]k | [2]k [2]k [2]k | [2]k [4]k [4]k (4) | [8]
        4.5: [3]k [2]k [2]k | [2]k [2]k [2]k | [2]k [2]k [3]k [4]k (4) | [8]
        4.6: [3]k [2]k [2]k | [2]k [2]k [2]k | [2]k [2]k [2]k | [2]k [4]k (4) | [8]
    """,
    "a run behind the front is opened and split likewise": """
        0..39: (4) (4) (4) | <(4) (4) (4)> | (4) (4) (4) [4]
        13.5: (4) (4) (4) | [5] (4) (4) | (4) (4) (4) [4]
        13.6: (4) (4) (4) | [6] (4) (4) | (4) (4) (4) [4]
        13.7: (4) (4) (4) | [7] (4) (4) | (4) (4) (4) [4]
        13.8: (4) (4) (4) | [4]k [4]k (4) (4) | (4) (4) (4) [4]
        13.9: (4) (4) (4) | [4]k [2]k [3]k (4) (4) | (4) (4) (4) [4]
        13.1: (4) (4) (4) | [2]k [3]k [2]k | [3]k (4) (4) | (4) (4) (4) [4]
        13.2: (4) (4) (4) | [2]k [2]k [2]k [2]k | [3]k (4) (4) | (4) (4) (4) [4]
        13.3: (4) (4) (4) | [2]k [2]k [3]k [2]k | [3]k (4) (4) | (4) (4) (4) [4]
        17.5: (4) (4) (4) | [2]k [2]k [3]k [2]k | [3]k [5] (4) | (4) (4) (4) [4]
        21.5: (4) (4) (4) | [2]k [2]k [3]k [2]k | [3]k [5] [5] | (4) (4) (4) [4]
        27.5: (4) (4) (4) | [2]k [2]k [3]k [2]k | [3]k [5] [5] | (4) [5] (4) [4]
        38.5: (4) (4) (4) | [2]k [2]k [3]k [2]k | [3]k [5] [5] | (4) [5] (4) [5]
        37.5: (4) (4) (4) | [2]k [2]k [3]k [2]k | [3]k [5] [5] | (4) [5] (4) [6]
    """,
    "behind the front the tail that is full of late messages is sealed": """
        0..19: (4) (4) (4) | [8]
        18.5: (4) (4) (4) | (4) [5]
        17.5: (4) (4) (4) | (4) [6]
        12.5: (4) (4) (4) | [5] [6]
        12.4: (4) (4) (4) | [6] [6]
    """,
}


@pytest.mark.parametrize("scene", SCENES)
def test_chunks_and_runs_look_as_told_while_it_grows(scene: str, monkeypatch: pytest.MonkeyPatch) -> None:
    resize(monkeypatch, **SIZES)
    assert played(SCENES[scene]) == told_in(SCENES[scene])
