"""Which PDFs need a password."""

from __future__ import annotations

import pytest

from rag_app.cached.encrypted import may_be_encrypted, needs_password
from tests.support.pdfs import make_pdf


@pytest.mark.parametrize(
    ("password", "given", "needed"),
    [
        (None, (), False),
        ("", (), False),
        ("secret", (), True),
        ("secret", ("other",), True),
        ("secret", ("other", "secret"), False),
    ],
)
def test_a_password_is_needed_where_no_given_one_opens_the_file(tmp_path, password, given, needed):
    path = make_pdf(tmp_path / "a.pdf", ["Cats."], password=password)
    assert needs_password(path, given) == needed
    assert may_be_encrypted(path) == (password is not None)


def test_a_file_that_cannot_be_read_needs_no_password(tmp_path):
    (tmp_path / "empty.pdf").touch()
    for path in (tmp_path / "empty.pdf", tmp_path / "missing.pdf", tmp_path):
        assert not may_be_encrypted(path)
    assert not needs_password(tmp_path / "empty.pdf")
