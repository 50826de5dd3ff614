"""Getting bytes: from URLs with a pinned checksum, the Hugging Face hub, wheels and local files.

Import the module that you need: `download`, `hub`, `wheel`, `local`. They share `fileset` (what a set of files is),
`checksum`, `retry` and `mirror`; nothing here falls back from one kind of source to another.
"""
