"""Text with labels, from files, the hub or a grammar, to token numbers, vocabularies and length buckets.

`classification_build` makes a task's folder, once per task; `classification_data` reads it back, once per training
run. They are apart so that a run depends on none of the readers and writers of raw text.
"""
