"""Views for a terminal: tables, charts, the live screen of a search."""
