"""run.json: what a run is, what it plans, what state it is in, and which files are its own."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from glob import glob
from pathlib import Path
from typing import Any

from lab.case import TARGET, parse_key, stem_of
from lab.record import SCHEMA_VERSION, SchemaError, check_version
from lab.storage import Flaw, digest_of, write_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "run.json"
KIND = "timer-queue-lab run"
RUNNING, COMPLETE, INTERRUPTED = "running", "complete", "interrupted"
STATES = (RUNNING, COMPLETE, INTERRUPTED)

MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {
    version: lambda content: content for version in (1, 2)
}
"""version -> the function that turns the content of a run.json of that version into one of the next version."""

FIELDS: dict[str, type | tuple[type, ...]] = {
    "machine": str,
    "suite": str,
    "seed": int,
    "options": dict,
    "environment": dict,
    "planned": list,
    "targets": dict,
    "state": str,
    "started_utc": str,
    "ended_utc": (str, type(None)),
    "files": dict,
}


OPTIONS: dict[str, type | tuple[type, ...]] = {
    "clock": str,
    "gc": str,
    "memray": bool,
    "processes": int,
    "left_out": str,
    "interpreters": list,
}
FACTS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(
        ("label", "processor", "architecture", "system", "kernel", "libc", "python", "implementation"), str
    ),
    **dict.fromkeys(("governor", "clocksource", "huge_pages", "commit", "started_utc"), str),
    **dict.fromkeys(("cores", "cores_usable", "memory_bytes", "memory_limit_bytes", "aslr"), int),
    **dict.fromkeys(("virtual", "boost", "dirty"), bool),
    **dict.fromkeys(("python_build", "packages"), dict),
    "cpu_quota": (int, float),
    "load_average": list,
}
"""The options and the facts of the environment that are read again, and their types; each may be unknown (None)."""


@dataclass
class Manifest:
    """The content of run.json; `planned` holds (key, process), `files` name -> {"sha256", "bytes"} of a sealed run."""

    machine: str
    suite: str
    seed: int
    options: dict[str, Any]
    environment: dict[str, Any]
    planned: list[tuple[str, int]]
    targets: dict[str, str]
    started_utc: str
    state: str = RUNNING
    ended_utc: str | None = None
    files: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def stems(self) -> dict[str, tuple[str, int]]:
        """The stem of every planned execution's files -> (key, process)."""
        return {stem_of(key, process): (key, process) for key, process in self.planned}


def save(run: Path, manifest: Manifest) -> None:
    """Write run.json into the folder of the run, whole or not at all, with a digest of itself."""
    content = {"kind": KIND, "schema_version": SCHEMA_VERSION, **asdict(manifest)}
    content["planned"] = [{"key": key, "process": process} for key, process in manifest.planned]
    content["digest"] = digest_of(content)
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    write_whole(run / NAME, f"{text}\n".encode())


def load(run: Path) -> Manifest:
    """Return what run.json in the folder of the run says; a Flaw when it is missing, damaged, foreign or newer."""
    content = _content(run)
    if content.get("kind") != KIND:
        raise Flaw(f"{NAME} was not written by this lab: expected its kind to be {KIND!r}")
    version = content.get("schema_version")
    try:
        check_version(version)
    except SchemaError as error:
        raise Flaw(f"{NAME} cannot be read: {error}") from None
    if content.pop("digest", None) != _digest(content):
        raise Flaw(f"{NAME} is not what was written: its content was edited")
    assert isinstance(version, int)
    for older in range(version, SCHEMA_VERSION):
        if older not in MIGRATIONS:
            raise Flaw(f"{NAME} has schema version {older}, from which no way leads to {SCHEMA_VERSION}")
        content = MIGRATIONS[older](content)
    return _manifest(content)


def find_runs(root: Path) -> list[Path]:
    """Return the folders of all runs under the results folder (machine/run or reference/machine/run), oldest first.

    What cannot be entered is passed over. O(folders).
    """
    places = (glob(f"{depth}/{NAME}", root_dir=root) for depth in ("*/*", "*/*/*"))  # noqa: PTH207 - Path.glob stops
    found = {(root / place).parent for each in places for place in each}
    return sorted(found, key=lambda path: ([part.zfill(20) for part in re.split(r"(\d+)", path.name)], path.parts))


def _content(run: Path) -> dict[str, Any]:
    try:
        text = (run / NAME).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise Flaw(f"{NAME} is missing: this folder is no run, or not a whole one") from None
    except UnicodeDecodeError:
        raise Flaw(f"{NAME} is no readable JSON: it was cut off or edited") from None
    except OSError as error:
        raise Flaw(f"{NAME} cannot be read ({error.strerror})") from None
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise Flaw(f"{NAME} is no readable JSON: it was cut off or edited") from None
    if not isinstance(content, dict):
        raise Flaw(f"{NAME} was not written by this lab: expected an object with its kind")
    return content


def _digest(content: dict[str, Any]) -> str | None:
    """Return the digest of what a run.json says; None for what no run.json can say, such as NaN or half a character."""
    try:
        json.dumps(content, ensure_ascii=False).encode()
        return digest_of(content)
    except (ValueError, RecursionError):
        return None


def _manifest(content: dict[str, Any]) -> Manifest:
    """Return the manifest, every field of it checked: what is read here decides which files are opened."""
    for name, wanted in FIELDS.items():
        if name not in content or not isinstance(content[name], wanted) or isinstance(content[name], bool):
            raise Flaw(f"{NAME} has {_shown(content.get(name))} as its {name}: the lab never writes that")
    if content["state"] not in STATES:
        raise Flaw(f"{NAME} has the state {_shown(content['state'])}: expected one of {', '.join(STATES)}")
    planned = [_execution(item) for item in content["planned"]]
    if not planned or len(set(planned)) != len(planned):
        raise Flaw(f"{NAME} plans {len(planned)} executions, {len(set(planned))} different: expected each once")
    for key in {key for key, _ in planned}:
        try:
            parse_key(key)
        except ValueError as error:
            raise Flaw(f"{NAME} plans something that is no execution ({error})") from None
    _require_files(content["files"])
    _require_targets(content["targets"], {key for key, _ in planned})
    for name, facts in (("options", OPTIONS), ("environment", FACTS)):
        _require_types(content[name], facts, name)
    return Manifest(**{**{name: content[name] for name in FIELDS}, "planned": planned})


def _execution(item: Any) -> tuple[str, int]:
    """Return (key, process) of one planned execution."""
    key, process = (item.get("key"), item.get("process")) if isinstance(item, dict) else (None, None)
    if not isinstance(key, str) or type(process) is not int or not 0 <= process < 2**31:
        raise Flaw(f"{NAME} plans something that is no execution ({_shown(item)})")
    return key, process


def _require_files(files: dict[str, Any]) -> None:
    for name, entry in files.items():
        if not re.fullmatch(r"([a-z]+/)?[a-zA-Z0-9=,._-]+\.(parquet|folded)", name):
            raise Flaw(f"{NAME} lists {_shown(name)}, which is no file of a run")
        known = entry if isinstance(entry, dict) else {}
        if not re.fullmatch(r"[0-9a-f]{64}", str(known.get("sha256"))) or type(known.get("bytes")) is not int:
            raise Flaw(f"{NAME} lists {name} with {_shown(entry)}: expected its sha256 and its bytes")


def _require_targets(targets: dict[str, Any], keys: set[str]) -> None:
    for key, target in targets.items():
        if key not in keys or not isinstance(target, str) or not TARGET.fullmatch(target):
            raise Flaw(f"{NAME} has the target {_shown(target)} for {_shown(key)}: the lab never writes that")


def _require_types(found: dict[str, Any], wanted: dict[str, type | tuple[type, ...]], name: str) -> None:
    """Refuse a fact of the wrong type; a fact that is not known here is some later lab's, and nobody reads it."""
    for fact, kind in wanted.items():
        value = found.get(fact)
        if value is not None and (not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool)):
            raise Flaw(f"{NAME} has {_shown(value)} as the {fact} in its {name}: the lab never writes that")


def _shown(value: Any) -> str:
    """Return a value for a sentence: in one line that is not long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
