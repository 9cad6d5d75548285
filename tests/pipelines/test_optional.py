"""What a package that is not installed looks like."""

from __future__ import annotations

import pytest

from pipelines.errors import ConfigError, NotInstalledError
from pipelines.optional import install_line, needed


def test_missing_module_is_named_with_the_line_that_installs_it() -> None:
    with pytest.raises(NotInstalledError) as caught, needed("drawing", "pencil", "paper"):
        import no_such_module_at_all  # noqa: F401
    assert caught.value.message == ("drawing needs no_such_module_at_all, which is not installed")
    assert caught.value.hint == install_line("pencil", "paper")
    assert "pip install -c requirements.lock pencil paper" in caught.value.hint


def test_missing_module_with_a_way_without_it_names_both() -> None:
    with pytest.raises(ConfigError) as caught, needed("drawing", "pencil", otherwise="dictate"):
        import no_such_module_at_all  # noqa: F401
    assert caught.value.hint == f"{install_line('pencil')}; or dictate"


def test_other_error_in_the_import_is_left_alone() -> None:
    with pytest.raises(ImportError, match="cannot import name") as caught, needed("x", "y"):
        from pipelines import nothing_of_this_name  # noqa: F401
    assert not isinstance(caught.value, NotInstalledError)


def test_nothing_missing_is_silent() -> None:
    with needed("reading", "json"):
        import json
    assert json.loads("1") == 1
