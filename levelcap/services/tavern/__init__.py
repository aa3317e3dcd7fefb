"""The Tavern: the web game on port 8888. Browsers talk to this service only.

app.py        the app and its process
entry.py      one-time codes and sessions: who may come in
doorway.py    the small pages before that, and the policy of scripts
pulse.py      one look at the realm a second, handed to every open page
orders.py     what a click asks of the Keeper
downloads.py  files a page offers; visits.py: when somebody was last here
lore.py       the only translator from measures to words of the game
view.py       what all pages do alike: read, draw whole or in parts, take orders
live.py       one socket a tab: what happened, the header
plots.py      what charts show
arena.py, oracle.py  routes that two pages call; relay.py  live matches for many browsers
pages/        one file a page: what it reads; its words stand in templates/
static/       scripts (page.js is every page's) and styles, plain modules without a build step
"""
