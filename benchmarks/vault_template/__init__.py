"""The Tavern's /vault as a template with fragments: a trial, measured by `vault_pages.py`."""
