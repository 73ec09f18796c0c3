"""The compiled loop gives the heads that plain Python gives."""

from hypothesis import given, settings

from gadgetopt.numbers.compiled import COMPILED
from gadgetopt.pieces.pipeline.exact_orders import order_search
from gadgetopt.pieces.pipeline.exact_orders.order_search import shortest_orders

from ..examples import shops


@settings(max_examples=40, deadline=None)
@given(shop=shops(3, 4))
def test_compiled_and_plain_searches_are_the_same(shop):
    if not COMPILED:
        return
    below = 10**6
    known = order_search.MOST_PLAIN, order_search.MOST_SEQUENCED
    order_search.MOST_SEQUENCED = 0  # pairs of blocks, as with many microbatches
    try:
        plain = shortest_orders(shop, below, 10**6)
        order_search.MOST_PLAIN = 0
        assert shortest_orders(shop, below, 10**6) == plain
    finally:
        order_search.MOST_PLAIN, order_search.MOST_SEQUENCED = known
