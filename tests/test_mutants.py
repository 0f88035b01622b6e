"""The counting of mutants: what is counted, what a share is, and a whole count of a module of two functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import mutants
from tests.mutants import LEFT_OUT, PLAN, Outcome, chosen, main, summary

ROOT = Path(__file__).resolve().parent.parent
ASKED = {f"lab/{name}.py" for name in ("units", "sample", "verdict", "scaling", "record")}


def test_every_module_of_the_core_is_counted_or_left_out_with_a_reason() -> None:
    timer = {path.relative_to(ROOT).as_posix() for path in (ROOT / "queues" / "timer").glob("*.py")}
    assert (set(PLAN) | set(LEFT_OUT)) - ASKED == timer - {"queues/timer/__init__.py"}
    assert set(PLAN) >= ASKED
    assert not set(PLAN) & set(LEFT_OUT)
    assert all(LEFT_OUT.values())


def test_the_tests_of_every_module_are_there() -> None:
    named = [given for tests in PLAN.values() for given in tests if given.endswith(".py")]
    assert len(named) > len(PLAN)
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_only_what_a_test_noticed_counts() -> None:
    fates = {"a": "killed", "b": "timeout", "c": "survived", "d": "no test", "e": "exit code -9"}
    found = Outcome("lab/units.py", fates)
    assert found.share == pytest.approx(2 / 5)
    assert found.unnoticed == ["c", "d", "e"]
    assert summary([found]).rows == (("lab/units.py", "5", "1", "1", "1", "2", "40.0 %"),)


def test_a_share_is_never_shown_as_more_than_it_is() -> None:
    fates = {str(number): "killed" if number < 8_999 else "survived" for number in range(10_000)}
    assert summary([Outcome("lab/units.py", fates)]).rows[0][-1] == "89.9 %"


def test_a_pattern_chooses_and_what_fits_nothing_is_refused_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert chosen([]) == list(PLAN)
    assert chosen(["lab/s*.py"]) == ["lab/sample.py", "lab/scaling.py"]
    for wrong, said in (("lab/cli.py", "'lab/cli.py' fits no module"), ("queues/timer/redis.py", "it is left out")):
        with pytest.raises(SystemExit) as ended:
            main([wrong])
        assert ended.value.code == 2
        assert said in capsys.readouterr().err


def test_what_was_never_counted_has_no_survivors_to_try_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mutants, "WORK", tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["--again", "lab/units.py"])
    assert ended.value.code == 2
    assert "run it without --again first" in capsys.readouterr().err


CODE = '''"""Made up."""


def total(numbers):
    left = sum(numbers)
    found = 0
    while left > 0:
        left -= 1
        found += 1
    return found


def untested(number):
    return number + 1
'''
TEST = """from lab.units import total


def test_total():
    assert total([1, 2]) == 3
"""
SECOND = """

def test_untested():
    from lab.units import untested

    assert untested(2) == 3
"""


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lab of one module with one test, its time limit a short one."""
    for name, text in {
        "lab/__init__.py": "",
        "lab/units.py": CODE,
        "tests/__init__.py": "",
        "tests/lab/__init__.py": "",
        "tests/lab/test_units.py": TEST,
        "tests/mutants_limits.py": Path(ROOT / "tests/mutants_limits.py").read_text().replace("= 8.0", "= 0.4"),
        "pyproject.toml": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    monkeypatch.setattr(mutants, "WORK", tmp_path / "build")
    monkeypatch.setattr(mutants, "COPIED", ("lab", "tests", "pyproject.toml"))
    return tmp_path


@pytest.mark.processes
def test_changes_are_noticed_loop_for_ever_or_reach_no_test(small: Path) -> None:
    found = mutants.count("lab/units.py", again=False, children=2)
    fates = {name.partition("x_")[2]: fate for name, fate in found.fates.items()}
    assert {fate for name, fate in fates.items() if name.startswith("untested")} == {"no test"}
    assert {fate for name, fate in fates.items() if name.startswith("total")} == {"killed", "timeout"}
    assert 0 < found.share < 1
    tests = small / "tests" / "lab" / "test_units.py"
    tests.write_text(TEST + SECOND, encoding="utf-8")
    again = mutants.count("lab/units.py", again=True, children=2)
    assert again.share == 1
    assert set(again.fates) == set(found.fates)
    source = small / "lab" / "units.py"
    source.write_text(CODE.replace("found += 1", "found += 1  # pragma: no mutate: made up"), encoding="utf-8")
    fewer = mutants.count("lab/units.py", again=True, children=2)
    assert fewer.share == 1
    assert 0 < len(fewer.fates) < len(found.fates)


@pytest.mark.processes
def test_tests_that_fail_as_it_is_are_told_and_give_no_share(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (small / "tests" / "lab" / "test_units.py").write_text(TEST.replace("== 3", "== 4"), encoding="utf-8")
    assert main(["lab/units.py"]) == 4
    assert "lab/units.py was not counted" in capsys.readouterr().err
