"""Workers per server with many digits: coefficients stay of the size of the ratio."""

from gadgetopt.models.pd_ors.formulations import aggregated, compact
from gadgetopt.models.pd_ors.instance import PdOrsInstance
from gadgetopt.solvers.standard_form import compile_model
from gadgetopt.system.files import read_instance

#: The numerator and denominator of this have 15 digits, with which HiGHS crashed.
RATIO = 3.70475300458069


def test_rows_of_the_ratio_have_no_large_numbers(root):
    data = read_instance(root / "instances/quickstart/pd_ors.json").data
    jobs = tuple(job.model_copy(update={"worker_ps_ratio": RATIO}) for job in data.jobs)
    instance: PdOrsInstance = data.model_copy(update={"jobs": jobs})
    for build in (aggregated.build, compact.build, compact.build_plain):
        form = compile_model(build(instance))
        assert abs(form.A.data).max() < 10**4
