"""The pages, one file each: the class `VaultPage` of `vault.py` is opened at `/vault`."""
