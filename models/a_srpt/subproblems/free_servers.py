"""Servers by their number of free GPUs, and the selection of servers for a job."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gadgetopt.pieces.knapsack.bins import Blocks, enough_bins


class FreeServers:
    """A bucket queue of servers: those with equally many free GPUs are one set of bits.

    The lowest index of a bucket is its lowest bit, so that a selection asks as many buckets as a
    server has GPUs, whatever the number of servers.

    Parameters
    ----------
    gpus_per_server : sequence of int
        All of them free at first.

    Attributes
    ----------
    free : list of int
        Free GPUs of each server.
    total : int
        Free GPUs of all servers.
    """

    def __init__(self, gpus_per_server: Sequence[int]):
        self.free: list[int] = list(gpus_per_server)
        self.total: int = sum(self.free)
        self._buckets = [0] * (max(self.free) + 1)
        for m, f in enumerate(self.free):
            self._buckets[f] |= 1 << m

    @property
    def most(self) -> int:
        """Free GPUs of the server that has most."""
        f = len(self._buckets) - 1
        while not self._buckets[f]:
            f -= 1
        return f

    def take(self, servers: Iterable[tuple[int, int]]) -> None:
        """Occupy GPUs: pairs of a server and a number."""
        for m, gpus in servers:
            self._move(m, -gpus)

    def release(self, servers: Iterable[tuple[int, int]]) -> None:
        """Free GPUs: pairs of a server and a number."""
        for m, gpus in servers:
            self._move(m, gpus)

    def in_blocks(self, block: int) -> FreeServers:
        """Return the servers as a job sees them that takes GPUs of one server by the block.

        A job with blocks of several sizes takes them by their greatest common divisor.
        """
        if block == 1:
            return self
        return FreeServers([f - f % block for f in self.free])

    def chosen(self, gpus: int, blocks: Blocks, *, consolidate: bool) -> list[int]:
        """Return the servers for a job whose blocks fit, by one of the two rules below."""
        if len(blocks) > 1:
            return enough_bins(self.free, blocks, consolidate=consolidate)
        return self.consolidated(gpus) if consolidate else self.fragmented(gpus)

    def consolidated(self, gpus: int) -> list[int]:
        """Return few servers with enough free GPUs, in the order in which they are filled.

        The server that fits best if one is large enough, else the largest ones and the best fit for
        the rest; ties go to the lowest index.
        """
        buckets = self._buckets
        chosen: list[int] = []
        removed: dict[int, int] = {}
        need = gpus
        while True:
            for f in range(need, len(buckets)):
                bits = buckets[f] & ~removed.get(f, 0)
                if bits:
                    chosen.append(_lowest(bits))
                    return chosen
            f = min(need, len(buckets)) - 1
            while not (bits := buckets[f] & ~removed.get(f, 0)):
                f -= 1
            while bits and need > f:
                low = bits & -bits
                chosen.append(low.bit_length() - 1)
                removed[f] = removed.get(f, 0) | low
                bits ^= low
                need -= f

    def fragmented(self, gpus: int) -> list[int]:
        """Return the servers with fewest free GPUs first, which leaves whole servers to others."""
        chosen: list[int] = []
        need = gpus
        for f in range(1, len(self._buckets)):
            bits = self._buckets[f]
            while bits:
                low = bits & -bits
                chosen.append(low.bit_length() - 1)
                bits ^= low
                need -= f
                if need <= 0:
                    return chosen
        return chosen

    def _move(self, m: int, gpus: int) -> None:
        bit, f = 1 << m, self.free[m]
        self._buckets[f] ^= bit
        self._buckets[f + gpus] |= bit
        self.free[m] = f + gpus
        self.total += gpus


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1
