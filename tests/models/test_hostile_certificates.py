"""A hostile certificate of any kind that a system declares ends in one clear line, and soon.

Certificates of every kind get sizes that fill memory, counts that run for ever, deep nesting, long
integers, NaN, other types and control characters, and lose fields. The environment variable
`GADGETOPT_FUZZ` sets how many are tried for each system (default 10), and `GADGETOPT_FUZZ_SEED`
which.
"""

import dataclasses
import os
import signal
import time
from contextlib import contextmanager
from fractions import Fraction

import pytest

from gadgetopt.errors import InputError
from gadgetopt.system.data import LpDuals
from gadgetopt.system.files import parse
from gadgetopt.system.registry import problem, problem_names
from gadgetopt.trust.verification import verify_bound

from .certificate_cases import OF_DOUBLES, assert_holds, missing_kinds, of_every_kind
from .certificate_mutations import as_text, bombs, generator, hostile

TRIES = int(os.environ.get("GADGETOPT_FUZZ", "10"))
SEED = int(os.environ.get("GADGETOPT_FUZZ_SEED", "0"))

#: Kinds that no small run proves by and that are too particular to be drawn.
RARE = {"a_srpt": {"ClusterStates", "PartPrices"}}

#: Processor seconds that the check of a small file may take.
MOST_S = 10


@contextmanager
def stopped_after(seconds, what):
    """Fail if Python code takes more processor seconds."""

    def late(*_):
        pytest.fail(f"takes more than {seconds} s: {what}")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    began = time.process_time()
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    assert time.process_time() - began < seconds, what


def assert_one_short_line(error, what):
    assert "\n" not in str(error), what
    assert len(str(error)) < 1000, what


@pytest.mark.parametrize("system", problem_names())
def test_there_is_a_certificate_of_every_kind(system):
    certificates = [data for _, _, some in of_every_kind(system) for data in some]
    assert missing_kinds(problem(system), certificates) <= RARE.get(system, set())


@pytest.mark.parametrize("system", problem_names())
def test_a_hostile_certificate_ends_in_a_line_within_seconds(system):
    rng = generator(SEED)
    known = [case for case in of_every_kind(system) if case[2]]
    refused = 0
    for k in range(TRIES):
        document, objective, certificates = rng.choice(known)
        data = hostile(rng.choice(certificates), rng)
        if isinstance(data, dict) and "model" in data and rng.random() < 0.5:
            data["proof"] = bombs(rng)
        text = as_text(system, data)
        what = f"{system}, {SEED}, try {k}: {document.name} {text[:300]}"
        with stopped_after(MOST_S, what):
            try:
                certificate = parse(text, "proof.json")
                bound = verify_bound(document, dataclasses.replace(certificate, path="proof.json"))
            except InputError as error:
                assert_one_short_line(error, what)
                refused += 1
                continue
        slack = OF_DOUBLES if isinstance(certificate.data, LpDuals) else Fraction(0)
        assert_holds(document, objective, bound, slack)
    assert refused > 0
