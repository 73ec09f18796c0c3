import numpy as np

from gadgetopt.models.pipeline_schedules.evaluate import evaluate
from gadgetopt.models.pipeline_schedules.heuristics.list_schedule import ListScheduler
from gadgetopt.models.pipeline_schedules.heuristics.rules import rules_of
from gadgetopt.models.pipeline_schedules.instance import PipelineSchedulesSolution
from gadgetopt.models.pipeline_schedules.shop import shop_of

from ..random_cases import random_instance


def test_every_list_schedule_is_feasible():
    rng, found = np.random.default_rng(1), 0
    for _ in range(5):
        instance = random_instance(rng)
        shop = shop_of(instance)
        for rule in rules_of(shop):
            orders = ListScheduler(shop, rule).run()
            if orders is not None:
                cells = [[(op,) for op in order] for order in orders]
                assert evaluate(instance, PipelineSchedulesSolution.of(cells)).feasible, rule
                found += 1
    assert found > 100
