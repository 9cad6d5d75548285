"""Tables of a page, from the places of its words. Pure."""
