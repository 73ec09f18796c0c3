"""A trainer whose policy depends on every random number that it was given."""

from dataclasses import replace

import numpy as np
from toy import TOY

from gadgetopt.system.declaration import Trainer


class Walk:
    def __init__(self, seed, *, rounds, step, sleep_s=0.0):
        self.rounds = rounds
        self._step, self._sleep_s = step, sleep_s
        self._at = np.random.default_rng(seed).normal(size=3)

    def round(self, k, rng):
        if self._sleep_s:
            import time

            time.sleep(self._sleep_s)
        self._at = np.tanh(self._at + self._step * rng.normal(size=3))
        row = {"norm": float(np.linalg.norm(self._at)), "first": float(self._at[0])}
        return {**row, "held_out": k / 2} if k % 4 == 3 else row

    def state(self):
        return {"at": self._at}

    def restore(self, state):
        self._at = state["at"]

    def policy(self):
        return {"at": self._at}


WALK = Trainer(
    "walk",
    summary="a random walk",
    start=Walk,
    methods=("best",),
    parameters={"rounds": 20, "step": 0.5, "sleep_s": 0.0},
    presets={"small": {}, "long": {"rounds": 400, "sleep_s": 0.01}},
)
WALKING = replace(TOY, trainers=(WALK,))
