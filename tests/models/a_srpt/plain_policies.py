"""The baselines written a second time, plainly."""

from gadgetopt.models.a_srpt.algorithms.plain import Cluster, ticks


def plain_policy(instance, key, blocking):
    """Section 5.6: `key(cluster, j)` orders the queue."""
    cluster = Cluster(instance)
    jobs = range(len(instance.jobs))
    release = [instance.jobs[j].release_tick * cluster.G for j in jobs]
    waiting = sorted(jobs, key=lambda j: (key(cluster, j), release[j], j))
    now = -1
    while waiting:
        now = min(t for t in [*release, *cluster.completions()] if t > now)
        cluster.complete(now)
        for j in [j for j in waiting if release[j] <= now]:
            if not cluster.fits(j):
                if blocking:
                    break
                continue
            cluster.start(j, now, cluster.mapping(j, cluster.free, consolidate=cluster.heavy(j)))
            waiting.remove(j)
    return cluster.solution()


def estimated_ticks(cluster, j):
    """Ticks of a job on the empty cluster."""
    n = cluster.instance.jobs[j].num_iterations
    return ticks(cluster.instance, n, cluster.heuristic_alpha(j))
