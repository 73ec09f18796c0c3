"""EASY backfilling written a second time, plainly: every waiting job is asked at every event."""

from gadgetopt.models.a_srpt.subproblems.mapper import gpus_held
from gadgetopt.pieces.knapsack.bins import fit


class PlainEasy:
    """The policy, for `simulate`."""

    next_event = None

    def __init__(self, instance, cluster):
        self.instance, self.cluster = instance, cluster
        self.queue, self.predicted, self.expected_end = [], {}, {}

    def arrive(self, job, now, predicted):
        self.predicted[job] = predicted
        self.queue.append(job)

    def dispatch(self, now):
        while self.queue and self.cluster.fits(self.queue[0]):
            self.start(self.queue.pop(0), now)
        if not self.queue:
            return
        blocks = self.cluster.kind(self.queue[0])[2]
        reserved, then = self.reservation(now, blocks)
        for job in self.queue[1:]:
            if not self.cluster.fits(job):
                continue
            beside = self.beside(job, then)
            end = self.expected(job, now, self.cluster.offer(job).units)
            if fit(blocks, beside) or end <= reserved:
                self.queue.remove(job)
                if self.start(job, now) > reserved:
                    then = beside

    def reservation(self, now, blocks):
        free, total = self.cluster.free.free.copy(), self.cluster.free.total
        ends = sorted((max(now, self.expected_end[j]), j) for j in self.cluster.running)
        for at, (end, job) in enumerate(ends):
            for m, gpus in self.cluster.running[job]:
                free[m] += gpus
            total += self.cluster.gpus[job]
            then = [total] if blocks[0][0] == 1 else free
            if (at + 1 == len(ends) or ends[at + 1][0] > end) and fit(blocks, then):
                return end, then
        raise AssertionError("all servers together have room for any job")

    def beside(self, job, free):
        if len(free) == 1:
            return [free[0] - self.cluster.gpus[job]]
        offer = self.cluster.offer(job)
        job_type = self.instance.job_types[self.instance.jobs[job].job_type]
        held = dict(zip(offer.servers, gpus_held(job_type, offer.placement), strict=True))
        return [f - held.get(m, 0) for m, f in enumerate(free)]

    def expected(self, job, now, units):
        times = self.instance.times[self.instance.jobs[job].job_type]
        ticks = times.ticks(units, self.predicted[job], self.instance.tick_s)
        return now + self.instance.total_gpus * ticks

    def start(self, job, now):
        offer = self.cluster.offer(job)
        self.cluster.start(job, now, offer)
        self.expected_end[job] = self.expected(job, now, offer.units)
        return self.expected_end[job]
