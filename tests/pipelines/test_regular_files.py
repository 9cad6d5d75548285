"""Opening files: regular ones are read, anything else is named without waiting for it."""

import os
import socket

import pytest

from pipelines.errors import NotPdfError
from pipelines.regular_files import open_regular, status


def test_a_file_is_opened_and_a_link_is_followed(tmp_path):
    (tmp_path / "a.pdf").write_bytes(b"%PDF")
    (tmp_path / "link.pdf").symlink_to("a.pdf")
    for name in ("a.pdf", "link.pdf"):
        with open_regular(tmp_path / name) as file:
            assert file.read() == b"%PDF"


@pytest.mark.parametrize("kind", ["a folder", "a named pipe", "a socket", "a device"])
def test_anything_else_is_refused_by_its_kind(tmp_path, monkeypatch, kind):
    path = tmp_path / "x.pdf"
    if kind == "a folder":
        path.mkdir()
    elif kind == "a named pipe":
        os.mkfifo(path)
    elif kind == "a device":
        path.symlink_to("/dev/null")
    else:
        monkeypatch.chdir(tmp_path)  # the path of a socket is limited in length
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("x.pdf")
    with pytest.raises(NotPdfError, match=f"it is {kind}, not a file"):
        open_regular(path)


def test_a_name_that_no_file_can_have_is_an_error_of_the_system(tmp_path):
    with pytest.raises(OSError, match="no file can have this name"):
        status(tmp_path / "a\0b")
    with pytest.raises(FileNotFoundError):
        status(tmp_path / "missing.pdf")
