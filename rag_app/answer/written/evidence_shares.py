"""How much of what is said, by weight of its words, must stand where it is looked for."""

# So much nearer to what is said must another stretch be, to be what is spoken of.
MIN_NEARER_SHARE = 0.3
MIN_NEARER_UNIT_SHARE = 0.6
# Below it, a statement shares too few of its words with its evidence.
MIN_WORDS_SHARE = 0.5
