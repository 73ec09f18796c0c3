"""The time of the first arrivals, under any policy."""

from __future__ import annotations

import heapq

from gadgetopt.numbers.exact import rationals
from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ...instance import AdspTrainingInstance
from ..certificate import AdspTrainingCertificate


@method(kind="relaxation", reference="this project", formulation="arrivals")
def arrivals(instance: AdspTrainingInstance) -> MethodOutcome:
    r"""As many updates as the convergence asks for have to arrive.

    Worker i's r-th arrives at :math:`r t_i + (r - \frac12) O_i` at the earliest.
    """
    heap = []
    for i, worker in enumerate(instance.workers):
        step, comm = rationals((worker.step_time_s, worker.comm_time_s))
        heap.append((step + comm / 2, i, step + comm))
    heapq.heapify(heap)
    for _ in range(instance.evaluations - 1):
        time, i, cycle = heap[0]
        heapq.heapreplace(heap, (time + cycle, i, cycle))
    return MethodOutcome(certificate=AdspTrainingCertificate(time_s=heap[0][0]))
