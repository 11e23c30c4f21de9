"""Domains: shapes, their unions, differences and intersections, and time."""

from evopinn.problem.domains.boolean import Combination, Renamed
from evopinn.problem.domains.boxes import Box, Interval, Rectangle
from evopinn.problem.domains.chains import CurveChain, chains
from evopinn.problem.domains.curves import Arc, Curve, Segment
from evopinn.problem.domains.disks import Disk, Ring
from evopinn.problem.domains.domain import Domain, Shape, SpaceTime, Time
from evopinn.problem.domains.pieces import EndPoint, Face, Piece
from evopinn.problem.domains.polygon import Polygon

__all__ = [
    "Arc",
    "Box",
    "Combination",
    "Curve",
    "CurveChain",
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
