"""Workers: jobs and outcomes, local processes, a Ray cluster."""
