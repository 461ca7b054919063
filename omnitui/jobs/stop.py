"""Stopping a job: its group first, then what it started that has a session of its own. Only what is ours."""

import asyncio
import os
import signal
import time
from pathlib import Path

from msgspec import Struct

from omnitui.errors import JobError, PlaceError
from omnitui.jobs.folder import JobFolder
from omnitui.jobs.job import Job, family_of, members
from omnitui.model import Identity
from omnitui.places import Place
from omnitui.places.base import Process


class Stopped(Struct, frozen=True):
    """How a job was stopped. `survivors` still live: they could not be signalled or do not die."""

    signalled: int
    killed: int
    survivors: tuple[int, ...]


def is_group_empty(job: Job) -> bool:
    """Whether nothing is left in the job's group, in one look; False where that cannot be told."""
    who = job.identity
    if who is None:
        return False
    try:
        return not job.place.signal_group(who.pid, 0)
    except PlaceError:
        return False
    except JobError:
        # The number belongs to somebody else by now, so nothing of ours has it.
        return True


async def stop(job: Job, grace_s: float) -> Stopped:
    """TERM to the group, `grace_s` seconds of patience, then KILL; the same for what outlived the group."""
    job.give_up()
    family = {(one.pid, one.start): one for one in family_of(job)}
    if not family:
        return Stopped(0, 0, ())
    killed = 0
    _signal_group(job, signal.SIGTERM)
    await _gone(job, family, grace_s, group_only=True)
    for number, patience_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, 10.0)):
        left = _living(job, family)
        if not left:
            break
        if number is signal.SIGKILL:
            killed = len(left)
            _signal_group(job, signal.SIGKILL)
        for process in left:
            _signal_one(job, process, number)
        await _gone(job, family, min(patience_s, grace_s) if number is signal.SIGTERM else patience_s)
    if job.child:
        job.child.poll()
    return Stopped(len(family), killed, tuple(process.pid for process in _living(job, family)))


async def stop_stragglers(place: Place, run: str, grace_s: float) -> int:
    """Stop whatever still carries a marker of this run, in any session; how many processes there were."""
    carried = {process.marker for process in place.processes() if not process.zombie}
    # They are known by their marker alone. Their folder must be one that cannot hold somebody's pid file.
    jobs = [Job(JobFolder(Path(os.devnull)), place, one) for one in sorted(carried) if one.startswith(f"{run}:")]
    done = [await stop(job, grace_s) for job in jobs]
    return sum(one.signalled for one in done)


def _living(job: Job, family: dict[tuple[int, int], Process]) -> list[Process]:
    """Who of the family still lives; processes that it started meanwhile join it."""
    everyone = job.place.processes()
    for process in members(job, everyone):
        family.setdefault((process.pid, process.start), process)
    return [one for one in everyone if not one.zombie and (one.pid, one.start) in family]


async def _gone(
    job: Job, family: dict[tuple[int, int], Process], patience_s: float, *, group_only: bool = False
) -> None:
    until = time.monotonic() + patience_s
    pause = 0.005
    while time.monotonic() < until:
        if job.child:
            job.child.poll()
        left = _living(job, family)
        who = job.identity
        if group_only and who is not None:
            left = [process for process in left if process.group == who.pid]
        if not left:
            return
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, 0.1)


def _signal_group(job: Job, number: signal.Signals) -> None:
    who = job.identity
    if who is None:
        return
    # A group's number is not given away while the group has a member, so a known member makes it ours.
    if any(process.group == who.pid for process in members(job)):
        job.place.signal_group(who.pid, number)


def _signal_one(job: Job, process: Process, number: signal.Signals) -> None:
    job.place.signal(Identity(pid=process.pid, start=process.start, boot=job.place.boot()), number)
