"""Services as programs call them: `keeper` (API and queue over HTTP), `spectate` (a live match)."""
