"""English abbreviations whose full stop may not end a sentence. Lower case, without the stop."""

from __future__ import annotations

# A name or an explanation follows, never a new sentence.
ALWAYS = frozenset(
    ["dr", "mr", "mrs", "ms", "mx", "prof", "st", "sr.", "messrs", "mmes", "hon", "rev", "gen", "col", "lt", "cpl", "sgt", "capt", "cmdr", "adm", "maj", "gov", "sen", "rep", "pres", "mgr", "supt", "e.g", "i.e", "eg", "ie", "cf", "viz", "vs", "v", "resp", "incl", "excl", "approx", "ca", "c.f"]
)

# A number follows; without one the word ends its sentence ("He said no. We agreed.").
BEFORE_NUMBER = frozenset(
    ["no", "nos", "fig", "figs", "eq", "eqs", "sec", "secs", "sect", "vol", "vols", "ch", "chap", "art", "arts", "p", "pp", "para", "paras", "pt", "pts", "ref", "refs", "app", "tab", "ex", "exh", "cl", "par", "ver", "bldg", "ste", "rm", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "nr", "n°", "§"]
)

# May end a sentence: only a word that opens sentences tells.
MAYBE_LAST = frozenset(
    ["inc", "ltd", "corp", "co", "cos", "llc", "llp", "plc", "bros", "assn", "dept", "univ", "est", "etc", "al", "jr", "sr", "esq", "ph.d", "m.d", "b.a", "m.a", "u.s", "u.k", "u.n", "e.u", "u.s.a", "d.c", "n.y", "a.m", "p.m", "ave", "blvd", "rd", "mt", "ft", "int'l", "nat'l", "gov't", "bd", "div", "admin", "mfg", "intl", "natl", "jan", "feb", "mar", "apr", "aug", "sept", "oct", "nov", "dec", "mon", "tue", "wed", "thu", "fri", "sat", "sun", "min", "max", "avg", "ed", "eds", "trans", "op", "cit", "ibid", "rev"]
)

STARTERS = frozenset(
    ["The", "A", "An", "In", "On", "At", "By", "For", "From", "With", "Without", "To", "Of", "As", "If", "When", "While", "Where", "Although", "Though", "Because", "Since", "Before", "After", "During", "Under", "Over", "Once", "Until", "Unless", "However", "Moreover", "Furthermore", "Therefore", "Thus", "Hence", "Additionally", "Also", "And", "But", "Or", "So", "Yet", "We", "Our", "Us", "I", "My", "You", "Your", "He", "His", "She", "Her", "It", "Its", "They", "Their", "There", "These", "This", "Those", "That", "Such", "Each", "Every", "All", "Both", "Some", "Any", "No", "Not", "Many", "Most", "Other", "Another", "Several", "Certain", "What", "Which", "Who", "How", "Why", "See", "Note", "Refer", "Based", "Following", "Net", "Total", "Overall", "Here", "Now", "Then", "Today", "Please", "Both", "Between", "Upon", "Despite", "Due", "Given", "Further"]
)
