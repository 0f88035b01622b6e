"""The store of a durable queue in Redis: one named queue, in one sorted set and a few small keys.

Idea        The score is the float of a place, the member its rest, a position and the line, so that equal scores stand
            in the order of rest and position. Scripts run as a whole on the server: one cuts a batch, one adds rows.
Source      Delayed queues in Redis are sorted sets by time of start (Sidekiq, BullMQ); theirs lose the order of ties.
Invariants  A member is head, position (8 bytes), line and, after a rest, the length of it (2 bytes): the head is a 0
            without a rest, a 1 and the rest with one. Positions count up from 2**52 for arrivals, down for what is put
            back.
Weakness    While a script runs the server does nothing else. All is in memory; what survives a server that dies is
            what its append-only file has, which `appendfsync` decides.
"""

from __future__ import annotations

import errno
from contextlib import suppress
from secrets import token_hex

from redis import Redis
from redis.exceptions import ConnectionError as Unreachable
from redis.exceptions import OutOfMemoryError, RedisError
from redis.exceptions import TimeoutError as Slow

from queues.addresses import url_of
from queues.timer.durable import checked, rows_of

TYPE_CHECKING = False  # a worker process does not pay for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from queues.timer.durable_place import Place
    from queues.timer.durable_store import Row

    Result = TypeVar("Result")

ORIGIN = 2**52  # positions are kept as whole numbers above 0, and Lua counts in doubles
ROWS_A_SCRIPT = 100_000  # a command has at most 1,048,576 arguments
POSITION_BYTES = 8
BEHIND_ALL = b"\xff"
INSERT = """
local function insert(first, from)
    for at = from, #ARGV, 3 do
        local position = struct.pack('>I8', first + (at - from) / 3)
        redis.call('ZADD', KEYS[1], ARGV[at], ARGV[at + 1] .. position .. ARGV[at + 2])
    end
end
"""
ADD = (
    INSERT
    + """
local count = #ARGV / 3
insert(4503599627370496 + redis.call('HINCRBY', KEYS[2], 'next', count) - count, 1)
"""
)
PUT_BACK = (
    INSERT
    + """
local until_ = redis.call('ZSCORE', KEYS[3], ARGV[1])
if not until_ or tonumber(until_) > tonumber(ARGV[2]) then return false end
local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
insert(4503599627370496 + redis.call('HINCRBY', KEYS[2], 'first', -(#ARGV - 2) / 3), 3)
redis.call('ZREM', KEYS[3], ARGV[1])
redis.call('HDEL', KEYS[4], ARGV[1])
redis.call('HDEL', KEYS[5], ARGV[1])
return first
"""
)
CUT = """
local function before(one, other)
    for at = 1, math.min(#one, #other) do
        local left, right = one:byte(at), other:byte(at)
        if left ~= right then return left < right end
    end
    return #one < #other
end
local due = redis.call('ZCOUNT', KEYS[1], '-inf', ARGV[1])
local sure = redis.call('ZCOUNT', KEYS[1], '-inf', '(' .. ARGV[1])
while due > sure and not before(redis.call('ZRANGE', KEYS[1], due - 1, due - 1)[1], ARGV[2]) do due = due - 1 end
due = math.min(due, tonumber(ARGV[3]))
if due == 0 then return false end
local lines = redis.call('ZRANGE', KEYS[1], 0, due - 1)
for at, member in ipairs(lines) do
    if member:byte(1) == 0 then
        lines[at] = member:sub(10)
    else
        lines[at] = member:sub(10 + struct.unpack('>I2', member:sub(-2)), -3)
    end
end
local text = table.concat(lines, '\\n')
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, due - 1)
local lease = redis.call('HINCRBY', KEYS[2], 'lease', 1)
redis.call('ZADD', KEYS[3], ARGV[4], lease)
redis.call('HSET', KEYS[4], lease, text)
redis.call('HSET', KEYS[5], lease, 0)
return {lease, text}
"""
CONFIRM = """
if not redis.call('ZSCORE', KEYS[3], ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[1])
redis.call('HSET', KEYS[5], ARGV[1], ARGV[2])
return 1
"""
FINISH = """
redis.call('HDEL', KEYS[4], ARGV[1])
redis.call('HDEL', KEYS[5], ARGV[1])
return redis.call('ZREM', KEYS[3], ARGV[1])
"""
REWRITE = """
if not redis.call('ZSCORE', KEYS[3], ARGV[1]) then return 0 end
redis.call('HSET', KEYS[4], ARGV[1], ARGV[2])
return 1
"""


class RedisStore:
    """One named queue in one database; queues.timer.durable_store.Store says what each call does."""

    def __init__(self, url: str | None, name: str | None) -> None:
        """Connect; without a name, a queue that `close` removes."""
        self.private = name is None
        self.redis: Any = Redis.from_url(url_of("redis", url))
        name = name or f"private {token_hex(8)}"
        self.keys = [f"timer-queue:{{{name}}}:{part}" for part in ("messages", "numbers", "leases", "held", "done")]
        self.messages, _, self.leases, self.held, self.done = self.keys
        scripts = (ADD, PUT_BACK, CUT, CONFIRM, FINISH, REWRITE)
        try:
            self.scripts = {text: self.redis.register_script(text) for text in scripts}
            self._told(lambda redis: redis.ping())
        except BaseException:
            self.redis.close()
            raise

    def _told(self, action: Callable[[Any], Result]) -> Result:
        """Return what `action` returns; errors of the connection are told without its address."""
        if self.redis is None:
            raise ValueError("the queue is closed: open another one of the same name")
        try:
            return action(self.redis)
        except (Unreachable, Slow) as error:
            raise ConnectionError(
                f"the Redis server is gone ({type(error).__name__}): what it had written is safe there, open another "
                "queue of the same name when it is back"
            ) from None
        except OutOfMemoryError:
            raise OSError(errno.ENOSPC, "the Redis server has no memory left; the queue is as it was") from None

    def _script(self, text: str, *arguments: Any) -> Any:
        return self._told(lambda _: self.scripts[text](keys=self.keys, args=arguments))

    def add(self, rows: list[Row]) -> None:
        """One script; several in one transaction where a command could not carry all."""

        def sent(redis: Any) -> None:
            with redis.pipeline(transaction=True) as pipeline:
                for at in range(0, len(rows), ROWS_A_SCRIPT):
                    self.scripts[ADD](keys=self.keys, args=_words(rows[at : at + ROWS_A_SCRIPT]), client=pipeline)
                pipeline.execute()

        if len(rows) <= ROWS_A_SCRIPT:
            self._script(ADD, *_words(rows))
        else:
            self._told(sent)

    def cut(self, at: Place, limit: int | None, now: float, until: float) -> tuple[int, str] | None:
        """One script; and a look for leases that have run out."""
        self._settle(now)
        low, rest = at
        most = 2**52 if limit is None else min(limit, 2**52)
        found = self._script(CUT, repr(low), _head(rest) + BEHIND_ALL, most, repr(until))
        return (int(found[0]), found[1].decode()) if found else None

    def _settle(self, now: float) -> None:
        """Put back what is left of leases that have run out, the youngest first, so that the oldest ends in front."""
        expired = self._told(lambda redis: redis.zrangebyscore(self.leases, "-inf", repr(now)))
        for lease in sorted(map(int, expired), reverse=True):
            text, done = self._told(lambda redis: (redis.hget(self.held, lease), redis.hget(self.done, lease)))  # noqa: B023 - called at once
            if text is not None and done is not None:  # nobody else has put it back meanwhile
                self._script(PUT_BACK, lease, repr(now), *_words(rows_of(text.decode(), int(done))))

    def confirm(self, lease: int, done: int, until: float) -> bool:
        """One script."""
        return bool(self._script(CONFIRM, lease, done, repr(until)))

    def finish(self, lease: int) -> bool:
        """One script."""
        return bool(self._script(FINISH, lease))

    def rewrite(self, lease: int, text: str) -> bool:
        """One script, with all lines of the lease."""
        return bool(self._script(REWRITE, lease, text))

    def put_back(self, lease: int, rows: list[Row]) -> bool | None:
        """One script, at positions below all that were there."""
        found = self._script(PUT_BACK, lease, "inf", *_words(rows))
        if found is None:
            return None
        return bool(found) and _row(found[0], float(found[1]))[:2] < rows[-1][:2]

    def at(self, where: Place, now: float) -> list[tuple[int, str]]:
        """A look-up by score."""
        self._settle(now)
        low, rest = where
        found = self._told(lambda redis: redis.zrangebyscore(self.messages, repr(low), repr(low)))
        rows = [_row(member, low) for member in found]
        return [(position, line) for _, own, position, line in rows if own == rest]

    def remove(self, where: Place, position: int, line: str) -> bool:
        """Take one member out."""
        head, tail = _head(where[1]), _tail(where[1], line)
        member = head + (ORIGIN + position).to_bytes(POSITION_BYTES, "big") + tail
        return bool(self._told(lambda redis: redis.zrem(self.messages, member)))

    def count(self, now: float) -> int:
        """The size of the set, which Redis knows."""
        self._settle(now)
        return int(self._told(lambda redis: redis.zcard(self.messages)))

    def first(self, now: float) -> str | None:
        """Read the first member."""
        self._settle(now)
        found = self._told(lambda redis: redis.zrange(self.messages, 0, 0))
        return _row(found[0], 0.0)[-1] if found else None

    def lines(self, now: float) -> list[str]:
        """Read all members."""
        self._settle(now)
        return [_row(member, 0.0)[-1] for member in self._told(lambda redis: redis.zrange(self.messages, 0, -1))]

    def check(self) -> list[str]:
        """Whether every member is where it belongs, and every lease has its lines."""
        found = self._told(lambda redis: redis.zrange(self.messages, 0, -1, withscores=True))
        leases = {int(lease) for lease in self._told(lambda redis: redis.zrange(self.leases, 0, -1))}
        wrong = []
        for name, key in (("lines", self.held), ("progress", self.done)):
            kept = {int(lease) for lease in self._told(lambda redis: redis.hkeys(key))}  # noqa: B023 - called at once
            if kept != leases:
                wrong.append(f"leases {sorted(leases)} have {name} {sorted(kept)}")
        return wrong + checked(_row(member, score) for member, score in found)

    def facts(self) -> dict[str, str]:
        """As the server says."""
        info = self._told(lambda redis: redis.info("server"))
        said = self._told(lambda redis: redis.config_get("append*"))
        settings = {name: str(said[name]) for name in ("appendonly", "appendfsync") if name in said}
        return {"engine": "redis", "version": str(info["redis_version"]), **settings}

    def close(self) -> None:
        """Remove a private queue and end the connection."""
        if self.redis is not None:
            with suppress(OSError, RedisError):  # a server that is gone has nothing that could be removed now
                if self.private:
                    self._told(lambda redis: redis.delete(*self.keys))
            redis, self.redis = self.redis, None
            redis.close()


def _head(rest: bytes) -> bytes:
    return b"\1" + rest if rest else b"\0"


def _tail(rest: bytes, line: str) -> bytes:
    return line.encode() + (len(rest).to_bytes(2, "big") if rest else b"")


def _words(rows: list[Row]) -> list[Any]:
    """Return rows as the arguments of a script: score, head, and what follows the position."""
    words: list[Any] = []
    for low, rest, line in rows:
        words += (repr(low), _head(rest), _tail(rest, line))
    return words


def _row(member: bytes, low: float) -> tuple[float, bytes, int, str]:
    """Return (low, rest, position, line) of a member."""
    length = int.from_bytes(member[-2:], "big") if member[0] else 0
    start = 1 + length
    position = int.from_bytes(member[start : start + POSITION_BYTES], "big") - ORIGIN
    line = member[start + POSITION_BYTES : -2 if length else None]
    return low, member[1:start], position, line.decode()
