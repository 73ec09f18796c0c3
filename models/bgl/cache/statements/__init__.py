"""Statements of the paper, recalled without its text, that were checked (`checks`)."""

from gadgetopt.system.declaration import Parts, Statement

part: Parts = Parts(__name__)

STATEMENTS = (
    Statement(
        "static-misses",
        source="misses of a static cache, without its own load",
        statement="misses of a static cache and of policies that start empty can be compared",
        verdict="refuted",
        grade="refuted",
        check=part("checks:preloads"),
        repair="the load of the static cache is counted",
        proof="then Belady's rule is a lower bound for it, too",
        witness=True,
        command="compare {} --methods static_frequency,belady",
        reconstructed=True,
    ),
    Statement(
        "paging",
        source="theorem of this project on paging",
        statement="FIFO loads at most K + 1 times the optimum for requests of one node",
        verdict="holds",
        grade="holds",
        check=part("checks:paging"),
        proof="models/bgl/cache/guarantees/paging.py",
        witness=True,
        command="compare {} --methods fifo,lru,order_search",
        reconstructed=True,
    ),
)
