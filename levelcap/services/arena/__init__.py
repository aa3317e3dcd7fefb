"""The training daemon: one worker of this machine that claims what the realm wants trained."""
