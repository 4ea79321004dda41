"""Joints in maximal coordinates: every body keeps its six velocities, and joints are rows between them."""

from perp.worlds.rigid3d.joints.ball import Ball
from perp.worlds.rigid3d.joints.bend import Bend
from perp.worlds.rigid3d.joints.distance import Distance
from perp.worlds.rigid3d.joints.fixed import Fixed
from perp.worlds.rigid3d.joints.hinge import Hinge
from perp.worlds.rigid3d.joints.joint import Joint
from perp.worlds.rigid3d.joints.joint_set import JointSet, Violation
from perp.worlds.rigid3d.joints.universal import Universal

__all__ = ["Ball", "Bend", "Distance", "Fixed", "Hinge", "Joint", "JointSet", "Universal", "Violation"]
