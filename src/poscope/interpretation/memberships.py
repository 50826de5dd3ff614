"""Do the rows of a table fall into the groups that tokens truly belong to?

Groups are int64, shape (tokens,), any numbers. A figure is NaN where it does not exist: a table that is constant or not
finite, a single group, or as many groups as tokens.
"""

import numpy as np
from sklearn.cluster import KMeans

from poscope.interpretation.permutation import in_parts, permuted_products
from poscope.tables.cosine import cosine_matrix

_STARTS = 10  # of a clustering; the best counts


def group_count(groups: np.ndarray) -> int:
    """In how many groups tokens lie."""
    return len(np.unique(groups))


def silhouette(distances: np.ndarray, groups: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """Mean silhouette of the tokens (Rousseeuw 1987): (b − a) / max(a, b), from −1 to 1.

    a is a token's mean distance to its own group, b that to the nearest other one. A token alone in its group has 0.

    Args:
        distances: of rows, shape (tables, tokens, tokens).
        groups: true ones.
        orders: of the groups' tokens, shape (orders, tokens).

    Returns:
        Shape (tables, orders).
    """
    found = np.full((len(distances), len(orders)), np.nan)
    members = _members(groups)
    if not _is_partition(members):
        return found
    for number, matrix in enumerate(distances):
        if np.isfinite(matrix).all() and matrix.any():
            parts = in_parts(orders, terms=members.size)
            found[number] = np.concatenate([_silhouettes(matrix, members[some]) for some in parts])
    return found


def clusterings(tables: np.ndarray, count: int, seed: int) -> list[np.ndarray | None]:
    """The rows of each table in so many groups, by k-means; None where there are fewer different rows, or NaN."""
    return [_clustering(table.astype(np.float64), count, seed) for table in tables]


def adjusted_rand(
    clusters: list[np.ndarray | None], groups: np.ndarray, orders: np.ndarray
) -> np.ndarray:
    """Agreement of clusterings with the true groups, less that of chance (Hubert & Arabie 1985); 1 where they are one.

    Args:
        clusters: as `clusterings` returns them.
        groups: true ones.
        orders: of the groups' tokens, shape (orders, tokens).

    Returns:
        Shape (tables, orders).
    """
    found = np.full((len(clusters), len(orders)), np.nan)
    members = _members(groups)
    if not _is_partition(members):
        return found
    for number, labels in enumerate(clusters):
        if labels is not None:
            parts = in_parts(orders, terms=members.size)
            found[number] = np.concatenate(
                [_rand_indices(_members(labels), members[some]) for some in parts]
            )
    return found


def modularity(tables: np.ndarray, groups: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """Modularity of the true groups in the graph of similarities (Newman 2006).

    Σ_ij (w_ij − k_i k_j / 2m) / 2m over tokens of one group, with weights w the positive cosines of different rows, k
    their sums by token and 2m the sum of all.

    Args:
        tables: shape (tables, tokens, dim).
        groups: true ones.
        orders: of the groups' tokens, shape (orders, tokens).

    Returns:
        Shape (tables, orders).
    """
    members = _members(groups)
    if not _is_partition(members):
        return np.full((len(tables), len(orders)), np.nan)
    excess = np.array([_excess_weights(table) for table in tables])
    return permuted_products(excess, members @ members.T, orders)


def _members(groups: np.ndarray) -> np.ndarray:
    """One-hot groups, float64, shape (tokens, groups)."""
    _, numbers = np.unique(groups, return_inverse=True)
    return np.eye(int(numbers.max()) + 1)[numbers]


def _is_partition(members: np.ndarray) -> bool:
    return 1 < members.shape[1] < len(members)


def _silhouettes(distances: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Mean silhouettes, shape (orders,), of one table and members of shape (orders, tokens, groups)."""
    orders, tokens, groups = members.shape
    columns = members.transpose(1, 0, 2).reshape(tokens, -1)
    sums = (distances @ columns).reshape(tokens, orders, groups).transpose(1, 0, 2)
    sizes = members.sum(axis=1, keepdims=True)  # (orders, 1, groups)
    own = members > 0
    own_size = (members * sizes).sum(axis=2)  # (orders, tokens)
    within = (members * sums).sum(axis=2) / np.maximum(own_size - 1, 1)
    nearest = np.where(own, np.inf, sums / sizes).min(axis=2)
    larger = np.maximum(within, nearest)
    counts = (own_size > 1) & (larger > 0)
    return np.divide(nearest - within, larger, out=np.zeros_like(within), where=counts).mean(axis=1)


def _clustering(table: np.ndarray, count: int, seed: int) -> np.ndarray | None:
    if not np.isfinite(table).all() or len(np.unique(table, axis=0)) < count:
        return None
    labels: np.ndarray = KMeans(count, n_init=_STARTS, random_state=seed).fit(table).labels_
    return labels


def _rand_indices(clusters: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Adjusted Rand indices, shape (orders,): of (tokens, clusters) with (orders, tokens, groups)."""
    together = _pairs(clusters.T @ members).sum(axis=(1, 2))
    in_clusters = _pairs(clusters.sum(axis=0)).sum()
    in_groups = _pairs(members.sum(axis=1)).sum(axis=1)
    expected = in_clusters * in_groups / _pairs(np.array(len(clusters)))
    most = (in_clusters + in_groups) / 2
    # There is more than one group, and fewer than tokens: the most lies above what is expected.
    return (together - expected) / (most - expected)


def _pairs(counts: np.ndarray) -> np.ndarray:
    return counts * (counts - 1) / 2


def _excess_weights(table: np.ndarray) -> np.ndarray:
    """(w_ij − k_i k_j / 2m) / 2m, shape (tokens, tokens); NaN where all rows are the same, or no two are alike."""
    if not np.isfinite(table).all() or (table == table[0]).all():
        return np.full((len(table), len(table)), np.nan)
    weights = np.maximum(cosine_matrix(table), 0.0)
    np.fill_diagonal(weights, 0.0)
    degrees, total = weights.sum(axis=1), weights.sum()
    if total == 0:
        return np.full_like(weights, np.nan)
    return (weights - np.outer(degrees, degrees) / total) / total
