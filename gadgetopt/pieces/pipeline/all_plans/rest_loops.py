"""The loops behind the tables of what the rest of a plan costs (`state_rests`).

A staircase is pairs (u, v) in two arrays: u rises, v falls, and no pair is as good as another.
"""

from __future__ import annotations

from typing import Any

from gadgetopt.numbers.compiled import compiled, part_of_loops
from gadgetopt.pieces.pipeline.all_plans.stage_tables import LONGEST, NEVER


@part_of_loops
def one_way(count: int, f: int, b: int, load: int) -> int:
    """Return the longer of a machine's M blocks of one direction with one of the other.

    With the way from the machine to the end and back, a microbatch that waits for the M forwards,
    or the backwards that wait for the first microbatch, take so long; 0 where times are cut.
    """
    return max(count * f + b, f + count * b) if load < LONGEST else 0


@part_of_loops
def insert(us: Any, vs: Any, count: int, u: int, v: int) -> int:
    """Put a pair into a staircase unless one is as good; return the number of pairs.

    -1 stands for: there is no room.
    """
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if us[middle] <= u:
            low = middle + 1
        else:
            high = middle
    if low > 0 and vs[low - 1] <= v:
        return count
    begin = low - 1 if low > 0 and us[low - 1] == u else low
    end = begin  # pairs from begin to end are no better than the new one
    while end < count and vs[end] >= v:
        end += 1
    if end == begin:
        if count == len(us):
            return -1
        for k in range(count, begin, -1):
            us[k], vs[k] = us[k - 1], vs[k - 1]
    else:
        for k in range(end, count):
            us[k + begin + 1 - end], vs[k + begin + 1 - end] = us[k], vs[k]
    us[begin], vs[begin] = u, v
    return int(count + begin + 1 - end)


@compiled
def fronts_of(
    stages: Any,
    kind: int,
    count: int,
    after: Any,
    ways: Any,
    us: Any,
    vs: Any,
    least: Any,
    below: int,
    starts: Any,
    front_ways: Any,
    front_us: Any,
    front_vs: Any,
) -> int:
    """Write the staircases of rests that begin with a stage of a kind, by its first layer.

    Parameters
    ----------
    stages : array of int, shape (kinds, 4, L + 1, L + 1)
        F, B, A and load by first layer and end.
    kind : int
    count : int
        Microbatches.
    after : array of int, shape (L + 2,)
        Where, by layers done, the staircase of the state after the stage begins in `us` and `vs`.
    ways : array of int, shape (L + 1,)
        Least sum of the times, forward and backward, of all machines after the stage, by layers
        done.
    us, vs : array of int
    least : array of int, shape (2, L + 1)
        Least head and tail of plans of so many layers.
    below : int
        Pairs with which no plan is below it are left out.
    starts : array of int, shape (L + 2,)
        Filled: where each staircase begins.
    front_ways : array of int, shape (L + 1,)
        Filled: `ways` with the stage.
    front_us, front_vs : array of int
        Filled.

    Returns
    -------
    int
        Pairs written; -1 if there is no room.
    """
    layers, written = len(starts) - 2, 0
    for first in range(layers + 1):
        starts[first] = written
        room_u, room_v = front_us[written:], front_vs[written:]
        head, tail, pairs, way = least[0, first], least[1, first], 0, NEVER
        for end in range(first + 1, layers + 1):
            load = stages[kind, 3, first, end]
            if head + load >= below:
                break  # and so are all longer stages
            f, b = stages[kind, 0, first, end], stages[kind, 1, first, end]
            a = stages[kind, 2, first, end]
            if after[end] < after[end + 1]:
                way = min(way, f + b + ways[end])
                load = max(load, one_way(count, f, b, load) + ways[end])
            for k in range(after[end], after[end + 1]):
                u = max(load, f + b + us[k])
                v = max(load + a, f + max(vs[k], b + a + us[k]))
                if head + v < below and head + tail + u < below:
                    pairs = insert(room_u, room_v, pairs, u, v)
                    if pairs < 0:
                        return -1
        written += pairs
        front_ways[first] = way
    starts[layers + 1] = written
    return written


@compiled
def joined_fronts(
    option_links: Any,
    links: Any,
    count: int,
    starts: Any,
    front_ways: Any,
    front_us: Any,
    front_vs: Any,
    least: Any,
    below: int,
    is_end: bool,
    begins: Any,
    ways: Any,
    us: Any,
    vs: Any,
    written: int,
) -> int:
    """Write the staircases of a state: of all its options, with the transfer to each.

    Parameters
    ----------
    option_links : array of int
        The link of each option, -1 for none.
    links : array of int, shape (links, 3, L + 1)
        c_f, c_b and load by the layer that follows.
    count : int
        Microbatches.
    starts : array of int, shape (options, L + 2)
        Where the staircases of each option begin in `front_us` and `front_vs`.
    front_ways : array of int, shape (options, L + 1)
        As `fronts_of` writes them.
    front_us, front_vs : array of int
    least, below
        As in `fronts_of`.
    is_end : bool
        Whether a plan may end in this state.
    begins : array of int, shape (L + 2,)
        Filled: where each staircase begins.
    ways : array of int, shape (L + 1,)
        Filled with the least ways of all options; as it is at the end of a plan.
    us, vs : array of int
        Filled from `written` on.

    Returns
    -------
    int
        The first entry that is not written; -1 if there is no room.
    """
    layers = len(begins) - 2
    for layer in range(layers + 1):
        begins[layer] = written
        room_u, room_v = us[written:], vs[written:]
        head, tail, pairs = least[0, layer], least[1, layer], 0
        if is_end and layer == layers:
            pairs = insert(room_u, room_v, pairs, 0, 0)
        for o in range(len(option_links)):
            link, c_f, c_b, load = option_links[o], 0, 0, 0
            if link >= 0:
                c_f, c_b = links[link, 0, layer], links[link, 1, layer]
                load = links[link, 2, layer]
                load = max(load, one_way(count, c_f, c_b, load) + front_ways[o, layer])
            if starts[o, layer] < starts[o, layer + 1]:
                ways[layer] = min(ways[layer], c_f + c_b + front_ways[o, layer])
            for k in range(starts[o, layer], starts[o, layer + 1]):
                u, v = max(load, c_f + c_b + front_us[k]), c_f + front_vs[k]
                if head + v < below and head + tail + u < below:
                    pairs = insert(room_u, room_v, pairs, u, v)
                if pairs < 0:
                    return -1
        if pairs < 0:
            return -1
        written += pairs
    begins[layers + 1] = written
    return written


@compiled
def walk(
    options: Any,
    option_starts: Any,
    stages: Any,
    links: Any,
    count: int,
    rest_ways: Any,
    rest_starts: Any,
    rest_us: Any,
    rest_vs: Any,
    below: int,
    place: Any,
    depth: int,
    most_steps: int,
    paths: Any,
    bounds: Any,
) -> tuple[int, int, int]:
    """Go on walking through all plans below a bound, until so many steps are done or found.

    Parameters
    ----------
    options : array of int, shape (any, 3)
        Kind, link (-1 for none) and state after.
    option_starts : array of int, shape (states + 1,)
        Where the options of each state begin.
    stages, links : array of int
        As in `fronts_of` and `joined_fronts`.
    count : int
        Microbatches.
    rest_ways : array of int, shape (states, L + 1)
        As `joined_fronts` writes them.
    rest_starts, rest_us, rest_vs : array of int
        Staircases by state and layers done.
    below : int
    place : array of int, shape (most stages + 1, 8)
        Where the walk is: state, layers done, largest bound, head and tail of the plan of so many
        stages; the option and the end of the stage that was tried last; and the largest bound of a
        machine to which the times of all later machines are added (`one_way`).
    depth : int
        Stages of the plan where it is; -1 at the end of the walk.
    most_steps : int
    paths : array of int, shape (any, most stages, 2)
        Filled: options and ends of the stages of plans.
    bounds : array of int
        Filled: the largest of their bounds.

    Returns
    -------
    int
        Plans that were written.
    int
        The new depth.
    int
        Steps done.
    """
    layers = stages.shape[2] - 1
    found, steps = 0, 0
    while depth >= 0 and found < len(paths) and steps < most_steps:
        steps += 1
        state, layer, largest = place[depth, 0], place[depth, 1], place[depth, 2]
        head, tail = place[depth, 3], place[depth, 4]
        o, end, onward = place[depth, 5], place[depth, 6] + 1, place[depth, 7]
        if o == option_starts[state + 1]:
            depth -= 1
            continue
        kind, link, after = options[o, 0], options[o, 1], options[o, 2]
        if link >= 0:
            load, f, b = links[link, 2, layer], links[link, 0, layer], links[link, 1, layer]
            largest = max(largest, head + load + tail)
            onward = max(onward + f + b, head + one_way(count, f, b, load) + tail)
            head, tail = head + f, tail + b
        moved = False
        while end <= layers and largest < below:
            load = stages[kind, 3, layer, end]
            if head + load + tail >= below:
                break  # and so are all longer stages
            above = max(tail, stages[kind, 2, layer, end])
            f, b = stages[kind, 0, layer, end], stages[kind, 1, layer, end]
            new_onward = max(onward + f + b, head + one_way(count, f, b, load) + above)
            bound = max(largest, head + load + above, new_onward + rest_ways[after, end])
            if bound >= below:
                end += 1
                continue
            new_head, new_tail = head + f, above + b
            least = below
            for k in range(rest_starts[after, end], rest_starts[after, end + 1]):
                least = min(least, max(new_head + new_tail + rest_us[k], new_head + rest_vs[k]))
            if least < below:
                moved = True
                break
            end += 1
        if not moved:
            place[depth, 5], place[depth, 6] = o + 1, layer
            continue
        place[depth, 6] = end
        depth += 1
        if end == layers:
            for k in range(depth):
                paths[found, k, 0], paths[found, k, 1] = place[k, 5], place[k, 6]
            for k in range(depth, paths.shape[1]):
                paths[found, k, 0] = -1
            bounds[found] = bound
            found += 1
            depth -= 1
            continue
        # Ways to come only grow: `bound` has the least ones, `new_onward` none.
        bound = max(largest, head + load + above)
        place[depth, 0], place[depth, 1], place[depth, 2] = after, end, bound
        place[depth, 3], place[depth, 4] = new_head, new_tail
        place[depth, 5], place[depth, 6], place[depth, 7] = option_starts[after], end, new_onward
    return found, depth, steps


@compiled
def one_machine_bounds(
    options: Any,
    stages: Any,
    links: Any,
    count: int,
    paths: Any,
    bounds: Any,
    enough: int,
    times: Any,
    blocks: Any,
) -> None:
    """Raise the bounds of plans to that of one machine: heads, tails and Jackson's schedule.

    Parameters
    ----------
    options, stages, links : array of int
        As in `walk`.
    count : int
        Microbatches.
    paths, bounds : array of int
        As `walk` writes them; bounds of `enough` are not raised further.
    enough : int
    times, blocks : array of int, shapes (3, machines) and (4, machines, count)
        Room for times of machines, at most two for each of `paths`, and for heads and tails.
    """
    f, b, a = times[0], times[1], times[2]
    fwd_head, bwd_head, fwd_tail, bwd_tail = blocks[0], blocks[1], blocks[2], blocks[3]
    last = 0
    for p in range(len(paths)):
        machines, layer = 0, 0
        for k in range(paths.shape[1]):
            o, end = paths[p, k, 0], paths[p, k, 1]
            if o < 0:
                break
            kind, link = options[o, 0], options[o, 1]
            if link >= 0:
                f[machines], b[machines] = links[link, 0, layer], links[link, 1, layer]
                a[machines] = 0
                machines += 1
            f[machines], b[machines] = stages[kind, 0, layer, end], stages[kind, 1, layer, end]
            a[machines] = stages[kind, 2, layer, end]
            machines, layer = machines + 1, end
        find_heads_and_tails(f, b, a, machines, count, fwd_head, bwd_head, fwd_tail, bwd_tail)
        # What was enough for the plan before often is so again: begin with that machine.
        begin = min(last, machines - 1)
        for turn in range(machines):
            if bounds[p] >= enough:
                break
            q = (begin + turn) % machines
            ends = jackson(count, f[q], b[q], fwd_head[q], bwd_head[q], fwd_tail[q], bwd_tail[q])
            bounds[p] = max(bounds[p], ends)
            last = q


@part_of_loops
def find_heads_and_tails(
    f: Any,
    b: Any,
    a: Any,
    machines: int,
    count: int,
    fwd_head: Any,
    bwd_head: Any,
    fwd_tail: Any,
    bwd_tail: Any,
) -> None:
    """Write heads and tails of all blocks, as `one_machine.heads_and_tails` without memory."""
    last = machines - 1
    for q in range(machines):
        step, ready = f[q] + (b[q] if q == last else 0), 0
        for m in range(count):
            if q > 0:
                ready = max(ready, fwd_head[q - 1, m] + f[q - 1])
            fwd_head[q, m] = ready
            ready += step
    for q in range(last, -1, -1):
        ready, first = 0, fwd_head[q, 0]
        for m in range(count):
            route = bwd_head[q + 1, m] + b[q + 1] if q < last else fwd_head[q, m] + f[q]
            ready = max(ready, route, first + (m + 1) * f[q] + m * b[q])
            bwd_head[q, m] = ready
            ready += b[q]
    for q in range(machines):
        least = a[q]
        for m in range(count - 1, -1, -1):
            if q > 0:
                least = max(least, bwd_tail[q - 1, m] + b[q - 1])
            bwd_tail[q, m] = least
            least += b[q]
    for q in range(last, -1, -1):
        least, end = 0, bwd_tail[q, count - 1]
        for m in range(count - 1, -1, -1):
            route = fwd_tail[q + 1, m] + f[q + 1] if q < last else bwd_tail[q, m] + b[q]
            own = end + (count - m) * b[q] + (count - 1 - m) * f[q]
            least = max(least, route, own)
            fwd_tail[q, m] = least
            least += f[q]


@part_of_loops
def jackson(
    count: int, f: int, b: int, fwd_head: Any, bwd_head: Any, fwd_tail: Any, bwd_tail: Any
) -> int:
    """Return the makespan of one machine's preemptive schedule.

    Of each direction heads rise and tails fall with the microbatch, so the only blocks to choose
    from are the first forward and the first backward block that are not done.
    """
    now, best, i, j = 0, 0, 0, 0
    left_f, left_b = f, b
    while i < count or j < count:
        ready_f = i < count and fwd_head[i] <= now
        ready_b = j < count and bwd_head[j] <= now
        if not ready_f and not ready_b:
            later_f = fwd_head[i] if i < count else bwd_head[j]
            later_b = bwd_head[j] if j < count else fwd_head[i]
            now = min(later_f, later_b)
            continue
        if ready_f and (not ready_b or fwd_tail[i] > bwd_tail[j]):
            until = now + left_f
            if j < count and not ready_b and bwd_head[j] < until:
                left_f, now = until - bwd_head[j], bwd_head[j]
                continue
            now, best = until, max(best, until + fwd_tail[i])
            i, left_f = i + 1, f
        else:
            until = now + left_b
            if i < count and not ready_f and fwd_head[i] < until:
                left_b, now = until - fwd_head[i], fwd_head[i]
                continue
            now, best = until, max(best, until + bwd_tail[j])
            j, left_b = j + 1, b
    return best
