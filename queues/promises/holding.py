"""What is promised about what a queue holds, what it lets go, and that payloads are none of its business."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import Any

from queues.promises.offer import Offer
from queues.promises.requeue import STARTS
from queues.promises.schedules import Difference, Player, Step, random_steps
from queues.promises.shrinking import shrink
from queues.promises.trial import ENDLESS, Broken, Promise, Trial, promise

HOLDING: list[Promise] = []


class Payload:
    """Something to hold a weak reference to."""


class Prickly:
    """A payload that nobody may compare, hash or ask for truth."""

    def __init__(self, name: str) -> None:
        """Carry `name`, by which a check knows it."""
        self.name = name

    def _refuse(self, *_: object) -> Any:
        raise RuntimeError("a payload was compared, hashed or asked for truth")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __len__ = _refuse
    __hash__ = _refuse

    def __repr__(self) -> str:
        """Return the name."""
        return self.name


@promise(HOLDING, "payloads-untouched", "objects")
def payloads_untouched(trial: Trial) -> None:
    """Payloads are never compared, hashed or asked for truth.

    Payloads that raise when they are, with equal starts, merges and cancels. In which order they come is
    another promise.
    """
    queue = trial.queue()
    payloads = [Prickly(f"payload {name}") for name in "abcdefgh"]
    for payload in payloads[:6]:
        queue.enqueue(1.0, payload)
    batch = queue.take(1.0)
    queue.enqueue(1.0, payloads[6])
    queue.enqueue(0.0, payloads[7])
    queue.requeue(batch)
    if "cancel" in trial.offer:
        trial.expect([part is payloads[7] for part in queue.cancel(0.0)[1:]], [True], "it is what was enqueued")
    else:
        queue.take(0.0)
    batch = queue.take(1.0)
    if "read" in trial.offer:
        trial.expect(sorted(message[1].name for message in trial.read(queue, batch)), [p.name for p in payloads[:7]])
    else:
        trial.expect(trial.length(batch), 7)


@promise(HOLDING, "dropped-queue-releases", "objects")
def dropped_queue(trial: Trial) -> None:
    """Dropping a queue releases the messages that it held.

    Nothing else keeps a payload alive, whether it was queued, put back or merged.
    """
    queue = trial.bare()
    payloads = [Payload() for _ in range(6)]
    for number, payload in enumerate(payloads):
        queue.enqueue(float(number % 3), payload)
    batch = queue.take(1.0)
    queue.enqueue(0.5, payloads[0])
    queue.requeue(batch)
    ghosts = [weakref.ref(payload) for payload in payloads]
    del payload, queue, batch
    payloads.clear()
    gone(trial, ghosts, "enqueue 6, take, requeue, drop the queue")


@promise(HOLDING, "dropped-batch-releases", "objects")
def dropped_batch(trial: Trial) -> None:
    """Dropping a batch releases the messages that it held.

    The queue that it was cut from goes on without it.
    """
    queue = trial.bare()
    payloads = [Payload() for _ in range(4)]
    for payload in payloads:
        queue.enqueue(1.0, payload)
    queue.enqueue(2.0, "stays")
    batch = queue.take(1.0)
    ghosts = [weakref.ref(payload) for payload in payloads]
    del payload, batch
    payloads.clear()
    gone(trial, ghosts, "enqueue 4, take, drop the batch")
    trial.expect(len(queue), 1, "len(queue) after the batch was dropped")


@promise(HOLDING, "released-as-dispatched", "process objects")
def released_as_dispatched(trial: Trial) -> None:
    """A dispatched message is released as the batch moves past it.

    When a handler is called, all messages before its own are gone.
    """
    queue = trial.bare()
    payloads = [Payload() for _ in range(4)]
    for payload in payloads:
        queue.enqueue(1.0, payload)
    batch = queue.take(1.0)
    ghosts = [weakref.ref(payload) for payload in payloads]
    del payload
    payloads.clear()
    alive: list[int] = []

    def handler(_start: Any, _payload: Any) -> None:
        alive.append(sum(ghost() is not None for ghost in ghosts))
        if alive[-1] != len(ghosts) - len(alive) + 1:
            gc.collect()
            alive[-1] = sum(ghost() is not None for ghost in ghosts)

    queue.process(batch, handler)
    trial.expect(alive, [4, 3, 2, 1], "enqueue 4, take, process: messages alive when each handler is called")
    gone(trial, ghosts, "enqueue 4, take, process all")


@promise(HOLDING, "returned-batch-holds-nothing", "objects")
def returned_batch(trial: Trial) -> None:
    """A batch that was put back holds none of its messages, though it may live on.

    They are taken again, by another batch that is dropped, with and without a merge.
    """
    for late in (9.0, 0.5):
        queue = trial.bare()
        payloads = [Payload() for _ in range(3)]
        for number, payload in enumerate(payloads):
            queue.enqueue(float(number), payload)
        batch = queue.take(2.0)
        queue.enqueue(late, "late")
        queue.requeue(batch)
        queue.take(2.0)
        ghosts = [weakref.ref(payload) for payload in payloads]
        del payload
        payloads.clear()
        gone(trial, ghosts, "enqueue 3, take, requeue, take again and drop that")


def gone(trial: Trial, ghosts: list[weakref.ref[Payload]], after: str) -> None:
    """Break the promise unless every one of `ghosts` is dead `after` what was done, or after a collection."""
    alive = sum(ghost() is not None for ghost in ghosts)
    if alive:
        gc.collect()
        alive = sum(ghost() is not None for ghost in ghosts)
    trial.expect(alive, 0, f"{after}: payloads still alive")


@promise(HOLDING, "container-is-listed", "container")
def container_is_listed(trial: Trial) -> None:
    """container() lists the objects that it is made of, no message.

    Its shallow size grows with what is queued; no payload is in it; each object is there once, and None is none. The
    latter is looked at after each step of random schedules, too.
    """
    queue = trial.queue()
    empty = sum(map(sys.getsizeof, queue.container()))
    payload = "payload"
    for start in range(2000):
        queue.enqueue(float(start), payload)
    objects = queue.container()
    trial.expect(sum(map(sys.getsizeof, objects)) > empty, True, "2,000 messages take more than none")
    trial.expect(any(thing is payload for thing in objects), False, "a payload is listed")
    trial.expect(len({id(thing) for thing in objects}), len(objects), "different objects listed")
    trial.expect(trial.length(queue), 2000)
    for _ in range(5):
        steps = random_steps(trial.random, trial.offer, max(50, trial.steps // 20), STARTS)
        found = _listed_wrongly(trial, steps)
        if found is not None:
            raise Broken(shrink(found, partial(_listed_wrongly, trial)).told())


def _listed_wrongly(trial: Trial, steps: Sequence[Step]) -> Difference | None:
    """Play `steps` and return the first one after which container() lists None or something twice, or None."""
    player = Player(trial.queue_class, trial.offer, Offer(frozenset()), "read" in trial.offer)
    for number, step in enumerate(steps, 1):
        player.play(step)
        objects = list(islice(player.queue.container(), ENDLESS))
        places = {id(thing) for thing in objects if thing is not None}
        if len(places) < len(objects):
            return Difference(tuple(steps[:number]), "different objects in container()", len(objects), len(places))
    return None
