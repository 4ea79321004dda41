"""A readable twin of ADMM: dense matrices, x, z and w each by their own formula, lists of iterates for the mixing."""

from __future__ import annotations

import numpy as np
import projected_gradient_twins as gradient_twins

import perp


def slip_shift(problem, w):
    """friction |w_t| on the normal rows of the exact cones."""
    shift = np.zeros(problem.n)
    if problem.kind == "contact/cone":
        for c, mu in enumerate(problem.friction):
            n = problem.dimension * c
            shift[n] = mu * np.linalg.norm(w[n + 1 : n + problem.dimension])
    return shift


def groups_of(problem):
    """The rows that are bound together (of a contact, of a disc, or one by itself), and whether they can slide."""
    if not isinstance(problem, perp.ContactProblem):
        return [([i], False) for i in range(problem.n)]
    groups, width = [], problem.dimension
    for c in range(problem.contacts):
        rows = list(range(width * c, width * (c + 1)))
        groups += [(rows[:1], False), (rows[1:], width == 3)] if problem.model == "disc" else [(rows, True)]
    return groups + [([i], False) for i in range(problem.contact_rows, problem.n)]


def state_of(rows, can_slide, z, w):
    if not w[rows].any():
        return "free"
    return "slides" if can_slide and z[rows].any() else "at bound"


class Twin:
    """`step()` is one iteration."""

    def __init__(self, problem, x, L, rule="contacts", power=1 / 3, proximal=0.0, relaxation=1.0, memory=0, every=20):
        self.problem, self.L, self.rule, self.relaxation, self.memory = problem, L, rule, relaxation, memory
        self.A, self.W = problem.A.to_dense(), gradient_twins.weights(problem)
        m = (proximal or 1e-6) * L
        self.rho, self.increment = np.sqrt(m * L) * (L / m) ** power, (L / m) ** 0.05
        self.eta = proximal * L / self.W
        self.groups = groups_of(problem)
        self.factor, self.states = np.ones(problem.n), [""] * len(self.groups)
        self.interval = self.next_look = every
        y = self.A @ x + problem.b
        self.mark = x.copy(), y + slip_shift(problem, y)
        self.x, self.z, self.w = x.copy(), *self.mark
        self.answer = x.copy()
        self.take_penalties()
        self.done, self.updates = 0, 0

    def take_penalties(self):
        self.R = np.clip(self.rho * self.factor, 1e-7, 1e7) / self.W
        self.u = self.z - self.w / self.R
        self.split()
        self.points, self.images, self.shortest, self.is_mixed = [], [], np.inf, False

    def split(self):
        self.z = gradient_twins.nearest(self.problem, self.u)
        self.w = self.R * (self.z - self.u)

    def step(self):
        b, before = self.problem.b, self.answer
        right = -(b + slip_shift(self.problem, self.w)) + self.R * self.z + self.w + self.eta * self.x
        self.x = np.linalg.solve(self.A + np.diag(self.R + self.eta), right)
        if self.memory == 0:
            ahead = self.relaxation * self.x + (1.0 - self.relaxation) * self.z
            self.u = ahead - self.w / self.R  # the usual form
        else:
            self.mix(self.u + self.relaxation * (self.x - self.z))
        self.split()
        self.done += 1
        changes = {"spectral": self.follow_spectrum, "contacts": self.follow_contacts, "fixed": lambda before: False}
        if changes[self.rule](before):
            self.updates += 1
            self.take_penalties()
        self.answer = self.z

    def mix(self, image):
        root = np.sqrt(self.R)
        way = np.linalg.norm(root * (image - self.u))
        if self.is_mixed and way > 10.0 * self.shortest:
            self.u = self.images[-1]
            self.points, self.images, self.shortest, self.is_mixed = [], [], np.inf, False
            return
        self.shortest = min(self.shortest, way)
        self.points, self.images = [*self.points, self.u][-self.memory - 1 :], [*self.images, image][-self.memory - 1 :]
        self.u = image
        if len(self.points) > 1:
            T = np.diff(self.images, axis=0).T
            G = root[:, None] * (T - np.diff(self.points, axis=0).T)
            gram = G.T @ G + 1e-10 * np.sum(G * G) * np.eye(G.shape[1])
            self.u = image - T @ np.linalg.solve(gram, G.T @ (root * (image - self.points[-1])))
            self.is_mixed = True

    def follow_spectrum(self, before):
        primal = np.linalg.norm((self.x - self.z) / np.sqrt(self.W))
        dual = np.linalg.norm(self.R * (self.z - before) * np.sqrt(self.W))
        if primal * self.L > 10.0 * dual:
            self.rho *= self.increment
        elif dual > 10.0 * primal * self.L:
            self.rho /= self.increment
        else:
            return False
        return True

    def follow_contacts(self, before):
        if self.done < self.next_look:
            return False
        self.interval *= 1.1
        self.next_look = self.done + self.interval
        states = [state_of(rows, can_slide, self.z, self.w) for rows, can_slide in self.groups]
        factor = np.ones(self.problem.n)
        for (rows, _), state, last in zip(self.groups, states, self.states, strict=True):
            if state == last == "free":
                factor[rows] = np.maximum(self.factor[rows] / 10.0, 1e-4)
            if state == last == "at bound":
                factor[rows] = np.minimum(self.factor[rows] * 10.0, 1e4)
        sliding = [i for (rows, _), state in zip(self.groups, states, strict=True) if state == "slides" for i in rows]
        rows = sliding or list(range(self.problem.n))
        dz, dw, W = (self.z - self.mark[0])[rows], (self.w - self.mark[1])[rows], self.W[rows]
        change = np.linalg.norm(dw * np.sqrt(W)) / max(np.linalg.norm(dz / np.sqrt(W)), 1e-150) / self.rho
        change = 1.0 if 0.5 <= change <= 2.0 or not np.isfinite(change) else np.clip(change, 0.1, 10.0)
        is_new = change != 1.0 or (factor != self.factor).any()
        self.states, self.mark, self.factor, self.rho = states, (self.z, self.w), factor, self.rho * change
        return is_new
