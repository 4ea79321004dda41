"""Rigid bodies in three dimensions."""

from perp.worlds.rigid3d.builder import Geom, RigidBuilder
from perp.worlds.rigid3d.joint import Joint
from perp.worlds.rigid3d.joint_set import JointSet
from perp.worlds.rigid3d.joints import Ball, Bend, Distance, Fixed, Hinge, Universal
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
