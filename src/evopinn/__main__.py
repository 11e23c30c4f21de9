"""`python -m evopinn`: the command line, where its script is not on the path."""

from evopinn.cli import main

if __name__ == "__main__":
    main()
