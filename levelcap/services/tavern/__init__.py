"""The Tavern: the web game on port 8888. Browsers talk to this service only.

app.py        the app and its process
entry.py      one-time codes and sessions: who may come in
doorway.py    the small pages before that, and the policy of scripts
pulse.py      one look at the realm a second, handed to every open page
orders.py     what a click asks of the Keeper
downloads.py  files a page offers; visits.py: when somebody was last here
lore.py       the only translator from measures to words of the game
tags.py       elements; charts.py, fields.py: those with a module of their own in static/
page.py       what pages with lists do alike: read, draw anew, leaf, order
frame.py      header, navigation, notifications around every page
pages/        one file a page
"""
