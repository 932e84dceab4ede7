"""How sliced inverse regression chooses the number of directions, and doubts the choice."""

from .selection._criterion import dimension_by_criterion, excess_over_noise
from .selection._n_components import TESTED_WORDS, check_identified
from .significance._linearity import curvature, extra_are_curved, is_by_value, warn_of_curvature
from .significance._sequential_tests import (
    ROWS_PER_FEATURE_TESTED,
    SIGNIFICANCE,
    are_large,
    dimension_by_tests,
    sequential_tests,
)
from .significance._slice_tests import slice_tests

# most directions that n_components="auto" considers when slices are localised
MAX_AUTO_COMPONENTS = 20


class ChosenDimension:
    """What an estimator with slices, `n_components` and `random_state` makes of a spectrum."""

    def _found_little(self):
        """Tell whether nothing was found, or nothing that a test of the number given sees."""
        first = vars(self).get("dimension_tests_", {"p_value": [0.0]})["p_value"][0]
        asked = not isinstance(self.n_components, str)
        return not self.n_components_ or (asked and first > SIGNIFICANCE)

    def _n_wanted(self, n_columns):
        if isinstance(self.n_components, str):
            return min(n_columns, MAX_AUTO_COMPONENTS, self._columns.n_varying)
        return int(self.n_components)

    def _store_spectrum(self, spectrum, n_labeled, *, plain, penalised):
        limit = self._n_identified(spectrum.eigenvalues, plain)
        self._check_identified(limit)
        self.eigenvalues_ = spectrum.eigenvalues[:limit]
        if plain and not penalised and not self.ridge_:
            shape = self._columns.n_varying, self.n_slices_, self._n_groups
            self.dimension_tests_ = sequential_tests(self.eigenvalues_, n_labeled, *shape)

    def _n_identified(self, eigenvalues, plain):
        nonzero = int((eigenvalues > 1e-12 * eigenvalues[0]).sum())
        return min(len(eigenvalues), self.n_slices_ - self._n_groups) if plain else max(nonzero, 1)

    def _check_identified(self, limit):
        check_identified(
            self.n_components,
            limit,
            remedy=", or more slices where y is numeric; where y holds categories, a slice each, "
            "DirectionalRegression sees more directions",
        )

    def _choose_n_components(self, n_labeled, plain, draw_tests):
        """Take the number given, or that of the criterion, or of tests: Li's, or those drawn."""
        if not isinstance(self.n_components, str):
            return int(self.n_components)
        if self.n_components not in TESTED_WORDS:
            spectrum = self.eigenvalues_ if plain else excess_over_noise(self.eigenvalues_)
            return dimension_by_criterion(spectrum[:MAX_AUTO_COMPONENTS], n_labeled)
        valid = self._has_rows_to_test(n_labeled) and hasattr(self, "dimension_tests_")
        tests = self.dimension_tests_ if valid else draw_tests()
        return min(dimension_by_tests(tests), len(self.eigenvalues_))

    def _shuffle(self, pencil, slices, near=None):
        """Set and return the permutation tests of rows in memory."""
        self.permutation_tests_ = slice_tests(
            pencil,
            slices,
            near=near,
            n_local_neighbors=self.n_local_neighbors,
            **self._settings_of_tests(),
        )
        return self.permutation_tests_

    def _settings_of_tests(self):
        return {
            "most": min(len(self.eigenvalues_), MAX_AUTO_COMPONENTS),
            "random_state": 0 if self.random_state is None else self.random_state,
        }

    def _has_rows_to_test(self, n_labeled):
        """Tell whether the chi-square tests are to be taken, if there are any."""
        most = max(self._columns.n_varying, self.n_slices_)
        return (
            self.n_components != "permutation"
            and n_labeled >= ROWS_PER_FEATURE_TESTED * most
            and are_large(self.slice_sizes_)
        )

    def _look_at_curvature(self, rows, components, y, slices, places):
        """Set `curvature_` and say what may have misled the tests that chose the dimension."""
        shares, curved = curvature(rows, components)
        self.curvature_, curved = map(self._columns.spread, (shares, curved))
        if not len(rows) or not self.n_components_:
            return
        classes = slices.codes[places] if is_by_value(y, slices) else None
        extra = extra_are_curved(rows @ components[: self.n_components_].T, classes)
        by_value = classes is not None
        if extra or (curved.any() and not by_value):
            warn_of_curvature(self.curvature_, curved, extra, by_value, self._given_names())
