"""Opening files for reading: regular ones only, without ever waiting.

Opening a named pipe waits for somebody to write into it, and reading a device may never
end. A check of the path may be out of date when it is opened: so it is opened without
waiting, and checked then.
"""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

from pipelines.errors import ConfigError, NotPdfError
from pipelines.file_names import printable

_HINT = "check the path: only regular files are read"
# Not on every system: where they are missing, there are no named pipes in folders.
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file for reading; links are followed.

    Raises:
        NotPdfError: it is something else: a folder, a named pipe, a socket, a device.
        OSError: it cannot be opened.
    """
    _check(path, status(path).st_mode)  # a device may do something when it is opened
    descriptor = os.open(path, _FLAGS)
    try:
        _check(path, os.fstat(descriptor).st_mode)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_whole(path: Path, what: str, maximum: int) -> bytes:
    """Return the bytes of a file that the user named.

    Args:
        path: the file.
        what: what it is called in an error: ``the config file``.
        maximum: how many bytes it may have.

    Raises:
        ConfigError: there is none, it is no regular file, cannot be read, or is too large.
    """
    name = printable(path) or '""'
    try:
        with open_regular(path) as file:
            data = file.read(maximum + 1)
    except NotPdfError as error:
        raise ConfigError(f"{what} {error.message}", hint="name a regular file") from None
    except FileNotFoundError:
        raise ConfigError(f"there is no file {name}", hint=f"check the path of {what}") from None
    except OSError as error:
        raise ConfigError(
            f"{what} {name} cannot be read: {error.strerror}", hint="check the path, and its rights"
        ) from None
    if len(data) > maximum:
        raise ConfigError(
            f"{what} {name} is larger than {maximum} bytes", hint="check that it is the right one"
        )
    return data


def status(path: Path) -> os.stat_result:
    """Return the status of a path; links are followed.

    Raises:
        OSError: it cannot be read, or no file on this system can have this name.
    """
    try:
        return path.stat()
    except ValueError as error:  # it holds a NUL, or what is no character
        raise OSError(errno.EINVAL, "no file can have this name", printable(path)) from error


def _check(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        what = _KINDS.get(stat.S_IFMT(mode), "something else")
        raise NotPdfError(f"{printable(path)}: it is {what}, not a file", hint=_HINT)
