import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.pages import join_pages


def join(*pages):
    text, spans = join_pages(pages, [str(number) for number in range(1, len(pages) + 1)])
    return text, [text[start:end] for start, end in spans]


@pytest.mark.parametrize(
    ("before", "after", "joined"),
    [
        ("Revenue grew to", "$4.2 million.", "Revenue grew to\n$4.2 million."),
        ("The price of the", "AX-450 fell.", "The price of the\nAX-450 fell."),
        ("a well-", "known firm", "a well-\nknown firm"),
        ("It ended.", "Next page.", "It ended.\n\nNext page."),
        ("これは長い文で、次のペ", "ージに続きます。", "これは長い文で、次のページに続きます。"),
        ("産前は六週間を、産後", "８週間を認める。", "産前は六週間を、産後８週間を認める。"),
        ("ここで長い行が終わりました", "２ 次の項", "ここで長い行が終わりました\n２ 次の項"),
        ("終わりました。", "次の文です。", "終わりました。\n\n次の文です。"),
        ("東京の", "2020年の人口", "東京の\n2020年の人口"),
        (
            "本文がここで長く続いています\n目次",
            "はじめに",
            "本文がここで長く続いています\n目次\nはじめに",
        ),
        ("最後の行がここまで来て続く", "第2章 保証", "最後の行がここまで来て続く\n第2章 保証"),
    ],
)
def test_words_stay_apart_and_japanese_stays_together(before, after, joined):
    """Case 12."""
    assert join(before, after)[0] == joined


def test_running_heads_never_stand_inside_a_sentence():
    """Case 12: the page number and the running head lie between the halves of the sentence."""
    pages = [
        f"Annual report\nText {c} of this page grew to\n{n}" for n, c in enumerate("abcdef", 1)
    ]
    text, _ = join(*pages)
    assert "grew to\nText b" in text


@given(st.lists(st.text("ab。日 \n.1", max_size=20), max_size=6))
def test_spans_cover_the_text_in_order(pages):
    text, parts = join(*pages)
    assert [part for part in parts if part] == [part for part in parts if part.strip()]
    at = 0
    for part in parts:
        at = text.index(part, at) + len(part)
    assert len(text) - sum(map(len, parts)) <= 2 * len(pages)


HEAD = "Marrowby Ferries Limited annual report"


def report(end, start):
    """Pages with a running head each; only between the third and the fourth stand these lines."""
    pages = [[HEAD, f"Vessel {c} sailed.", "It came back."] for c in "abcdef"]
    pages[2][-1] = end
    pages[3][1] = start
    return join(*("\n".join(page) for page in pages))[0]


@pytest.mark.parametrize(
    ("end", "start"),
    [
        ("It came back.", "Vessel d sailed."),
        ("Passengers 1,204 1,188", "Vehicles 310 298"),
        ("Passengers 1,204 1,188", "The fleet is old."),
    ],
)
def test_a_running_head_stays_where_no_sentence_runs_over_the_break(end, start):
    assert f"{end}\n\n{HEAD}\n{start}" in report(end, start)


@pytest.mark.parametrize(
    ("end", "start"),
    [
        ("and every summer it carries the", "people of the islands."),
        ("Of all the vessels that sail from here this one alone", "North Star, came back."),
    ],
)
def test_a_running_head_goes_where_a_sentence_runs_over_the_break(end, start):
    text = report(end, start)
    assert f"{end}\n{start}" in text
    assert text.count(HEAD) == 5
