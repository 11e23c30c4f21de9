import sys
from pathlib import Path

# What the tests of other views look into pages and figures with.
sys.path.append(str(Path(__file__).parents[1] / "view"))
