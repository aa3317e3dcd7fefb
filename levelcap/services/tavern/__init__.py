"""The Tavern: the web game on port 8888. Browsers talk to this service only.

app.py        the app and its process
entry.py      one-time codes and sessions: who may come in
doorway.py    the small pages before that, and the policy of scripts
pulse.py      one look at the realm a second, handed to every open page
orders.py     what a click asks of the Keeper
downloads.py  files a page offers; visits.py: when somebody was last here
lore.py       the only translator from measures to words of the game
tags.py       elements; charts.py, fields.py: those with a module of their own in static/
page.py       what all pages do alike: open, read, draw anew, leaf, order
parts.py      small pieces of pages: chips, bars, meters, figures, lines of a list
arena.py, oracle.py  routes that two pages call; relay.py  live matches for many browsers
frame.py      header, navigation, notifications around every page
pages/        one file a page
"""
