"""The VaultKeeper: jobs, vault and campaign over HTTP, and the housekeeping of the realm.

app.py           the app and its process
jobs_api.py      /api/jobs…
vault_api.py     /api/assets, /api/ledger, /api/champion …
campaign_api.py  /api/heroes, /api/campaigns, /api/quests, /api/training …
guild_api.py     /api/guild, /api/passives
events_api.py    /api/battle_log, /api/events
settings_api.py  /api/settings
housekeeping.py  what has to be done every second, minute and hour
"""
