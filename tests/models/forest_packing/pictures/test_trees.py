"""Pictures show the plan, and are the same every time."""

from __future__ import annotations

import itertools
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.forest_packing import PROBLEM
from gadgetopt.models.forest_packing.baselines.blueconnect import blueconnect
from gadgetopt.models.forest_packing.data.generate import topologies
from gadgetopt.models.forest_packing.instance import (
    ForestPackingInstance,
    ForestPackingSolution,
    TreePair,
)
from gadgetopt.models.forest_packing.pictures import study as plot_study
from gadgetopt.models.forest_packing.pictures import trees as plot
from gadgetopt.models.forest_packing.pictures.layout import lay_out
from gadgetopt.models.forest_packing.pictures.utilisation import busy_rows, utilisation
from gadgetopt.reporting.figures import BRIGHT, drawn

from ..networks import cables, known

#: The optimal plan of H2: every direction of every cable is full.
H2_PLAN = ForestPackingSolution(
    trees=(
        TreePair(root=0, in_tree=((1, 0), (2, 0)), rate_gbyte_per_s=Fraction(1, 2)),
        TreePair(root=1, in_tree=((0, 1), (2, 1)), rate_gbyte_per_s=Fraction(7, 2)),
        TreePair(root=2, in_tree=((0, 2), (1, 2)), rate_gbyte_per_s=Fraction(1, 2)),
    )
)


def rings(instance: ForestPackingInstance) -> ForestPackingSolution:
    """A plan for any instance."""
    return blueconnect(instance).solution


def test_strips_fill_the_bands_of_a_full_network() -> None:
    instance = known("H2")
    shown = plot.shown_trees(instance, H2_PLAN)
    end: defaultdict[tuple[int, int], float] = defaultdict(float)
    for strip in plot.pack_strips(instance, shown):
        assert strip.start == end[strip.arc]  # side by side
        end[strip.arc] += strip.rate
    assert dict(end) == dict(
        zip(instance.network.arcs, instance.network.capacity_float, strict=True)
    )
    assert [group.trees[0].root for group in shown] == [1, 0, 2]  # by rate


def test_both_directions_of_a_half_duplex_cable_are_in_one_band() -> None:
    instance = known("H2", duplex="half")
    plan = rings(instance)
    strips = plot.pack_strips(instance, plot.shown_trees(instance, plan))
    cable = sorted((s.start, s.rate) for s in strips if set(s.arc) == {0, 1})
    assert len({start for start, _ in cable}) == len(cable)
    assert all(b == pytest.approx(a + r) for (a, r), (b, _) in itertools.pairwise(cable))


def test_many_trees_share_the_last_colour_and_no_rate_is_lost() -> None:
    instance = topologies.dgx1_v100().instance()
    plan = rings(instance)
    shown = plot.shown_trees(instance, plan)
    assert len(shown) == len(BRIGHT)
    assert shown[-1].name.startswith("3 others")
    assert sum(len(group.trees) for group in shown) == len(plan.trees) == 8


def test_every_tree_can_be_shown_alone() -> None:
    figure = plot.trees(known("H2"), H2_PLAN)
    assert figure.layout.title.text == "3 trees, 4.5 GB/s in all"
    buttons = figure.layout.updatemenus[0].buttons
    assert [b.label for b in buttons][1] == "tree 1: root 1, 3.5 GB/s"
    assert all(len(b.args[0]["visible"]) == len(figure.data) for b in buttons)
    alone = [t for t, seen in zip(figure.data, buttons[1].args[0]["visible"], strict=True) if seen]
    assert {t.fillcolor for t in alone if t.fill} == {
        "#efefef",
        BRIGHT[0],
        plot.lightened(BRIGHT[0]),
    }


@pytest.mark.parametrize(
    "instance",
    [
        known("H4"),
        known("H6", collective="allgather"),
        known("H6", collective="reduce_scatter", stage_mode="sequential"),
        known("H2", nic_in_gbyte_per_s={0: 2.0}),
        topologies.fat_tree(4).instance(),
        topologies.dgx_a100(4).instance(duplex="half"),
    ],
    ids=["switch", "allgather", "reduce_scatter", "nic", "fat_tree", "half_duplex"],
)
def test_pictures_of_all_kinds_of_instances_are_the_same_every_time(
    instance: ForestPackingInstance,
) -> None:
    plan = rings(instance)
    for draw in (plot.trees, utilisation):
        figure = draw(instance, plan)
        assert figure.layout.title.text
        assert figure.to_json() == draw(instance, plan).to_json()


def test_an_empty_plan_of_a_disconnected_network_is_drawn() -> None:
    instance = ForestPackingInstance(workers=(0, 1, 2), links=cables((0, 1, 1)))
    nothing = ForestPackingSolution(trees=())
    assert plot.trees(instance, nothing).layout.title.text == "0 trees, 0 GB/s in all"
    assert utilisation(instance, nothing).layout.title.text == "Use of the network at 0 GB/s"


def test_an_infeasible_plan_is_not_drawn() -> None:
    plan = ForestPackingSolution(
        trees=(TreePair(root=0, in_tree=((1, 0), (2, 0)), rate_gbyte_per_s=Fraction(2)),)
    )
    for picture in PROBLEM.pictures:
        if picture.of == "solution":
            with pytest.raises(InputError, match="capacity"):
                drawn(PROBLEM, picture, known("H2"), plan)


def test_utilisation_adds_up_to_load_over_capacity() -> None:
    instance = known("H2")
    busy = [busy_rows(instance, H2_PLAN, stage) for stage in instance.stages]
    assert sum(busy) == pytest.approx(np.ones(6))
    reduce, broadcast, together = utilisation(instance, H2_PLAN).data
    assert reduce.z[0][1] == pytest.approx(3.5 / 4)  # 0 to 1: the tree of root 1
    assert broadcast.z[0][1] == pytest.approx(0.5 / 4)
    assert together.z[0][1] == pytest.approx(1.0)
    assert np.isnan(together.z[0][0])


def test_nodes_do_not_overlap() -> None:
    for topology in (topologies.mi250(1), topologies.torus((4, 4)), topologies.bcube(4)):
        network = topology.instance().network
        layout = lay_out(network)
        for v in range(network.num_nodes):
            apart = np.hypot(*(layout.position - layout.position[v]).T)
            assert np.delete(apart, v).min() > 2 * layout.radius


def test_accuracy_brackets_the_optimum() -> None:
    instance = known("H2")
    points = plot_study.accuracies(instance)
    assert len(points) >= 5
    for point in points:
        assert (1 - point.eps) ** 2 * 4.5 <= point.theory_rate <= point.rate + 1e-9
        assert point.rate <= 4.5 + 1e-9 <= point.bound + 2e-9


def test_time_of_a_message_is_that_of_the_best_chunks() -> None:
    # H2's plan: depth 2, 2/9 s a GB; T(m*) = (sqrt(T*) + sqrt(alpha))^2 but for rounding m*.
    contender = plot_study.Contender("x", "", "", (plot_study.Phase(2 / 9, 2),))
    time_s, chunks = contender.time_s(1.0, 1e-6)
    assert chunks in (471, 472)
    assert time_s == pytest.approx(((2 / 9) ** 0.5 + 1e-3) ** 2, rel=1e-5)


def test_message_size_draws_the_methods_that_take_the_instance() -> None:
    names = {trace.name.split(" (")[0] for trace in plot_study.message_size(known("H7")).data}
    assert {"optimal packing", "ring", "BlueConnect", "fluid bound"} <= names
    assert "halving and doubling" not in names  # three workers


def test_accuracy_needs_a_connected_network_and_free_trees() -> None:
    with pytest.raises(InputError, match="restriction"):
        plot_study.accuracy(known("H2", tree_budget=1))
    with pytest.raises(InputError, match="reaches"):
        plot_study.accuracy(ForestPackingInstance(workers=(0, 1, 2), links=cables((0, 1, 1))))
