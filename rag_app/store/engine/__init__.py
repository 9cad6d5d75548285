"""The arrays that are searched: segments, scores, ranks and their files; numpy alone."""
