"""Speed, always as a ratio of two sides in one run."""
