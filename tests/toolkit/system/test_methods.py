"""What a former name, or a former parameter, of a method is called now."""

from dataclasses import replace

import pytest
from toy import TOY

from gadgetopt.errors import InputError
from gadgetopt.system.methods import find_method, knows, parse_assignments, select

NOW = TOY.methods[0].name
RENAMED = replace(
    TOY,
    renamed={"old": NOW, f"{NOW}:solver=exact": "plain@highs", f"{NOW}:rounds": "plain@cpsat"},
    removed={"worse": NOW},
)


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ("old", f"method 'old': is now the method '{NOW}'"),
        (f"{NOW}:solver=exact", f"method '{NOW}': solver=exact is now the method 'plain@highs'"),
        (f"{NOW}:rounds=7", f"method '{NOW}': rounds=7 is now the method 'plain@cpsat'"),
        ("worse:rounds=3", f"method 'worse': is no longer there, take '{NOW}'"),
        (f"{NOW}:solver=greedy", f"method '{NOW}': no parameter 'solver' (it has: none)"),
    ],
)
def test_a_former_specification_is_refused_with_the_new_one(spec, line):
    assert knows(RENAMED, spec)
    with pytest.raises(InputError) as refused:
        find_method(RENAMED, spec)
    assert str(refused.value) == line
    with pytest.raises(InputError):
        select(RENAMED, [spec])


def test_what_was_not_renamed_is_found():
    assert find_method(RENAMED, NOW).label == NOW


def test_a_method_there_is_cannot_have_been_renamed():
    with pytest.raises(InputError, match=f"renamed: '{NOW}' is a method"):
        replace(TOY, renamed={NOW: "plain@highs"})
    with pytest.raises(InputError, match=f"removed: '{NOW}' is a method"):
        replace(TOY, removed={NOW: "plain@highs"})


@pytest.mark.parametrize("text", ["4,4,8", "[4,4,8]", "[4, 4, 8]"])
def test_a_list_in_brackets_is_the_list_without_them(text):
    assert parse_assignments([f"gpus={text}"], {"gpus": "paper"}, "x") == {"gpus": "4,4,8"}
    assert parse_assignments([f"gpus={text}"], {"gpus": (1,)}, "x") == {"gpus": (4, 4, 8)}
