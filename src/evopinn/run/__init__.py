"""Running a search: supervised workers, and the store that remembers.

Nothing is imported here: a worker's first act is to bind its life to its parent's, before anything heavy.
"""
