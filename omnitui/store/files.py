"""Durable files: replaced whole, synced, moved aside; never deleted."""

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from omnitui.errors import StoreError


def replace_file(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Write `path` so that it holds either its old or its new content, whatever happens."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
            if durable:
                os.fsync(fd)
        finally:
            os.close(fd)
        fresh.replace(path)
        if durable:
            sync_folder(path.parent)
    except OSError as error:
        with suppress(OSError):
            fresh.unlink()
        raise StoreError(f"{path} cannot be written: {error.strerror}; free space or fix its rights") from error


def sync_folder(folder: Path) -> None:
    """Make a rename in a folder durable."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def shortage(folder: Path, enough: int = 1 << 20) -> str:
    """That a disk is full, in words; empty when it has `enough` bytes left, or cannot be asked.

    A runner that dies of a full disk cannot write down why.
    """
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        return ""
    return f"Only {free >> 10} KiB are free for {folder}: free space first." if free < enough else ""


def folder_id(path: Path) -> str:
    """Which folder this is: another one of the same name has another id. Empty when there is none."""
    try:
        return str(path.stat().st_ino)
    except OSError:
        return ""


def make_folder(path: Path) -> None:
    """Create a private folder with its parents, which are private too."""
    if path.is_dir():
        return
    make_folder(path.parent)
    try:
        path.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be made: {error.strerror}; set OMNITUI_HOME to a writable folder"
        ) from error


def move_aside(paths: Iterable[Path], what: str = "incomplete") -> list[Path]:
    """Rename each existing path to `NAME-incomplete`, `-incomplete-2`, ...; nothing is deleted or overwritten."""
    moved = []
    for path in paths:
        if not (path.exists() or path.is_symlink()):
            continue
        aside = path.with_name(f"{path.name}-{what}")
        number = 2
        while aside.exists() or aside.is_symlink():
            aside = path.with_name(f"{path.name}-{what}-{number}")
            number += 1
        try:
            path.rename(aside)
        except OSError as error:
            raise StoreError(
                f"{path} cannot be moved aside: {error.strerror}; move it by hand, then resume"
            ) from error
        moved.append(aside)
    return moved
