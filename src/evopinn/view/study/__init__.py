"""Studies as people look at them: tables, figures, a page."""
