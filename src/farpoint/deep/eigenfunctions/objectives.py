"""Objectives on a batch of pairs, whose optimum are the eigenfunctions."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

OBJECTIVES = ("allo", "ggdo")
# The optimal dual variables are at most 4 in size (β = −2 ν, ν ≤ 2): the limit only stops a training that diverges.
_LARGEST_DUAL = 100.0


@dataclass(frozen=True)
class Batch:
    """What an objective needs to know about a batch: ⟨u_i, L u_i⟩, and ⟨u_j, sg u_k⟩ from two independent samples.

    If the batch is the whole data set, both products are equal and exact.
    """

    energies: Tensor
    products: tuple[Tensor, Tensor]


def whole_batch(values: Tensor, before: Tensor, after: Tensor, shares: Tensor, mass: Tensor, stop: bool) -> Batch:
    """Return the batch of all pairs from the values at all observations."""
    energies = 0.5 * (shares[:, None] * (values[before] - values[after]) ** 2).sum(0)
    product = (values * mass[:, None]).T @ (values.detach() if stop else values)
    return Batch(energies, (product, product))


def sampled_batch(before: tuple[Tensor, Tensor], after: tuple[Tensor, Tensor], stop: bool) -> Batch:
    """Return the batch of two independent samples of pairs from the values at their ends."""
    energies = sum((0.25 * ((u - v) ** 2).mean(0) for u, v in zip(before, after, strict=True)), torch.zeros(()))
    products = []
    for u, v in zip(before, after, strict=True):
        ends = torch.cat([u, v])
        products.append(ends.T @ (ends.detach() if stop else ends) / len(ends))
    return Batch(energies, (products[0], products[1]))


class Allo:
    """The augmented Lagrangian of Gomez, Bowling and Machado (2024).

    max over β, min over u of Σ ⟨u_i, L u_i⟩ + Σ_{k≤j} β_jk (⟨u_j, sg u_k⟩ − δ_jk) + b Σ_{k≤j} (⟨u_j, sg u_k⟩ − δ_jk)²,
    where sg stops the gradient, so that u_j adapts to the functions before it but not they to it. The only stable point
    are the eigenfunctions in order, with β_jj = −2 ν_j.
    """

    stop = True

    def __init__(self, n_functions: int, barrier: float, dual_rate: float, device: torch.device) -> None:
        self.barrier, self.dual_rate = barrier, dual_rate
        self.identity = torch.eye(n_functions, device=device)
        self.duals = torch.zeros(n_functions, n_functions, device=device)

    def loss(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the loss and the constraint violation."""
        first, second = (torch.tril(product - self.identity) for product in batch.products)
        error = 0.5 * (first + second)
        loss = batch.energies.sum() + (self.duals * error).sum() + self.barrier * (first * second).sum()
        return loss, error.detach()

    def after_step(self, error: Tensor) -> None:
        """Update the dual variables by gradient ascent."""
        self.duals = (self.duals + self.dual_rate * error).clamp(-_LARGEST_DUAL, _LARGEST_DUAL)


class Ggdo:
    """The generalized graph drawing objective of Wang and others (2021).

    min over u of Σ_{l=1}^d [Σ_{i≤l} ⟨u_i, L u_i⟩ + b Σ_{j,k≤l} (⟨u_j, u_k⟩ − δ_jk)²]: function i has the
    coefficient d − i + 1, the pair j, k the coefficient d − max(j, k) + 1. All are divided by d, so that the loss has
    the same scale as that of `Allo`.
    """

    stop = False

    def __init__(self, n_functions: int, barrier: float, dual_rate: float, device: torch.device) -> None:
        self.barrier = barrier
        self.identity = torch.eye(n_functions, device=device)
        coefficients = torch.arange(n_functions, 0, -1, device=device) / n_functions
        self.coefficients = coefficients
        self.pairs = torch.minimum(coefficients[:, None], coefficients[None, :])
        # Not used; present so that all objectives have the same state.
        self.duals = torch.zeros(n_functions, n_functions, device=device)

    def loss(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the loss and the constraint violation."""
        first, second = (product - self.identity for product in batch.products)
        loss = (self.coefficients * batch.energies).sum() + self.barrier * (self.pairs * first * second).sum()
        return loss, 0.5 * (first + second).detach()

    def after_step(self, error: Tensor) -> None:
        """Do nothing: this objective has no dual variables."""
