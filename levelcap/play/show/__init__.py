"""Matches for eyes: messages for the browser, the terminal, films and curves.

frames.py   one state as bytes      feed.py   who fell
film.py     GIF and PNG             terminal.py   a match in the terminal
plot.py     curves as a picture
"""
