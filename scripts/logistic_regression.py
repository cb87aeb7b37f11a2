"""Fit a multinomial logistic regression, for the scripts that train small models."""

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]


def fit(features: Floats, wanted: Floats, penalty: float, steps: int, curvature: float | None = None) -> Floats:
    """Return the weights, of shape (kinds, features), by Nesterov's accelerated descent (1983).

    The first feature is the constant, which has no penalty. The result has the type of the features.

    Args:
        features: of shape (examples, features).
        wanted: probability of each kind, of shape (examples, kinds).
        penalty: of the squares of the weights.
        steps: number of steps.
        curvature: largest eigenvalue of features.T @ features / examples; None for the bound by the largest example.
    """
    largest = np.square(features).sum(axis=1).max() if curvature is None else curvature
    rate = float(1 / (largest / 2 + penalty))
    weights: Floats = np.zeros((wanted.shape[1], features.shape[1]), features.dtype)
    ahead, momentum = weights, 1.0
    for _ in range(steps):
        penalised = ahead.copy()
        penalised[:, 0] = 0
        gradient = (estimate(ahead, features) - wanted).T @ features / len(features) + penalty * penalised
        following = ahead - rate * gradient
        next_momentum = (1 + sqrt(1 + 4 * momentum**2)) / 2
        ahead = following + (momentum - 1) / next_momentum * (following - weights)
        weights, momentum = following, next_momentum
    return weights


def estimate(weights: Floats, features: Floats) -> Floats:
    """Return the probability of each kind, of shape (examples, kinds)."""
    logits = features @ weights.T
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    estimated: Floats = shares / shares.sum(axis=1, keepdims=True)
    return estimated
