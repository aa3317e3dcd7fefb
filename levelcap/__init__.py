"""levelcap: train heroes in a small, fast arena game, and keep what they learned."""

__version__ = "0.1.0"
