"""The figures, one module each with `draw`. Nothing is imported here, so that an edit in one redraws that one alone."""
