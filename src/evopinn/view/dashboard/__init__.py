"""The dashboard: a small server that shows runs live in a browser, and never writes to a store."""
