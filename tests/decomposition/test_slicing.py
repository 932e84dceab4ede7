import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from skbo_silbo.decomposition import slice_response

pytestmark = pytest.mark.quick


def transcribed_rule(y, n_slices):
    """R dr's rule as MATH.md words it, walking over the rows one by one."""
    values = np.sort(y)
    n = len(y)
    if len(set(values)) <= n_slices:
        return [int((values == value).sum()) for value in sorted(set(values))]
    m, end, ends = max(2, n // n_slices), 0, []
    while end < n - 2:
        end = min(end + m, n)
        while end < n and values[end] == values[end - 1]:
            end += 1
        ends.append(end)
    ends[-1] = n
    return np.diff([0, *ends]).tolist()


responses = hnp.arrays(
    np.float64, st.integers(4, 80), elements=st.integers(0, 30).map(float)
).filter(lambda y: len(np.unique(y)) > 1)


@settings(max_examples=25)
@given(responses, st.integers(2, 12))
def test_slice_sizes_follow_the_rule_of_r_dr(y, n_slices):
    """But slices of one row, which R's rule gives to few different values: they hold two."""
    if 5 <= len(y) == len(np.unique(y)) <= n_slices:
        n_slices = len(y) // 2
    expected = transcribed_rule(y, n_slices)
    sizes = slice_response(y, n_slices).counts.tolist()
    if len(expected) > 1:
        assert sizes == expected
    else:
        assert len(sizes) == 2


@settings(max_examples=20)
@given(responses, st.integers(2, 12))
def test_slices_are_intervals_of_the_response(y, n_slices):
    slices = slice_response(y, n_slices)
    for h in range(slices.n_slices - 1):
        assert y[slices.codes == h].max() < y[slices.codes == h + 1].min()


@settings(max_examples=15)
@given(responses, st.integers(2, 12))
def test_only_the_order_of_the_response_counts(y, n_slices):
    codes = slice_response(y, n_slices).codes
    np.testing.assert_array_equal(codes, slice_response(np.exp(y / 10), n_slices).codes)


def test_categories_are_slices():
    slices = slice_response(np.array(["b", "a", "b"]), 10)
    assert slices.codes.tolist() == [1, 0, 1]
    assert slices.counts.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("n_slices", "message"),
    [
        (1, "got 1"),
        (2.5, "got 2.5"),
        (True, "got True"),
        ("ten", "got 'ten'"),
        ([0.0, 1.0], r"np\.digitize"),
    ],
)
def test_bad_n_slices_is_refused(n_slices, message):
    with pytest.raises(ValueError, match=message):
        slice_response(np.arange(10.0), n_slices)
