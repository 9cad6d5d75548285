"""Settings: four layers, one reader, and secrets that show nowhere."""

from __future__ import annotations

import ast
import os
import pickle
from pathlib import Path

import pytest
from pydantic import ValidationError

from pipelines.errors import ConfigError
from rag_app.settings import (
    FoundFile,
    Settings,
    child_environment,
    found_may_set,
    load_settings,
    read_settings_file,
    settings_and_ignored,
    trust_record,
)
from tests.support.modules import imported_by

ROOT = Path(__file__).parents[2]
KEY = "sk-secret-0123456789"


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, an empty home, and none of our variables."""
    for variable in list(os.environ):
        if variable.startswith(("RAG_", "OPENAI_", "XDG_")):
            monkeypatch.delenv(variable)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_load_settings_with_nothing_given_is_the_defaults() -> None:
    settings = load_settings()
    assert settings == Settings()
    assert settings.embed_model == "minilm"
    assert settings.strategy == "hybrid"
    assert settings.llm is None


def test_precedence_is_argument_then_environment_then_file(
    clean: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (clean / "rag.toml").write_text('strategy = "bm25"\nwindow = 1\nsimilarity_top_k = 7\n')
    monkeypatch.setenv("RAG_WINDOW", "2")
    monkeypatch.setenv("RAG_STRATEGY", "naive")
    settings = load_settings(strategy="child_parent")
    assert (settings.strategy, settings.window, settings.similarity_top_k) == ("child_parent", 2, 7)


def test_an_argument_of_none_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_STRATEGY", "bm25")
    assert load_settings(strategy=None).strategy == "bm25"


def test_the_users_config_folder_is_read_when_the_working_folder_has_no_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("rag_app.settings.user_config_path", lambda *_, **__: tmp_path)
    (tmp_path / "rag.toml").write_text("window = 5\n")
    assert load_settings().window == 5


def test_rag_config_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other.toml").write_text("window = 5\n")
    monkeypatch.setenv("RAG_CONFIG", str(tmp_path / "other.toml"))
    assert load_settings().window == 5


def test_tuples_and_switches_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_CHILD_SIZES", "64, 128")
    monkeypatch.setenv("RAG_EMBED_SCRIPTS", "latin,cjk")
    monkeypatch.setenv("RAG_PREFER_DOCUMENTS", "false")
    monkeypatch.setenv("RAG_GLOSSARY", "accounting, ./mine.json")
    settings = load_settings()
    assert settings.child_sizes == (64, 128)
    assert settings.embed_scripts == ("latin", "cjk")
    assert settings.prefer_documents is False
    assert settings.glossary == ("accounting", "./mine.json")


def test_an_empty_variable_is_unset_but_an_empty_instruction_is_a_choice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RAG_LLM", "")
    monkeypatch.setenv("RAG_QUERY_INSTRUCTION", "")
    settings = load_settings()
    assert settings.llm is None
    assert settings.query_instruction == ""
    assert settings.text_instruction is None


def test_relative_paths_of_a_file_start_at_its_folder(tmp_path: Path) -> None:
    file = tmp_path / "there" / "rag.toml"
    file.parent.mkdir()
    file.write_text(
        'glossary = ["accounting", "g.json"]\n'
        'prompts = "p.toml"\ncache_dir = "~/c"\nembed_model = "./model"\n'
    )
    settings = load_settings(file)
    assert settings.prompts == file.parent / "p.toml"
    assert settings.glossary == ("accounting", str(file.parent / "g.json"))
    assert settings.cache_dir == Path.home() / "c"
    assert settings.embed_model == str(file.parent / "model")


def test_one_glossary_needs_no_list_and_is_found_beside_its_file(tmp_path: Path) -> None:
    file = tmp_path / "rag.toml"
    file.write_text('glossary = "none"\n[presets.own]\nbase = "hybrid"\nglossary = "g.json"\n')
    settings = load_settings(file)
    assert settings.glossary == ("none",)
    assert settings.presets["own"]["glossary"] == [str(tmp_path / "g.json")]


def test_presets_come_from_the_file(clean: Path) -> None:
    (clean / "rag.toml").write_text("[presets.wide]\nsimilarity_top_k = 20\n")
    assert load_settings().presets == {"wide": {"similarity_top_k": 20}}


def test_an_llm_of_a_lower_layer_is_taken_back_by_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_LLM", "openai:gpt-x")
    assert load_settings(llm="none").llm is None


# A file that was only found.

VALUES = {
    "ocr": '"off"',
    "embed_model": '"./model"',
    "embed_base_url": '"http://127.0.0.1:9/v1"',
    "embed_api_key": f'"{KEY}"',
    "embed_timeout": "7.0",
    "embed_scripts": '["latin"]',
    "query_instruction": '"q"',
    "text_instruction": '"t"',
    "embed_runtime": '"torch"',
    "embed_precision": '"float32"',
    "embed_batch_size": "7",
    "embed_threads": "7",
    "embed_max_tokens": "7",
    "embed_download": "true",
    "reader": '"pypdf"',
    "pdf_password": f'"{KEY}"',
    "read_memory_mb": "777",
    "read_seconds": "7.0",
    "parent_size": "1000",
    "child_sizes": "[64]",
    "window": "7",
    "strategy": '"bm25"',
    "similarity_top_k": "7",
    "prefer_documents": "false",
    "prefer_tables": "false",
    "presets": '{wide = {base = "hybrid"}}',
    "glossary": '["./mine.json"]',
    "rerank": '"package.module:Name"',
    "rerank_base_url": '"http://127.0.0.1:9/v1"',
    "rerank_api_key": f'"{KEY}"',
    "rerank_timeout": "7.0",
    "rerank_fused": "true",
    "llm": '"like:x"',
    "llm_base_url": '"http://127.0.0.1:9/v1"',
    "llm_api_key": f'"{KEY}"',
    "llm_context_window": "7",
    "llm_timeout": "7.0",
    "llm_total_timeout": "7.0",
    "llm_max_tokens": "7",
    "answer_from": "0.7",
    "closest_from": "0.3",
    "llm_reasoning_effort": '"low"',
    "llm_reasoning_tokens": "7",
    "prompts": '"p.toml"',
    "cache_dir": '"cache"',
    "cache_limit_mb": "7",
    "log_level": '"error"',
}
HARMLESS = {
    *("reader", "parent_size", "child_sizes", "window", "strategy", "similarity_top_k"),
    *("prefer_documents", "prefer_tables", "presets", "rerank_fused"),
}


def test_every_setting_says_whether_a_found_file_may_set_it() -> None:
    marks = {
        name: [mark for mark in field.metadata if isinstance(mark, FoundFile)]
        for name, field in Settings.model_fields.items()
    }
    assert [name for name, found in marks.items() if len(found) != 1] == []
    assert {name for name, (mark,) in marks.items() if mark.may_set} == HARMLESS
    assert not found_may_set("no_setting")


def test_a_setting_that_is_not_marked_is_the_owners(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Settings.model_fields["window"], "metadata", [])
    assert not found_may_set("window")


def test_a_preset_of_a_found_file_loads_no_code_until_it_is_trusted(clean: Path) -> None:
    file = clean / "rag.toml"
    file.write_text(
        '[presets.mine]\nbase = "bm25"\nrerank = "evil:Code"\nglossary = ["/etc/x.json"]\n'
        "[presets.b]\ndepth = 3\n"
    )
    settings, ignored = settings_and_ignored()
    assert settings.presets == {"mine": {"base": "bm25"}, "b": {"depth": 3}}
    assert "presets.mine.glossary, presets.mine.rerank ignored" in ignored
    assert "presets.b" not in ignored
    mine = {"base": "bm25", "rerank": "evil:Code", "glossary": ["/etc/x.json"]}
    whole = {"mine": mine, "b": {"depth": 3}}
    assert load_settings(Path("rag.toml")).presets == whole
    trust_record().add(read_settings_file(Path("rag.toml")))
    settings, ignored = settings_and_ignored()
    assert (settings.presets, ignored) == (whole, "")


def test_rerank_none_is_no_reranker_and_not_unset() -> None:
    assert load_settings().rerank is None
    assert load_settings(rerank="none").rerank == ""


@pytest.mark.parametrize("field", sorted(Settings.model_fields))
def test_a_found_file_sets_what_is_harmless_and_a_named_or_trusted_one_everything(
    clean: Path, field: str
) -> None:
    file = clean / "rag.toml"
    file.write_text(f"{field} = {VALUES[field]}\n")
    settings, ignored = settings_and_ignored()
    assert (field in settings.model_fields_set) == (field in HARMLESS)
    assert (field in ignored) == (field not in HARMLESS)
    assert ignored.count("\n") == 0
    assert KEY not in ignored
    assert field in settings_and_ignored(Path("rag.toml"))[0].model_fields_set
    trust_record().add(read_settings_file(Path("rag.toml")))
    settings, ignored = settings_and_ignored()
    assert (field in settings.model_fields_set, ignored) == (True, "")


def test_a_trusted_file_that_is_changed_or_moved_is_trusted_no_longer(
    clean: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = clean / "rag.toml"
    file.write_text('llm = "like:x"\n')
    trust_record().add(read_settings_file(file))
    assert load_settings().llm == "like:x"
    elsewhere = clean / "copy"
    elsewhere.mkdir()
    (elsewhere / "rag.toml").write_bytes(file.read_bytes())
    file.write_text('llm = "like:y"\n')
    settings, ignored = settings_and_ignored()
    assert settings.llm is None
    assert "has changed since it was trusted" in ignored
    monkeypatch.chdir(elsewhere)
    settings, ignored = settings_and_ignored()
    assert settings.llm is None
    assert "is not trusted" in ignored


def test_the_users_own_file_counts_below_a_found_one(
    clean: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("rag_app.settings.user_config_path", lambda *_, **__: tmp_path)
    own = 'llm_base_url = "http://inside/v1"\nwindow = 2\nparent_size = 900\n'
    (tmp_path / "rag.toml").write_text(own + '[presets.mine]\nbase = "bm25"\n')
    (clean / "rag.toml").write_text("window = 4\n[presets.theirs]\ndepth = 3\n")
    settings = load_settings()
    assert (settings.window, settings.parent_size) == (4, 900)
    assert settings.llm_base_url == "http://inside/v1"
    assert set(settings.presets) == {"mine", "theirs"}


def test_the_users_own_file_may_set_everything_also_where_it_lies_or_is_linked(
    clean: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = tmp_path / "config"
    own.mkdir()
    monkeypatch.setattr("rag_app.settings.user_config_path", lambda *_, **__: own)
    (own / "rag.toml").write_text('llm = "like:x"\n')
    (clean / "rag.toml").symlink_to(own / "rag.toml")
    assert settings_and_ignored()[1] == ""
    monkeypatch.chdir(own)
    settings, ignored = settings_and_ignored()
    assert (settings.llm, ignored) == ("like:x", "")


def test_what_was_ignored_is_logged_once(clean: Path, caplog: pytest.LogCaptureFixture) -> None:
    (clean / "rag.toml").write_text('llm = "like:said-once"\n')
    load_settings()
    load_settings()
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "llm ignored" in caplog.text
    assert "--config rag.toml" in caplog.text


def test_a_record_of_trust_that_does_not_read_trusts_nobody(clean: Path) -> None:
    (clean / "rag.toml").write_text('llm = "like:x"\n')
    record = trust_record()
    record.add(read_settings_file(Path("rag.toml")))
    for text in ("{", "[]", "[" * 100_000):
        record.path.write_text(text)
        assert settings_and_ignored()[0].llm is None
        with pytest.raises(ConfigError, match=r"trusted\.json"):
            record.forget(Path("rag.toml"))


@pytest.mark.parametrize("text", ["a = " + "[" * 100_000, "# " + "x" * (1 << 20), "\0", "a = '\n"])
def test_a_file_that_is_too_deep_too_large_or_no_toml_is_one_error(clean: Path, text: str) -> None:
    (clean / "rag.toml").write_text(text)
    with pytest.raises(ConfigError, match=r"config file rag\.toml"):
        load_settings()


# Errors name the place, the value and what is allowed.


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('reader = "word"', ["rag.toml: reader", "'word'", "pypdfium2", "pypdf"]),
        ("window = -1", ["rag.toml: window", "-1", "a whole number from 0 to 1000"]),
        ('stratgy = "bm25"', ["rag.toml: stratgy", "did you mean strategy?"]),
        ('llm = "gpt-4"', ["rag.toml: llm", "openai:MODEL", "like:MODEL"]),
        ("parent_size = 100", ["child_sizes", "parent_size 100"]),
        ("window = ", ["rag.toml", "cannot be read", "TOML"]),
        ('llm_base_url = "ftp://x"', ["rag.toml: llm_base_url", "http://"]),
    ],
)
def test_a_wrong_config_file_names_file_value_and_remedy(
    clean: Path, text: str, parts: list[str]
) -> None:
    (clean / "rag.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_settings(Path("rag.toml"))
    for part in parts:
        assert part in str(caught.value)


def test_a_wrong_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_SIMILARITY_TOP_K", "many")
    with pytest.raises(ConfigError, match=r"RAG_SIMILARITY_TOP_K = 'many'"):
        load_settings()


def test_a_misspelt_variable_is_refused_with_the_right_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_EMBED_MODLE", "x")
    with pytest.raises(ConfigError, match="did you mean RAG_EMBED_MODEL"):
        load_settings()


def test_a_variable_of_another_program_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_TIME_PIANO", "1")
    assert load_settings() == Settings()


def test_presets_in_the_environment_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_PRESETS", "{}")
    with pytest.raises(ConfigError, match="config file"):
        load_settings()


def test_a_missing_config_file_that_was_named_raises(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no config file .*nowhere\.toml"):
        load_settings(tmp_path / "nowhere.toml")


def test_an_unknown_argument_raises() -> None:
    with pytest.raises(ConfigError, match="argument: stratagy is not a setting"):
        load_settings(stratagy="bm25")


def test_settings_are_frozen() -> None:
    with pytest.raises(ValidationError):
        Settings().window = 9  # type: ignore[misc]


# Keys.


def test_a_plain_openai_key_without_a_named_model_is_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    settings = load_settings()
    assert settings.llm is None
    assert settings.llm_api_key is None


def test_a_plain_openai_key_serves_a_named_openai_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    settings = load_settings(llm="openai:gpt-x")
    assert settings.llm_api_key is not None
    assert settings.llm_api_key.get_secret_value() == KEY


def test_a_plain_openai_key_is_not_sent_to_another_server(
    clean: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    file = clean / "rag.toml"
    file.write_text('llm_base_url = "http://elsewhere.example/v1"\n')
    assert load_settings(file, llm="openai:gpt-x").llm_api_key is None
    assert load_settings(file, llm="like:model").llm_api_key is None


def test_an_own_key_wins_over_the_plain_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other")
    monkeypatch.setenv("RAG_LLM_API_KEY", KEY)
    settings = load_settings(llm="openai:gpt-x")
    assert settings.llm_api_key is not None
    assert settings.llm_api_key.get_secret_value() == KEY


def test_a_key_is_in_no_representation_or_dump() -> None:
    """Case 23: the key is nowhere in any output."""
    settings = load_settings(llm="openai:gpt-x", llm_api_key=KEY)
    shown = [repr(settings), str(settings), settings.model_dump_json(), str(settings.model_dump())]
    assert not [text for text in shown if KEY in text]


def test_a_key_is_in_no_error(clean: Path) -> None:
    """Case 23: nor in an error about it, nor in one about its neighbours."""
    (clean / "rag.toml").write_text(f'llm_api_key = ["{KEY}"]\nwindow = "x"\n')
    with pytest.raises(ConfigError) as caught:
        load_settings(Path("rag.toml"))
    assert "llm_api_key" in str(caught.value)
    assert KEY not in str(caught.value)
    assert caught.value.__suppress_context__
    with pytest.raises(ValidationError) as direct:
        Settings(llm_api_key=[KEY])  # type: ignore[arg-type]
    assert KEY not in str(direct.value)


def test_a_key_inside_the_address_is_refused_and_not_shown() -> None:
    """Case 23: an address with a key would be logged and recorded."""
    with pytest.raises(ConfigError, match="llm_api_key") as caught:
        load_settings(llm_base_url=f"http://user:{KEY}@host/v1")
    assert KEY not in str(caught.value)


def test_errors_survive_a_process_border() -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings(stratagy="bm25")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_child_process_inherits_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("RAG_LLM_API_KEY", KEY)
    monkeypatch.setenv("RAG_PDF_PASSWORD", KEY)
    monkeypatch.setenv("RAG_WINDOW", "2")
    environment = child_environment(OMP_NUM_THREADS="1")
    assert KEY not in environment.values()
    assert (environment["RAG_WINDOW"], environment["OMP_NUM_THREADS"]) == ("2", "1")


# One reader.


def _reads_environment(tree: ast.AST) -> bool:
    for node in ast.walk(tree):
        names = set()
        if isinstance(node, ast.Attribute):
            names = {node.attr}
        elif isinstance(node, ast.ImportFrom) and node.module == "os":
            names = {alias.name for alias in node.names}
        if names & {"environ", "environb", "getenv"}:
            return True
    return False


def test_no_other_module_reads_the_environment() -> None:
    files = [*(ROOT / "rag_app").rglob("*.py"), *(ROOT / "pipelines").rglob("*.py")]
    readers = [
        str(path.relative_to(ROOT))
        for path in files
        if _reads_environment(ast.parse(path.read_text(encoding="utf-8")))
    ]
    # The other one hands a part of it on, and decides nothing by it.
    assert sorted(readers) == ["pipelines/interpreter.py", "rag_app/settings.py"]


def test_importing_settings_imports_nothing_heavy() -> None:
    modules = imported_by("rag_app.settings")
    assert not modules & {"llama_index", "numpy", "torch", "openvino", "transformers"}
