"""What the notebooks' functions say about runs made by code: the run that is chosen, theory, heat, guide, pictures."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest

from lab.archive import ArchiveError
from lab.case import Case
from lab.evidence import Evidence
from lab.figure_calls import calls_over_index, slowest
from lab.figure_heat import heat, leaders, level
from lab.figure_panel import Drawing
from lab.figure_scaling import exponent, series
from lab.figure_tail import curve, reach, tails
from lab.histogram import encode
from lab.notebook import Reading, about, choose, claims, flat, nothing
from lab.notebook_cost import cycle, enqueue, life
from lab.notebook_guide import Missing, Workload, between, guide, life_of
from lab.notebook_html import Shaded, bundle, html
from lab.notebook_latency import curves, over_index
from lab.notebook_machines import choose_all, names, rankings
from lab.notebook_theory import LAWS, theory
from lab.rank import least_n
from lab.site_verdict import verdict
from lab.table import Table
from tests.lab.replays import RESIDENT, rows_of, spread, stored
from tests.notebooks import small


@pytest.fixture(scope="module")
def reading(tmp_path_factory: pytest.TempPathFactory) -> Reading:
    return Reading(small.make(tmp_path_factory.mktemp("pieces")))


def words(pieces: list[Any]) -> str:
    return "\n".join(bundle(piece)["text/plain"] for piece in pieces)


def test_the_newest_run_of_ones_own_is_read_and_else_the_reference_run(tmp_path: Path) -> None:
    reference = stored(tmp_path, {(RESIDENT, "resident"): spread(209)})
    (tmp_path / "reference").mkdir()
    kept = reference.rename(tmp_path / "reference" / "20990101T000000Z-standard")
    assert choose(results=tmp_path).run.path == kept
    own = stored(tmp_path, {(RESIDENT, "resident"): spread(209)})
    assert choose(results=tmp_path).run.path == own
    assert choose(kept.name, results=tmp_path).run.path == kept
    assert choose(kept, results=tmp_path).run.path == kept


def test_a_family_is_read_from_a_run_that_has_it(tmp_path: Path) -> None:
    other = Case.of("latency", "advisory", "heap", "next-job", jobs=10)
    advisory = stored(tmp_path, {(other, "next_job"): spread(900)})
    timer = stored(tmp_path, {(RESIDENT, "resident"): spread(209)})
    assert choose(family="advisory", results=tmp_path).run.path == advisory
    assert choose(results=tmp_path).run.path == timer
    assert choose(family="advisory", results=tmp_path).subjects == ["heap"]
    assert choose(family="ticker", results=tmp_path).rows == []


def test_a_run_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="nowhere"):
        choose("nowhere", results=tmp_path)
    with pytest.raises(ArchiveError, match="there is no run"):
        choose(results=tmp_path)


def test_a_run_says_what_it_lacks(tmp_path: Path) -> None:
    said = words(about(Reading(small.make_unfinished(tmp_path))))
    assert "(interrupted)" in said
    assert re.search(r"\d+ of \d+ executions are missing", said)
    assert "have no figure" in words(about(Reading(small.make(tmp_path, broken=True))))


def test_claims_are_chosen_by_name_and_none_is_said_to_be_none(reading: Reading) -> None:
    (table,) = claims(reading, "memory-per-message")
    assert isinstance(table, Table)
    assert [row[3] for row in table.rows] == ["holds"]
    assert claims(reading, "no-such-claim") == [nothing("the claims no-such-claim")]


def test_theory_stands_beside_what_was_measured(reading: Reading) -> None:
    table, sentence = theory(reading, "put the batch back", along="due")
    assert isinstance(table, Table)
    by_subject = {row[2]: row for row in table.rows}
    assert by_subject["linked"][5] == "1,000"
    assert by_subject["linked"][-1] == "agrees"
    assert by_subject["linked-known-tail"][3] == "does not depend on it"
    assert by_subject["linked-known-tail"][-1] == "agrees"
    assert str(sentence).startswith(f"**Theory and measurement agree in {len(table.rows)} of {len(table.rows)} rows")


def test_theory_that_is_contradicted_is_said_to_be(tmp_path: Path) -> None:
    def of(due: int) -> Case:
        return Case.of("latency", "timer", "linked-known-tail", "cycle", calls=400, due=due, queued=200)

    made = stored(tmp_path, {(of(10), "requeue"): spread(2_000), (of(10_000), "requeue"): spread(90_000)})
    table, sentence = theory(Reading(made))
    assert isinstance(table, Table)
    assert [row[-1] for row in table.rows] == ["grows more"]
    assert "agree in 0 of 1 rows.** Grows more: `linked-known-tail` (put the batch back, over due)." in str(sentence)


def test_the_laws_name_only_sizes_that_their_workloads_have() -> None:
    cases = small.cases()
    for law in LAWS:
        assert law.along in {name for case in cases if case.workload == law.workload for name in case.parameters}


def test_the_heat_table_has_ratios_and_shades_that_say_the_same(reading: Reading) -> None:
    shaded = heat(reading.good, reading.cases)
    assert shaded.table.header == ("operation", "linked", "linked-known-tail", "chunked", "heap")
    row = next(row for row in shaded.table.rows if row[0] == "memory a message")
    assert row[1:4] == ("1.24", "1.24", "1.00")
    assert leaders(shaded)["enqueue, in order"] == "chunked"
    for (line, column), shade in shaded.shades.items():
        said = float(shaded.table.rows[line][column].split()[0].replace(",", ""))
        assert abs(level(max(said, 0.005)) - shade) <= 1


def test_a_shaded_cell_is_shaded_and_its_text_is_escaped() -> None:
    said = html(Table("`a` & b", ("x",), (("<1",), ("2",))), {(0, 0): -2})
    assert '<td style="background:rgba(31,119,200,0.26)">&lt;1</td>' in said
    assert "<td>2</td>" in said
    assert "<code>a</code> &amp; b" in said


@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(99, 100), Fraction(999, 1000)])
def test_a_curve_ends_where_its_percentiles_have_no_interval(q: Fraction) -> None:
    assert 1 - 10 ** -reach(least_n(q)) >= float(q) - 1e-9
    assert 1 - 10 ** -reach(least_n(q) - 1) < float(q)


def test_a_curve_is_that_of_the_samples_within_a_percent() -> None:
    drawn = np.random.default_rng(1).exponential(10_000, 5_000).astype(np.int64) + 500
    found = encode(drawn)
    row = {"histogram_bucket": found.bucket.tolist(), "histogram_count": found.count.tolist(), "calls_per_sample": 1}
    quantiles = [0.0, 0.5, 0.9, 0.99, 0.999]
    exact = np.quantile(drawn, quantiles, method="inverted_cdf")
    assert curve(row, quantiles) == pytest.approx(exact, rel=0.01)
    assert curve({"histogram_bucket": None}, quantiles) is None


def test_curves_have_the_null_call_as_their_floor_and_say_who_is_slow(reading: Reading) -> None:
    found = curves(reading, "steady-enqueue")
    assert isinstance(found[0], Drawing)
    assert "a call that does nothing 602 ns" in found[0].said
    assert "null call, p50 602 ns" in found[0].svg
    assert re.search(r"One enqueue of steady-enqueue in 1,000 takes longer than .* on `chunked`", words(found))


def test_too_few_calls_give_no_curve(reading: Reading) -> None:
    assert curves(reading, "window-cycle") == [nothing("the workload window-cycle")]
    assert tails("none", []) == []


def test_the_structural_worst_call_is_named_where_it_is(reading: Reading) -> None:
    found = over_index(reading, "growth")
    assert [piece for piece in found if isinstance(piece, Drawing)]
    assert "(call 2,666" in words(found[-1:])
    assert over_index(reading, "no-such") == [nothing("structural worst calls of no-such")]


def test_causes_stand_beside_the_calls_they_are_known_of() -> None:
    case = {
        "subject": "array",
        "structural_worst_index": 7,
        "structural_worst_ns": 900,
        "worst_index": [7, 3],
        "worst_ns": [900, 400],
        "worst_cause": ["growth: list to 100 bytes", "not looked for"],
    }
    assert slowest(case) == [(7, 900, "growth"), (3, 400, "")]
    row = {"subject": "array", "n": 10, "warmup": 0, "p50_ns": 100.0}
    raw = {"array": {0: np.full(10, 100, dtype=np.int64), 1: np.full(10, 110, dtype=np.int64)}}
    for calls in ({}, raw):
        (drawn,) = calls_over_index("growth", [case], [row], calls)
        assert "900 ns growth" in drawn.svg


def test_a_slope_needs_two_sizes_and_positive_values() -> None:
    assert exponent([(10, 1.0)]) is None
    assert exponent([(10, 1.0), (100, 0.0)]) is None
    assert exponent([(10, 7.0), (1000, 7.0)]) == 0


def test_costs_over_a_size_come_with_who_costs_least(reading: Reading) -> None:
    found = series(reading.good, "due", kind="latency", workload="cycle", operation="take", queued=20_000)
    assert list(found) == ["linked", "linked-known-tail", "array", "chunked", "heap"]
    assert list(found["array"]) == [10, 1_000, 10_000]
    assert "`chunked` costs least" in words(cycle(reading, "take"))
    assert enqueue(reading, "sideways") == [nothing("the workload enqueue-sideways")]
    assert "Of 3 patterns of starts" in words(life(reading))


def evidence(subject: str, **changes: float) -> Evidence:
    """Rows of one subject with a round figure for everything that the guide reads."""

    def of(kind: str, workload: str, **sizes: int) -> Case:
        return Case(kind, "timer", subject, workload, tuple(sizes.items()))

    figures: dict[tuple[Case, str], list[float]] = {
        (of("cost", "enqueue-in-order", messages=1_000), "enqueue-in-order"): spread(100, 0),
        (of("cost", "enqueue-out-of-order", messages=1_000), "enqueue-out-of-order"): spread(1_000, 0),
        (of("batched", "life-all-ties", messages=2_000), "life"): spread(550, 0),
        (of("batched", "life-constant-delay", messages=2_000), "life"): spread(500, 0),
        (of("batched", "process", messages=1_000), "process"): spread(200, 0),
    }
    for due in (10, 1_000):
        case = of("latency", "cycle", calls=400, due=due, queued=1_000)
        figures[case, "take"] = spread(10.0 * due, 0)
        figures[case, "requeue"] = spread(5.0 * due, 0)
    rows = rows_of(figures)
    for row in rows:
        row["net_p50_ns"] = row["p50_ns"]
        row["mean_ns"] = row["p50_ns"]
    return Evidence(row for row in rows if row["workload"] not in changes)


def test_the_life_of_a_message_is_the_sum_of_its_parts_by_their_shares() -> None:
    workload = Workload(in_order=0.7, late=0.2, ties=0.1, queued=1_000, batch=100, unused=0.5)
    life = life_of(evidence("array"), "array", workload)
    assert median(life.enqueue.values()) == pytest.approx(0.8 * 100 + 0.2 * 1_000 + 0.1 * 50)
    assert median(life.take.values()) == pytest.approx(10.0 * 100 / 50)
    assert median(life.put_back.values()) == pytest.approx(5.0 * 50 / 50)
    assert median(life.process.values()) == 200
    assert life.total == pytest.approx([285 + 20 + 5 + 200] * 5)
    assert "take of cycle, 1,000 queued, 10 and 1,000 due" in life.rows


def test_what_has_no_share_need_not_have_been_measured() -> None:
    without = evidence("array", **{"enqueue-out-of-order": 1, "life-all-ties": 1})
    assert life_of(without, "array", Workload(queued=1_000, batch=10, unused=0.0)).total
    with pytest.raises(Missing, match="enqueue-out-of-order: messages: not measured"):
        life_of(without, "array", Workload(0.9, 0.1, 0.0, 1_000, 10, 0.0))


def test_a_size_far_from_what_was_measured_is_refused_and_a_near_one_read_off_the_nearest() -> None:
    assert between({10: {0: 5.0}}, 100, "take: due") == ({0: 5.0}, "10")
    with pytest.raises(Missing, match="take: due 101 is more than 10 times away from 10"):
        between({10: {0: 5.0}}, 101, "take: due")
    with pytest.raises(Missing, match="not measured"):
        between({}, 5, "take: due")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"late": 0.5}, "add up to 1.5: expected 1"),
        ({"in_order": 1.5, "late": -0.5}, "add up to 1: expected 1"),
        ({"unused": 1.0}, "expected at least 1 message"),
        ({"batch": 0}, "expected at least 1 message"),
    ],
)
def test_a_workload_that_cannot_be_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        Workload(**changes)


def test_the_guide_ranks_says_what_it_used_and_whom_it_left_out(tmp_path: Path) -> None:
    broken = Reading(small.make(tmp_path, broken=True))
    table, answer, left_out, used = guide(broken, Workload(queued=20_000, batch=1_000))
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows] == ["chunked", "array", "linked-known-tail"]
    assert "`chunked` is cheapest" in str(answer)
    assert left_out == "- `linked` is left out: process was not measured."
    assert isinstance(used, Table)
    assert all(row[1] == "chunked, array, linked-known-tail" for row in used.rows)


def test_a_guide_without_rows_says_so(tmp_path: Path) -> None:
    bare = Reading(stored(tmp_path, {(RESIDENT, "resident"): spread(209)}))
    assert "No subject has the rows" in words(guide(bare, Workload()))


def test_the_verdict_names_a_queue_its_slowest_call_and_why(reading: Reading, tmp_path: Path) -> None:
    said = verdict(reading)
    assert said.startswith("**Use `chunked`.** Over 3 patterns")
    assert "The slowest call of its own making takes" in said
    assert "A message takes 170 B of memory" in said
    assert "Every case ran in 5 fresh processes" in said
    assert re.search(r"Of \d+ claims of the documents \d+ hold", said)
    bare = Reading(stored(tmp_path, {(RESIDENT, "resident"): spread(209)}))
    assert verdict(bare).startswith("**This run cannot say which queue to use:**")


def test_runs_are_named_by_machine_and_interpreter_and_ranked_side_by_side(tmp_path: Path) -> None:
    small.make(tmp_path, "one")
    small.make(tmp_path, "two", subjects=("array", "heap"))
    found = choose_all(results=tmp_path)
    assert sorted(names(found)) == ["one", "two"]
    twice = [found[0], found[0]]
    assert names(twice) == [found[0].name] * 2
    table, said = rankings(found)
    assert isinstance(table, Table)
    assert set(table.header[1:]) == {"one", "two"}
    assert "The runs agree on" in str(said)


def test_pieces_and_lists_of_them_become_one_list() -> None:
    table = Table("t", ("a",), ())
    shaded = Shaded(table, {})
    assert flat(["a", [table, "b"], shaded]) == ["a", table, "b", shaded]
