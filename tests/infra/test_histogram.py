import pytest

from infra.histogram import Histogram, Spread

BOUNDS = (1.0, 2.0, 4.0)


def counted(*values: float) -> Spread:
    histogram = Histogram(BOUNDS)
    for value in values:
        histogram.add(value)
    return histogram.spread()


def test_a_value_falls_up_to_the_bound_that_it_equals_and_what_is_larger_than_all_is_counted_too() -> None:
    assert counted(0.0, 1.0, 1.5, 2.0, 3.0, 9.0) == Spread(counts=(2, 2, 1, 1), total=16.5)


def test_two_spreads_add_up_to_that_of_all_values() -> None:
    assert counted(0.5, 3.0) + counted(3.5, 99.0) == counted(0.5, 3.0, 3.5, 99.0)


@pytest.mark.parametrize(
    ("share", "value"),
    [
        (0.25, 1.0),  # all of the first bucket
        (0.5, 1.5),  # half of the second: two of four are below
        (0.75, 2.0),
        (1.0, 4.0),  # the last value is above all bounds
    ],
)
def test_a_quantile_lies_in_the_bucket_where_that_share_of_the_values_ends(share: float, value: float) -> None:
    assert counted(0.2, 0.8, 1.1, 1.2, 1.3, 1.9, 8.0, 9.0).quantile(share, BOUNDS) == pytest.approx(value)


def test_nothing_has_no_mean_and_no_quantile() -> None:
    assert (counted().mean, counted().quantile(0.5, BOUNDS)) == (0.0, 0.0)
    assert counted(1.0, 4.0).mean == 2.5
