"""What whoever runs a screen should know of it though nothing failed: one line each."""

from collections.abc import Iterator, Mapping

import polars as pl

from transforms.core.left_out import sentences
from transforms.sources import Scope, ibge_estimates, inputs_collections, tse_polling_places


def caveats(staged: Mapping[str, pl.LazyFrame], made: Mapping[str, pl.DataFrame], scope: Scope) -> list[str]:
    """Of a state's screen: `staged` is what it was made of, `made` its core tables."""
    return [
        *_older_estimates(staged[ibge_estimates.PERIODS.name], made["core.state"], scope),
        *_later_voters(staged[tse_polling_places.SECTION.name], scope),
        *_partial_collections(staged[inputs_collections.COLLECTIONS.name], made["core.municipality"], scope),
        *sentences(made["core.left_out"]),
    ]


def _older_estimates(periods: pl.LazyFrame, state: pl.DataFrame, scope: Scope) -> Iterator[str]:
    used = state["estimate_year"].item()
    listed = ibge_estimates.published(periods.collect(), scope.as_of)
    if listed and used is not None and used < listed[0]:
        yield f"{ibge_estimates.NAME}: {ibge_estimates.unpublished(listed[0], used)}"


def _later_voters(sections: pl.LazyFrame, scope: Scope) -> Iterator[str]:
    """The TSE keeps one register, the newest: a screen of an earlier day has no other."""
    generated = sections.select(pl.col("generated_on").max()).collect().item()
    if generated is not None and generated > scope.as_of:
        yield f"{tse_polling_places.NAME}: voters are those of {generated}, for the TSE keeps none of {scope.as_of}"


def _partial_collections(collections: pl.LazyFrame, municipality: pl.DataFrame, scope: Scope) -> Iterator[str]:
    """A file that says something of the state's collection, and not of every município's."""
    ours = collections.filter(
        pl.col("uf") == scope.uf, pl.col("fiscal_year") == scope.fiscal_year, pl.col("sphere") == "estadual"
    ).collect()
    missing = municipality["collection_brl"].null_count()
    if ours.height and missing:
        covers = f"{inputs_collections.FORM.file} covers part of {scope.uf}"
        yield f"{covers}: {missing} of its {municipality.height} municípios are missing, and their collection unknown"
