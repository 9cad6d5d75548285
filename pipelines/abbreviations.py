"""English abbreviations whose full stop may not end a sentence. Lower case, without the stop."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# A name or an explanation follows, never a new sentence.
ALWAYS = _words(
    """
    dr mr mrs ms mx prof st messrs mmes hon rev gen col lt cpl sgt capt cmdr adm maj gov sen rep
    pres mgr supt e.g i.e eg ie cf viz vs v pub resp incl excl approx ca
    """
)

# A number follows; without one the word ends its sentence ("He said no. We agreed.").
BEFORE_NUMBER = _words(
    """
    no nos fig figs eq eqs sec secs sect vol vols ch chap art arts p pp para paras pt pts ref refs
    app tab ex exh cl par ver bldg ste rm stat jan feb mar apr jun jul aug sep sept oct nov dec
    nr n°
    """
)

# May end a sentence, and does where the next word usually opens one (``STARTERS``).
MAYBE_LAST = _words(
    """
    inc ltd corp co cos llc llp plc bros assn dept univ est etc al jr sr esq ave blvd rd mt ft
    int'l nat'l gov't bd div admin mfg intl natl mon tue wed thu fri sat sun min max avg ed eds
    trans op cit ibid
    """
)

STARTERS = _words(
    """
    The A An In On At By For From With Without To Of As If When While Where Although Though Because
    Since Before After During Under Over Once Until Unless However Moreover Furthermore Therefore
    Thus Hence Additionally Also And But Or So Yet We Our Us I My You Your He His She Her It Its
    They Their There These This Those That Such Each Every All Both Some Any No Not Many Most Other
    Another Several Certain What Which Who How Why See Note Refer Based Following Net Total Overall
    Here Now Then Today Please Between Upon Despite Due Given Further One Two Three Four Five Six
    Seven Eight Nine Ten
    """
)
