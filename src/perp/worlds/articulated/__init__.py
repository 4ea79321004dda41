"""Articulated bodies in reduced coordinates: MuJoCo's kinematics, inertia and Jacobians; our rows and solvers."""

from perp.worlds.articulated.world import ArticulatedWorld

__all__ = ["ArticulatedWorld"]
