"""Domains: shapes, their unions, differences and intersections, and time."""

from evopinn.problem.domains.boolean import Combination, Renamed
from evopinn.problem.domains.boxes import Box, Interval, Rectangle
from evopinn.problem.domains.chains import Chain, chains
from evopinn.problem.domains.curves import Arc, Curve, Segment
from evopinn.problem.domains.domain import Domain, Shape, SpaceTime, Time
from evopinn.problem.domains.pieces import EndPoint, Face, Piece
from evopinn.problem.domains.polygon import Polygon
from evopinn.problem.domains.rounds import Disk, Ring

__all__ = [
    "Arc",
    "Box",
    "Chain",
    "Combination",
    "Curve",
    "Disk",
    "Domain",
    "EndPoint",
    "Face",
    "Interval",
    "Piece",
    "Polygon",
    "Rectangle",
    "Renamed",
    "Ring",
    "Segment",
    "Shape",
    "SpaceTime",
    "Time",
    "chains",
]
