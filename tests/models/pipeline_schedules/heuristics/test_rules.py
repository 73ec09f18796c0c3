import numpy as np

from gadgetopt.models.pipeline_schedules.evaluate import evaluate
from gadgetopt.models.pipeline_schedules.heuristics.list_schedule import ByRule
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
            cells = ByRule(shop, rule).run()
            if cells is not None:
                assert evaluate(instance, PipelineSchedulesSolution.of(cells)).feasible, rule
                found += 1
    assert found > 100
