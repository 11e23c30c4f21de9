"""Studies: experiments described by files, carried out as runs that can be stopped at any moment."""
