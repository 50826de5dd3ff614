"""A recurrent network of modules that noise drives: its coupling and its dynamics (Ito et al.)."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from poscope.errors import DataError

_COUPLING_STREAM = 0x6D6F6475
_NOISE_STREAM = 0x6E6F6973
_STEPS_AT_ONCE = 2000
_SHAPE = 2.0
"""Of the gamma distribution of strengths: graded, and none of them near none."""


@dataclass(frozen=True)
class StochasticNetwork:
    """Settings of the network and of its simulation; time is in units of a node's time constant.

    Attributes:
        nodes: number of nodes.
        modules: number of modules, as equal in size as can be.
        within: sum of the weights that reach a node from its own module.
        between: sum of those that reach it from all other modules; may be negative.
        density: share of the possible links that exist, of those within and of those between modules.
        gain: slope of the nonlinearity at 0.
        noise: sd of what noise adds in one unit of time.
        time_step: of the integration.
        discard: steps at the beginning of a run that are thrown away.
        every: steps from one kept sample to the next.
        samples: kept samples of a run.
        ordered: whether nodes of a module follow each other; else nodes are shuffled.

    Raises:
        DataError: a setting has no meaning.
    """

    nodes: int = 30
    modules: int = 3
    within: float = 1.2
    between: float = 0.03
    density: float = 0.5
    gain: float = 1.0
    noise: float = 0.5
    time_step: float = 0.1
    discard: int = 1000
    every: int = 20
    samples: int = 1000
    ordered: bool = False

    def __post_init__(self) -> None:
        for name, fine, words in (
            ("nodes", self.nodes >= 2, "at least 2"),
            ("modules", 1 <= self.modules <= self.nodes, f"1 to {self.nodes}, one node each"),
            ("within", self.within >= 0, "at least 0"),
            ("between", np.isfinite(self.between), "a number"),
            ("density", 0 < self.density <= 1, "above 0 and at most 1"),
            ("gain", self.gain > 0, "above 0"),
            ("noise", self.noise > 0, "above 0, or nothing ever moves"),
            ("time_step", 0 < self.time_step <= 1, "above 0 and at most 1, or steps overshoot"),
            ("discard", self.discard >= 0, "at least 0"),
            ("every", self.every >= 1, "at least 1"),
            ("samples", self.samples >= 2, "at least 2"),
        ):
            if not fine:
                raise DataError(f"the simulated network: {name} is {getattr(self, name)}; {words}")

    @classmethod
    def of(cls, source: Any) -> "StochasticNetwork":
        """The network that the mapping `source` describes; what it does not name has its default."""
        names = [field.name for field in fields(cls)]
        return cls(**{name: source[name] for name in names if name in source})


def module_of_nodes(network: StochasticNetwork, seed: int) -> np.ndarray:
    """The module of each node, int64, shape (nodes,)."""
    sizes = [len(part) for part in np.array_split(np.arange(network.nodes), network.modules)]
    modules = np.repeat(np.arange(network.modules, dtype=np.int64), sizes)
    return modules if network.ordered else _generator(seed, 0).permutation(modules)


def coupling_weights(network: StochasticNetwork, modules: np.ndarray, seed: int) -> np.ndarray:
    """Weights w, float64, shape (nodes, nodes): row i holds what reaches node i; zero diagonal, not symmetric.

    Each node has links from a share `density` of the other nodes of its module, and from the same share of those of
    other modules. Strengths are gamma-distributed, then scaled so that a node's weights from its own module sum to
    `within` and the others to `between`.
    """
    generator = _generator(seed, 1)
    weights = np.zeros((network.nodes, network.nodes))
    for node, own in enumerate(modules):
        others = np.arange(network.nodes) != node
        for candidates, total in (
            (np.flatnonzero(others & (modules == own)), network.within),
            (np.flatnonzero(others & (modules != own)), network.between),
        ):
            if len(candidates):
                count = max(1, round(network.density * len(candidates)))
                chosen = generator.choice(candidates, count, replace=False)
                strengths = generator.gamma(_SHAPE, size=count)
                weights[node, chosen] = total * strengths / strengths.sum()
    return weights


def simulate(network: StochasticNetwork, weights: np.ndarray, *, seed: int, run: int) -> np.ndarray:
    """One run of the network, float64, shape (samples, nodes).

    The state x of the nodes follows dx = (−x + w tanh(gain · x)) dt + noise dW, integrated by Euler and Maruyama from
    x = 0. W is a Wiener process of each node. A run has a stream of its own: more runs leave the others as they are.

    Args:
        network: the settings.
        weights: w, shape (nodes, nodes).
        seed: of the task.
        run: number of the run.
    """
    generator = np.random.Generator(np.random.PCG64([seed, _NOISE_STREAM, run]))
    step, spread = network.time_step, network.noise * np.sqrt(network.time_step)
    state = np.zeros(network.nodes)
    kept = np.empty((network.samples, network.nodes))
    total = network.discard + network.samples * network.every
    for start in range(0, total, _STEPS_AT_ONCE):
        count = min(_STEPS_AT_ONCE, total - start)
        kicks = spread * generator.standard_normal((count, network.nodes))
        for number, kick in enumerate(kicks, start=start + 1 - network.discard):
            state = state + step * (weights @ np.tanh(network.gain * state) - state) + kick
            if number > 0 and number % network.every == 0:
                kept[number // network.every - 1] = state
    return kept


def _generator(seed: int, part: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64([seed, _COUPLING_STREAM, part]))
