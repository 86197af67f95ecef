"""The file of keys: read again when it changes, replaced as a whole, by one writer at a time."""

from __future__ import annotations

import fcntl
import logging
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec

from runhold.domain.limits import NAMESPACE_BYTES
from runhold.identity.keys import ApiKey, Keyring

log = logging.getLogger(__name__)

_LOOK_EVERY_S = 0.25
_HASH_LENGTH = 64
_Result = TypeVar("_Result")


class KeyFileError(RuntimeError):
    """The file of keys cannot be used; the text says why in one line and quotes nothing of it."""


class _Content(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: int
    keys: list[ApiKey]


def read_keys(path: Path) -> list[ApiKey]:
    """Read the file. Raises: KeyFileError."""
    try:
        content = msgspec.json.decode(path.read_bytes(), type=_Content)
    except FileNotFoundError:
        raise KeyFileError(f"there is no key file {path}: make it with `runhold keys create`") from None
    except OSError as error:
        raise KeyFileError(f"the key file {path} cannot be read: {error.strerror or error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise KeyFileError(f"the key file {path} is not what `runhold keys` writes") from None
    if content.version != 1:
        raise KeyFileError(f"the key file {path} is of another version")
    for key in content.keys:
        if len(key.secret_sha256) != _HASH_LENGTH or not _is_hexadecimal(key.secret_sha256):
            raise KeyFileError(f"the key file {path} holds a hash that is none, for key {key.id!r}")
    return content.keys


def change_keys(path: Path, change: Callable[[list[ApiKey]], tuple[list[ApiKey], _Result]]) -> _Result:
    """Replace the file by what ``change`` makes of its keys; others that change it meanwhile wait.

    A missing file holds no keys. The new one is readable by its owner only, and appears as a whole.

    Raises:
        KeyFileError: it cannot be read or written; what ``change`` raises: then it is left as it is.
    """
    try:
        with _locked(path):
            keys, result = change(read_keys(path) if path.exists() else [])
            _replace(path, msgspec.json.format(msgspec.json.encode(_Content(1, keys)), indent=2) + b"\n")
    except OSError as error:
        raise KeyFileError(f"the key file {path} cannot be written: {error.strerror or error}") from None
    return result


def namespace_fault(namespace: str) -> str | None:
    """Say why a namespace cannot be called so, or None."""
    if not namespace:
        return "a namespace must not be empty"
    if "\0" in namespace or any("\ud800" <= character <= "\udfff" for character in namespace):
        return "a namespace must be valid Unicode text without U+0000"
    if len(namespace.encode()) > NAMESPACE_BYTES:
        return f"a namespace must be at most {NAMESPACE_BYTES} bytes of UTF-8"
    return None


class WatchedKeys:
    """The keys of a file, as they are now. A file that became unusable leaves the keys as they were.

    Args:
        path: the file.

    Raises:
        KeyFileError: it cannot be used at start-up.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen = self._state()
        self._keyring = Keyring(read_keys(path))
        self._look_at = 0.0

    def current(self) -> Keyring:
        """The keys; the file is looked at a few times a second at most."""
        now = time.monotonic()
        if now >= self._look_at:
            self._look_at = now + _LOOK_EVERY_S
            state = self._state()
            if state != self._seen:
                self._seen = state
                self._read_again()
        return self._keyring

    def _read_again(self) -> None:
        try:
            self._keyring = Keyring(read_keys(self._path))
        except KeyFileError as error:
            log.error("the keys stay as they were", extra={"reason": str(error)})
        else:
            log.info("the keys were read again")

    def _state(self) -> tuple[int, int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    # A file beside it: the key file itself is replaced, and a lock on it would be a lock on the old one.
    with path.with_name(path.name + ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _replace(path: Path, content: bytes) -> None:
    descriptor, name = tempfile.mkstemp(prefix=path.name, dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            Path(name).chmod(path.stat().st_mode & 0o777)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _is_hexadecimal(text: str) -> bool:
    return all(character in "0123456789abcdef" for character in text)
