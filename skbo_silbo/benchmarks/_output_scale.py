"""The scale on which a peer with a Gaussian process sees the values."""

import numpy as np
from sklearn.preprocessing import power_transform


def yeo_johnson(y):
    """Return the values after the power transform of Yeo and Johnson that makes them most normal.

    Raw values over many orders of magnitude would be held against a peer, not against its search;
    the scale is none of ours, so that kept results of peers stay true when our method changes.

    Parameters
    ----------
    y : ndarray of shape (n,)

    Returns
    -------
    scaled : ndarray of shape (n,)
        A rising function of y, mean 0 and deviation 1; y less its mean where all are (nearly) the
        same.
    """
    if y.size == 0:
        return y
    centred = y - y.mean()
    spread = centred.std()
    if spread <= 1e-12 * max(np.abs(y).max(), 1e-300):
        return centred
    return power_transform((centred / spread)[:, None], method="yeo-johnson")[:, 0]
