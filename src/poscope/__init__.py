"""What do position embeddings learn, and what does that do to a task?"""

__version__ = "0.1.0"
