"""A check that was made of the same certificate is not made again; no method can say its result."""

import pytest

from gadgetopt.search import checked
from gadgetopt.search.checked import checked_once
from gadgetopt.system.data import Certificate, Instance


class Number(Instance):
    """A number."""

    value: int


class Claim(Certificate):
    """A number that is at most the instance's, one by one."""

    value: int
    steps: list[int]


@pytest.fixture
def calls(monkeypatch):
    """A check, and the values it was called with; every check counts as a long one."""
    monkeypatch.setattr(checked, "LEAST_S", 0.0)
    made = []

    @checked_once
    def check(instance, certificate):
        made.append(certificate.value)
        if certificate.value > instance.value:
            raise ValueError("value: is more")
        return certificate.value

    return check, made


def test_a_certificate_is_checked_once(calls):
    check, made = calls
    instance, claim = Number(value=3), Claim(value=2, steps=[])
    assert [check(instance, claim) for _ in range(3)] == [2, 2, 2]
    assert made == [2]


def test_an_equal_certificate_of_another_instance_is_checked_again(calls):
    check, made = calls
    claim = Claim(value=2, steps=[])
    assert check(Number(value=3), claim) == 2
    with pytest.raises(ValueError, match="is more"):
        check(Number(value=1), claim)
    assert made == [2, 2]


def test_a_certificate_that_has_changed_is_checked_again(calls):
    check, made = calls
    instance, claim = Number(value=3), Claim(value=2, steps=[])
    check(instance, claim)
    object.__setattr__(claim, "value", 4)
    with pytest.raises(ValueError, match="is more"):
        check(instance, claim)
    object.__setattr__(claim, "value", 2)
    claim.steps.append(1)
    check(instance, claim)
    assert made == [2, 4, 2]


def test_a_refusal_is_not_kept(calls):
    check, made = calls
    for _ in range(2):
        with pytest.raises(ValueError, match="is more"):
            check(Number(value=1), Claim(value=2, steps=[]))
    assert made == [2, 2]


def test_only_the_last_checks_are_kept(calls):
    check, made = calls
    instance, claims = Number(value=9), [Claim(value=k, steps=[]) for k in range(checked.KEPT + 1)]
    for claim in claims:
        check(instance, claim)
    check(instance, claims[-1])
    check(instance, claims[0])
    assert made == [*range(checked.KEPT + 1), 0]
