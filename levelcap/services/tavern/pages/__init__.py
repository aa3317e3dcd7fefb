"""The pages, one file each: `build(tavern)` registers it."""
