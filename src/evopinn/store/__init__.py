"""The store of a run: its directory, database, records, weights."""
