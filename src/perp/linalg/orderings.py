"""In which order to eliminate the rows of a sparse symmetric matrix, so that its Cholesky factor stays sparse.

Each function takes a SciPy sparse array, of which only the pattern of A + A^T off the diagonal counts, and returns a
permutation p: p[k] is the row that is eliminated k-th. `analyse` tells what a permutation costs:

    minimum_degree          the usual choice: eliminate the row that has the fewest neighbours
    nested_dissection       divide by separators that are eliminated last: better on large grids
    cuthill_mckee           numbers neighbours closely: a narrow band
    reverse_cuthill_mckee   the same band with less fill inside it
    natural                 as the rows come

THESIS 2.5.4 takes Cuthill-McKee for contacts; on large stacks of boxes minimum degree leaves half of its fill.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from perp.errors import suggest
from perp.kernels.factors import graphs
from perp.kernels.factors import minimum_degree as minimum_degree_kernels
from perp.linalg.symbolic import Graph, Integers, adjacency, predict_flops
from perp.problems.inputs import require_count

Permutation = NDArray[np.intp]
LEAF = 400
"""Rows in a region that nested dissection does not divide any more."""


def order(A: Any, method: str = "amd") -> Permutation:
    """The permutation of the named method; `"best"` is minimum degree or nested dissection, by predicted flops."""
    if method == "best":
        graph = adjacency(A)
        return min((minimum_degree(graph), nested_dissection(graph)), key=lambda p: predict_flops(graph, p))
    if method not in METHODS:
        raise ValueError(f"unknown ordering {method!r}{suggest(method, (*METHODS, 'best'))}")
    return METHODS[method](A)


def natural(A: Any) -> Permutation:
    """The rows as they come."""
    return np.arange(adjacency(A).n, dtype=np.intp)


def cuthill_mckee(A: Any) -> Permutation:
    """Breadth first from a row with few neighbours, neighbours by rising degree (Cuthill & McKee 1969)."""
    return np.ascontiguousarray(reverse_cuthill_mckee(A)[::-1])


def reverse_cuthill_mckee(A: Any) -> Permutation:
    """Cuthill-McKee from the end to the beginning: the same band, never more fill (Liu & Sherman 1976). SciPy's."""
    graph = adjacency(A)
    if graph.n == 0:
        return np.empty(0, dtype=np.intp)
    pattern = (np.ones(graph.indices.size), graph.indices.astype(np.int32), graph.pointers.astype(np.int32))
    found = csgraph.reverse_cuthill_mckee(sparse.csr_array(pattern, shape=(graph.n, graph.n)), symmetric_mode=True)
    return np.asarray(found, dtype=np.intp)


def minimum_degree(A: Any) -> Permutation:
    """Approximate minimum degree (Amestoy, Davis & Duff 1996): eliminate the row with the fewest neighbours by then."""
    twins = _gather_twins(adjacency(A))
    nodes = np.arange(twins.graph.n, dtype=np.int64)
    return twins.expand(_eliminate(twins, nodes, np.zeros_like(nodes)))


def nested_dissection(A: Any, leaf: int = LEAF) -> Permutation:
    """Separators last, and within the parts between them minimum degree (George 1973; Ashcraft & Liu 1998).

    Each separator is a level of a breadth-first search from an end of the region, refined; regions of at most `leaf`
    rows are left whole. Minimum degree then orders each region and each separator, seeing later ones as neighbours.
    """
    require_count(leaf, "leaf", least=1)
    twins = _gather_twins(adjacency(A))
    nodes, stage = np.empty(twins.graph.n, dtype=np.int64), np.empty(twins.graph.n, dtype=np.int64)
    work = np.empty((graphs.DISSECTION_ROWS, twins.graph.n + 1), dtype=np.int64)
    graphs.dissect(*twins.graph, twins.weights, int(leaf), nodes, stage, work)
    return twins.expand(_eliminate(twins, nodes, stage))


METHODS: dict[str, Callable[[Any], Permutation]] = {
    "amd": minimum_degree,
    "nested_dissection": nested_dissection,
    "cuthill_mckee": cuthill_mckee,
    "reverse_cuthill_mckee": reverse_cuthill_mckee,
    "natural": natural,
}


class _Twins(NamedTuple):
    """A graph whose nodes stand for `weights` rows each: `rows`, grouped by node."""

    graph: Graph
    weights: Integers
    rows: Integers

    def expand(self, nodes: Integers) -> Permutation:
        """The rows of the nodes, in the order of the nodes."""
        weights = self.weights[nodes]
        begin_here, begin_there = np.cumsum(weights) - weights, np.cumsum(self.weights) - self.weights
        at = np.arange(self.rows.size) + np.repeat(begin_there[nodes] - begin_here, weights)
        return np.asarray(self.rows[at], dtype=np.intp)


def _gather_twins(graph: Graph) -> _Twins:
    """Rows with the same neighbours (themselves included) as one node: three rows a contact, twelve a box on a box."""
    hashes = np.empty(graph.n, dtype=np.uint64)
    graphs.hash_neighbourhoods(*graph, hashes)
    twin, mark = np.empty(graph.n, dtype=np.int64), np.empty(graph.n, dtype=np.int64)
    graphs.find_twins(*graph, hashes, np.argsort(hashes, kind="stable"), twin, mark)
    models, weights = np.unique(twin, return_counts=True)
    if models.size == graph.n:
        return _Twins(graph, np.ones(graph.n, dtype=np.int64), np.arange(graph.n, dtype=np.int64))
    number = np.full(graph.n, -1, dtype=np.int64)
    number[models] = np.arange(models.size)
    pointers, indices = np.empty(models.size + 1, dtype=np.int64), np.empty_like(graph.indices)
    graphs.quotient_graph(*graph, models, number, pointers, indices)
    small = Graph(pointers, indices[: pointers[-1]].copy())
    return _Twins(small, weights.astype(np.int64), np.argsort(number[twin], kind="stable"))


def _eliminate(twins: _Twins, nodes: Integers, stage: Integers) -> Integers:
    """Nodes in the order of the kernel `minimum_degree`; `nodes` are given by rising stage."""
    n, edges = twins.graph.n, twins.graph.indices.size
    found = np.empty(n, dtype=np.int64)
    lists = np.empty(edges + edges // 5 + 2 * n, dtype=np.int64)  # the graph, one new element, and air
    work = np.empty((minimum_degree_kernels.STATE_ROWS, n), dtype=np.int64)
    head = np.empty(twins.rows.size + 1, dtype=np.int64)
    minimum_degree_kernels.minimum_degree(*twins.graph, twins.weights, stage, nodes, found, lists, work, head)
    return found
