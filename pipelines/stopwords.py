"""Words that carry no content, for search terms and for questions."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The list of Lucene's English analyzer, which published BM25 figures use, and the words that
# only ask: a heading "What was gained" is no answer to "What was the revenue?".
STOP_WORDS = _words(
    """
    a an and are as at be but by for if in into is it no not of on or such that the their then there
    these they this to was will with what which who whom whose when where why how do does did
    """
)

# Further words that a question consists of and that no passage needs to share; stemmed.
QUESTION_WORDS = _words(
    """
    done has have had been were can could
    would should may might must shall am i me my we our you your he she his her him its them from
    about than so too veri ani some all each both between dure befor after abov below up down out
    over under again onli own same more most other much mani pleas tell explain describ list name
    give show find say said mean also
    """
)

# Japanese that links, inflects or asks.
JAPANESE_FUNCTION_WORDS = _words(
    """
    でしょうか でしょう ください について における において によって により による に対する
    としての として されている されていた されました されます された されて される していた している
    しています しました します した して する ための ために ため ですか でした です ました ません
    ますか ます であった である だった という とは とき こと もの いました います いる いた あります
    あった ある なります なった なる なり ない なかった どのような どのように どんな どの どこ どれ
    どちら どう なに いつ だれ なぜ いくつ いくら この その あの これ それ から まで より など だけ
    または および また は が を に の と も で へ や か
    """
)
