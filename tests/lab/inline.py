class Inline:
    """In the place of `Isolated`: the same calls, in this process."""

    def __init__(self, make, *arguments):
        self.served = make(*arguments)

    def call(self, method, *arguments):
        return getattr(self.served, method)(*arguments)

    def close(self):
        self.served = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
