"""newsdedup: find the copies in offline corpora of news and keep one of each."""

__version__ = "0.1.0"
