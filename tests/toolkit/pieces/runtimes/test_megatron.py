"""Megatron's layout: its grammar, its rules, and cuts written and read again."""

import random

import pytest

from gadgetopt.errors import InputError
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.pieces.runtimes.megatron import (
    layout_of,
    read_arguments,
    read_layout,
    write_arguments,
)


def plan_of(ends):
    starts = [0, *ends[:-1]]
    devices = tuple((n,) for n in range(len(ends)))
    return Plan(stage_layers=tuple(zip(starts, ends, strict=True)), stage_devices=devices)


@pytest.mark.parametrize(
    ("text", "ranks", "stages"),
    [
        ("EtL", 1, ["EtL"]),
        ("Et*2|t*3|t*3L", 3, ["Ett", "ttt", "tttL"]),
        ("E,t,t|,t,L", 2, ["Ett", "tL"]),
        ("E|t|t|L", 2, ["E", "t", "t", "L"]),  # two virtual stages a rank
        ("E||tt|L", 4, ["E", "", "tt", "L"]),  # a stage may be empty
        ("Et(|t)*3L", 4, ["Et", "t", "t", "tL"]),
        ("Et|*2tL", 3, ["Et", "", "tL"]),  # the line itself repeats, too
        ("E(t*2|)*2,L", 3, ["Ett", "tt", "L"]),
        ("Et|t|tm|L", 2, None),  # m on rank 0
        ("Et|t|t|mL", 2, ["Et", "t", "t", "mL"]),
    ],
)
def test_layouts_unroll_as_the_grammar_says(text, ranks, stages):
    if stages is None:
        with pytest.raises(InputError, match="m expected in the last virtual stage, not on rank 0"):
            read_layout(text, ranks)
    else:
        assert read_layout(text, ranks) == stages


def test_a_model_with_multi_token_prediction_on_sixteen_ranks():
    stages = read_layout("Et*3|(tt|)*29,m|L", 16)
    assert len(stages) == 32
    assert stages[:2] == ["Ettt", "tt"]
    assert stages[-2:] == ["m", "L"]
    assert "".join(stages).count("t") == 61


@pytest.mark.parametrize(
    ("text", "ranks", "said"),
    [
        ("", 1, "nothing, expected E, t, m, L"),
        ("Et|tL", 3, "layout of 2 stages, expected a multiple of 3 ranks"),
        ("t|tL", 2, "E is there 0 times"),
        ("Et|EtL", 2, "E is there 2 times"),
        ("Et|t", 2, "L is there 0 times"),
        ("tE|tL", 2, "expected E first and L last"),
        ("Et|Lt", 2, "expected E first and L last"),
        ("Ex|L", 2, "'x', expected E, t, m, L"),
        ("Et*L", 1, "'*', expected E, t, m, L"),
        ("Et*-1L", 1, "expected E, t, m, L"),
        ("E(t|L", 2, "'(', expected E, t, m, L"),
        ("E((t)*9|)*2L", 1, "expected E, t, m, L"),
        ("Et*999999L", 1, "too many"),
        ("E(t*999|)*999L", 1, "too many"),
        ("Em|tL", 2, "expected all m in one stage, after all t"),
        ("Et|m|mL", 3, "expected all m in one stage"),
        ("Et|m|t|L", 2, "expected all m in one stage, after all t"),
        ("E|m|t|L", 4, "expected all m"),
        ("Et|m|L|", 2, "expected"),
    ],
)
def test_what_breaks_a_rule_is_refused(text, ranks, said):
    with pytest.raises(InputError) as refused:
        read_layout(text, ranks)
    assert str(refused.value).startswith("megatron: ")
    assert said in str(refused.value)


def test_random_cuts_are_read_as_they_were_written():
    draw = random.Random(42)
    for _ in range(200):
        layers = draw.randint(3, 100)
        stages = draw.randint(1, min(layers, 16))
        ends = [*sorted(draw.sample(range(1, layers), stages - 1)), layers]
        text = write_arguments(plan_of(ends), layers)
        assert read_arguments(text) == plan_of(ends).stage_layers


def test_letters_are_repeated_by_numbers():
    assert layout_of([0, 5, 1, 0]) == "E|t*5|t|L"
    assert write_arguments(plan_of([3, 6]), 6).splitlines() == [
        "--pipeline-model-parallel-size 2",
        "--pipeline-model-parallel-layout 'Et*2|t*2L'",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("'", "megatron: arguments: "),
        ("--pipeline-model-parallel-size 2", "expected the arguments"),
        ("--pipeline-model-parallel-layout EtL --pipeline-model-parallel-size x", "'x', expected"),
        ("--pipeline-model-parallel-layout EtL --pipeline-model-parallel-size 0", "'0', expected"),
        ("--pipeline-model-parallel-layout 'E|t|t|L' --pipeline-model-parallel-size 2", "one a"),
        ("--pipeline-model-parallel-layout 'Et|mL' --pipeline-model-parallel-size 2", "m is multi"),
    ],
)
def test_arguments_of_something_else_are_refused(text, said):
    with pytest.raises(InputError) as refused:
        read_arguments(text)
    assert said in str(refused.value)


def test_a_chain_without_decoder_layers_is_refused():
    with pytest.raises(InputError, match="megatron: 2 layers, but its first is the embedding"):
        write_arguments(plan_of([1, 2]), 2)
