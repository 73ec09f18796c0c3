"""Prices of a user against the worst sequence (`prices_csv`)."""

from gadgetopt.system.declaration import Importer, Parts

part: Parts = Parts(__name__)

IMPORTERS = (
    Importer(
        format="prices-csv",
        summary="CSV files with a column price, one row for every unit in the order of sale",
        read=part("prices_csv:prices_csv"),
        parameters={
            "value_min": 1.0,
            "value_max": 10.0,
            "tick": 0.01,
            "horizon": None,
            "payoff": "ratio",
        },
        help={
            "value_min": "the least value that a buyer may have",
            "value_max": "the largest one",
            "tick": "values are whole multiples of it, besides value_min and value_max",
            "horizon": "buyers at most; twice the units by default, enough for rising prices",
            "payoff": "ratio or regret",
        },
    ),
)
