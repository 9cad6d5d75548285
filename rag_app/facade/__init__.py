"""The parts of Index and JoinedIndex: argument checks, opening, querying, and information."""
