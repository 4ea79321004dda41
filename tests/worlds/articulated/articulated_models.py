"""MJCF texts that several tests of articulated worlds share, and how they step."""

from __future__ import annotations

from typing import Any

import numpy as np

import perp
from perp.worlds.articulated import ArticulatedWorld
from perp.worlds.world import StepReport

TIGHT = 1e-13


def solver(method: str = "block_gauss_seidel", tol: float = TIGHT, **options: Any) -> Any:
    return lambda problem, x0: perp.solve(problem, method, tol=tol, x0=x0, **options)


def run(world: ArticulatedWorld, steps: int, dt: float = 0.002, method: str = "block_gauss_seidel") -> StepReport:
    for _ in range(steps):
        report = world.step(dt, solver(method))
    return report


def model(body: str, *, option: str = "", rest: str = "", floor: str = "") -> str:
    ground = f'<geom name="floor" type="plane" size="5 5 1" {floor}/>'
    return f"<mujoco><option {option}/><worldbody>{ground}{body}</worldbody>{rest}</mujoco>"


def free_box(height: float, *, friction: float = 0.5, option: str = "", more: str = "") -> str:
    """A cube of 0.2 m and 8 kg on the floor or above it."""
    rough = f'friction="{friction} 0 0"'
    box = f'<body pos="0 0 {height}"><freejoint/><geom type="box" size=".1 .1 .1" {rough} {more}/></body>'
    return model(box, option=option, floor=f"{rough} {more}")


DOUBLE_PENDULUM = model(
    """<body pos="0 0 2"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 -.4" size=".03"/>
         <body pos=".3 0 -.4"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .5 0 .1" size=".02"/></body>
       </body>"""
)

HUMANOID = """
<mujoco>
  <compiler angle="degree"/>
  <default>
    <geom type="capsule" friction=".8 0 0" density="1000"/>
    <joint damping=".3" armature=".01" limited="true"/>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1"/>
    <body name="torso" pos="0 0 .1">
      <freejoint/>
      <geom name="chest" fromto="0 -.07 0 0 .07 0" size=".08"/>
      <geom name="head" type="sphere" pos=".22 0 0" size=".08"/>
      <body name="pelvis" pos="-.2 0 0">
        <joint axis="0 1 0" range="-30 30"/> <joint axis="0 0 1" range="-20 20"/>
        <geom fromto="0 -.07 0 0 .07 0" size=".08"/>
        <body name="right_thigh" pos="-.08 -.1 0">
          <joint axis="0 1 0" range="-80 20"/> <joint axis="0 0 1" range="-25 25"/> <joint axis="1 0 0" range="-30 30"/>
          <geom fromto="0 0 0 -.34 0 0" size=".055"/>
          <body name="right_shin" pos="-.4 0 0">
            <joint axis="0 1 0" range="-5 120"/> <geom fromto="0 0 0 -.3 0 0" size=".045"/>
            <geom type="sphere" pos="-.36 0 .03" size=".05"/>
          </body>
        </body>
        <body name="left_thigh" pos="-.08 .1 0">
          <joint axis="0 1 0" range="-80 20"/> <joint axis="0 0 1" range="-25 25"/> <joint axis="1 0 0" range="-30 30"/>
          <geom fromto="0 0 0 -.34 0 0" size=".055"/>
          <body name="left_shin" pos="-.4 0 0">
            <joint axis="0 1 0" range="-5 120"/> <geom fromto="0 0 0 -.3 0 0" size=".045"/>
            <geom type="sphere" pos="-.36 0 .03" size=".05"/>
          </body>
        </body>
      </body>
      <body name="right_arm" pos=".05 -.2 0">
        <joint axis="1 0 0" range="-60 60"/> <joint axis="0 0 1" range="-60 60"/>
        <geom fromto="0 0 0 0 -.25 0" size=".04"/>
        <body name="right_forearm" pos="0 -.3 0">
          <joint axis="0 0 1" range="-90 5"/> <geom fromto="0 0 0 0 -.22 0" size=".035"/>
        </body>
      </body>
      <body name="left_arm" pos=".05 .2 0">
        <joint axis="1 0 0" range="-60 60"/> <joint axis="0 0 1" range="-60 60"/>
        <geom fromto="0 0 0 0 .25 0" size=".04"/>
        <body name="left_forearm" pos="0 .3 0">
          <joint axis="0 0 1" range="-5 90"/> <geom fromto="0 0 0 0 .22 0" size=".035"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
"""22 degrees of freedom, lying on its back a little above the floor."""


def finite(world: ArticulatedWorld) -> bool:
    return bool(np.isfinite(world.qpos).all() and np.isfinite(world.qvel).all())
