"""Rigid bodies in three dimensions."""

from perp.worlds.rigid3d.builder import RigidBuilder
from perp.worlds.rigid3d.geom import Geom
from perp.worlds.rigid3d.joints import Ball, Bend, Distance, Fixed, Hinge, Joint, JointSet, Universal
from perp.worlds.rigid3d.poses import Poses
from perp.worlds.rigid3d.rigid_world import RigidWorld

__all__ = [
    "Ball",
    "Bend",
    "Distance",
    "Fixed",
    "Geom",
    "Hinge",
    "Joint",
    "JointSet",
    "Poses",
    "RigidBuilder",
    "RigidWorld",
    "Universal",
]
