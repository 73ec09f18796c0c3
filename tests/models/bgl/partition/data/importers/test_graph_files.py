"""Graph files become instances, and no line disappears."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.errors import InputError
from gadgetopt.models.bgl.partition.data.importers.edge_lists import (
    edge_list,
    ogb_csv,
)
from gadgetopt.models.bgl.partition.data.importers.metis_graphs import metis_graph


def read(importer, *files, **options):
    return importer(
        files, np.random.default_rng(0), **{"fanouts": "5,5", "num_parts": 2, **options}
    )


def only(outcome):
    ((name, instance),) = outcome.instances
    return name, instance


def test_a_snap_file_with_comments_gaps_and_odd_lines(tmp_path):
    path = tmp_path / "web.txt"
    path.write_text("# Directed graph\n# FromNodeId\tToNodeId\n7\t3\n3 7\n7,7\n10 3\nx 1\n4\n")
    found = read(edge_list, path)
    name, instance = only(found)
    assert name == "web_3x2"
    assert instance.edges == ((0, 1), (0, 2))  # nodes 3, 7 and 10
    (report,) = found.report["instances"]
    assert report["lines_read"] == 6
    assert (report["loops_left_out"], report["repeated_left_out"]) == (1, 1)
    (rejected,) = report["rejected"]
    assert rejected["first_lines"] == [7, 8]
    assert (rejected["reason"], rejected["first_value"]) == ("expected two node numbers", "x 1")


def test_a_directed_list_keeps_both_directions(tmp_path):
    path = tmp_path / "web.txt"
    path.write_text("0 1\n1 0\n")
    assert only(read(edge_list, path, directed=True))[1].edges == ((0, 1), (1, 0))


def test_gzip_and_a_file_of_training_nodes(tmp_path):
    path, train = tmp_path / "g.txt.gz", tmp_path / "train.csv"
    path.write_bytes(gzip.compress(b"5 6\n6 9\n"))
    train.write_text("9\n5\n")
    _, instance = only(read(edge_list, path, train_file=str(train)))
    assert instance.train_nodes == (0, 2)
    train.write_text("9\n4\n")
    with pytest.raises(InputError, match=r"entry 2 is no node of g\.txt\.gz"):
        read(edge_list, path, train_file=str(train))


def test_a_folder_of_the_open_graph_benchmark(tmp_path):
    raw, split = tmp_path / "raw", tmp_path / "split" / "time"
    raw.mkdir()
    split.mkdir(parents=True)
    (raw / "edge.csv.gz").write_bytes(gzip.compress(b"0,1\n1,2\n"))
    (raw / "num-node-list.csv.gz").write_bytes(gzip.compress(b"5\n"))
    (split / "train.csv.gz").write_bytes(gzip.compress(b"4\n0\n"))
    _, instance = only(read(ogb_csv, tmp_path))
    assert (instance.num_nodes, instance.train_nodes) == (5, (0, 4))
    (raw / "num-node-list.csv.gz").write_bytes(gzip.compress(b"2\n"))
    with pytest.raises(InputError, match="expected a number of nodes above 2"):
        read(ogb_csv, tmp_path)
    (raw / "num-node-list.csv.gz").write_bytes(gzip.compress(b"900000000000000\n"))
    with pytest.raises(InputError, match="900000000000000 nodes, expected at most"):
        read(ogb_csv, tmp_path)


@pytest.mark.parametrize(
    ("header", "lines"),
    [
        ("4 3", ["2", "1 3", "2 4", "3"]),
        ("4 3 001", ["2 9", "1 9 3 8", "2 8 4 7", "3 7"]),
        ("4 3 011 2", ["1 1 2 9", "1 1 1 9 3 8", "1 1 2 8 4 7", "1 1 3 7"]),
    ],
)
def test_a_metis_graph_with_and_without_weights(tmp_path, header, lines):
    path = tmp_path / "p.graph"
    path.write_text("\n".join(["% a path", header, *lines]) + "\n")
    found = read(metis_graph, path)
    _, instance = only(found)
    assert sorted(instance.edges) == [(0, 1), (1, 2), (2, 3)]
    (report,) = found.report["instances"]
    assert (report["rows_rejected"], report["repeated_left_out"]) == (0, 0)


def test_a_metis_graph_that_announces_other_numbers(tmp_path):
    path = tmp_path / "p.graph"
    path.write_text("2 5\n2\n1\n")
    (report,) = read(metis_graph, path).report["instances"]
    assert report["rejected"][0]["reason"] == "5 edges announced, 1 found"
    path.write_text("3 1\n2\n1\n")
    with pytest.raises(InputError, match="2 lines of neighbours for 3 nodes"):
        read(metis_graph, path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("% nothing\n", "line 1: no header"),
        ("2 one\n2\n1\n", "line 1: no header, expected the numbers of nodes and edges"),
        ("2 1 000 1 5\n2\n1\n", "line 1: no header"),
        ("0 0\n", "line 1: 0 nodes, expected 1 to"),
        ("2 1 012\n2\n1\n", "line 1: format '012', expected up to three digits of 0 and 1"),
        ("2 1 1000\n2\n1\n", "line 1: format '1000'"),
        ("2 1 001 2\n2 5\n1 5\n", "line 1: 2 weights of nodes, but format '001' has none"),
        ("2 1\n1\n0\n", "line 3: neighbour '0', expected 1 to 2; METIS counts nodes from 1"),
        ("2 1\n2\n% here\n3\n", "line 4: neighbour '3', expected 1 to 2"),
        ("2 1\n2\nx\n", "line 3: neighbour 'x', expected 1 to 2"),
        ("2 1 1\n2 5\n1\n", "line 3: 1 numbers, expected 0 sizes or weights of the node, then a"),
        ("2 1 010 3\n1 1 1 2\n1 1\n", "line 3: 2 numbers, expected 3 sizes or weights of the"),
        ("3 2\n2\n1 3\n\n", "line 3: node 2 lists node 3, but line 4 does not list node 2"),
        ("3 2\n\n3\n1 2\n", "line 4: node 3 lists node 1, but line 2 does not list node 3"),
        ("2 1\n2\n1\n\n1\n", "line 5: '1' after the neighbours of all 2 nodes"),
        ("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n", "import it as edge"),
    ],
)
def test_a_metis_graph_that_is_not_as_the_format_wants_it_is_refused(tmp_path, text, message):
    path = tmp_path / "p.graph"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read(metis_graph, path)
    assert f"{path}: " in str(caught.value)
    assert message in str(caught.value)


def test_loops_and_repeated_edges_are_left_out_and_counted_truly(tmp_path):
    path = tmp_path / "p.graph"
    for announced in (3, 4, 5):  # the edges; with the loop; with the edge that is there twice, too
        path.write_text(f"3 {announced}\n1 2 2 3\n1 1 3\n1 2\n")
        (report,) = read(metis_graph, path).report["instances"]
        assert (report["edges"], report["loops_left_out"], report["repeated_left_out"]) == (3, 1, 1)
        assert report["rows_rejected"] == 0
    path.write_text("3 7\n1 2 2 3\n1 1 3\n1 2\n")
    (report,) = read(metis_graph, path).report["instances"]
    assert report["rejected"][0]["reason"] == (
        "7 edges announced, 3 found besides 1 loops and 1 repeated ones"
    )


@st.composite
def metis_files(draw) -> tuple[str, set[tuple[int, int]], int]:
    """Draw a graph and its file in some format; return also the number of nodes."""
    nodes = draw(st.integers(2, 8))
    pairs = [(u, v) for v in range(nodes) for u in range(v)]
    edges = set(draw(st.lists(st.sampled_from(pairs), min_size=1)))
    sizes, weights, edge_weights = draw(st.tuples(*[st.booleans()] * 3))
    form = f"{sizes:d}{weights:d}{edge_weights:d}"
    number = st.integers(0, 99)
    node_weights = draw(st.integers(1, 3)) if weights else 0
    header = f"{nodes} {len(edges)}"
    if form != "000" or draw(st.booleans()):
        header += f" {form if draw(st.booleans()) else form.lstrip('0') or '0'}"
        header += (
            f" {node_weights}" if node_weights > 1 or (weights and draw(st.booleans())) else ""
        )
    lines = [header]
    for v in range(nodes):
        near = draw(st.permutations([u for e in edges if v in e for u in e if u != v]))
        words = [draw(number) for _ in range(sizes + node_weights)]
        for u in near:
            words += [u + 1, draw(number)] if edge_weights else [u + 1]
        lines.append(" ".join(map(str, words)))
    for place in draw(st.lists(st.integers(0, len(lines)), max_size=2)):
        lines.insert(place, "% said aside")
    return "\n".join(lines) + "\n", edges, nodes


@settings(max_examples=150, deadline=None)
@given(drawn=metis_files())
def test_a_graph_is_the_same_in_every_format_of_metis(tmp_path_factory, drawn):
    text, edges, nodes = drawn
    path = tmp_path_factory.mktemp("metis") / "p.graph"
    path.write_text(text)
    found = read(metis_graph, path)
    _, instance = only(found)
    assert (set(instance.edges), instance.num_nodes) == (edges, nodes)
    assert found.report["instances"][0]["rows_rejected"] == 0


def test_a_matrix_of_the_matrix_market(tmp_path):
    path = tmp_path / "a.mtx"
    path.write_text(
        "%%MatrixMarket matrix coordinate real symmetric\n% said\n\n5 5 4\n2 1 0.5\n3 2 -1\n"
        "4 4 2\n3 1 0\n"
    )
    found = read(edge_list, path)
    _, instance = only(found)
    assert (instance.num_nodes, set(instance.edges)) == (5, {(0, 1), (1, 2), (0, 2)})
    (report,) = found.report["instances"]
    assert (report["lines_read"], report["edges"], report["loops_left_out"]) == (4, 3, 1)
    both = only(read(edge_list, path, directed=True))[1].edges
    assert set(both) == {(u, v) for e in instance.edges for u, v in (e, e[::-1])}


@settings(max_examples=60, deadline=None)
@given(drawn=metis_files(), data=st.data())
def test_a_matrix_is_the_same_graph_as_a_file_of_metis(tmp_path_factory, drawn, data):
    _, edges, nodes = drawn
    field, value = data.draw(
        st.sampled_from([("pattern", ""), ("real", " 0.5"), ("integer", " 3")])
    )
    symmetric = data.draw(st.booleans())
    pairs = [(v, u) if symmetric or data.draw(st.booleans()) else (u, v) for u, v in edges]
    kind = "symmetric" if symmetric else "general"
    lines = [
        f"%%MatrixMarket matrix coordinate {field} {kind}",
        f"{nodes} {nodes} {len(pairs)}",
        *(f"{i + 1} {j + 1}{value}" for i, j in pairs),
    ]
    path = tmp_path_factory.mktemp("market") / "a.mtx"
    path.write_text("\n".join(lines) + "\n")
    _, instance = only(read(edge_list, path))
    # Edges of an undirected graph have their smaller node first.
    assert (set(instance.edges), instance.num_nodes) == (edges, nodes)


def test_a_general_matrix_has_directions(tmp_path):
    path = tmp_path / "a.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n2 1\n3 1\n")
    assert set(only(read(edge_list, path, directed=True))[1].edges) == {(0, 1), (1, 0), (2, 0)}
    found = read(edge_list, path)
    assert set(only(found)[1].edges) == {(0, 1), (0, 2)}
    assert found.report["instances"][0]["repeated_left_out"] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "%%MatrixMarket matrix array real general\n2 2\n1\n",
            "line 1: '%%MatrixMarket matrix arr",
        ),
        ("%%MatrixMarket matrix coordinate real\n2 2 0\n", "expected 'matrix coordinate', then"),
        ("%%MatrixMarket matrix coordinate pattern general\n", "line 1: expected the numbers of"),
        ("%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 2\n", "line 2: 2 rows and 3"),
        (
            "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n",
            "2 entries announced, 1",
        ),
        (
            "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n0 2\n",
            "line 3: '0 2', expected two numbers from 1 to 2",
        ),
        (
            "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2\n",
            "line 3: '1 2', expected two numbers from 1 to 2 and 1 values",
        ),
        (
            "%%MatrixMarket matrix coordinate pattern general\n900000000000000 900000000000000 0\n",
            "line 2: 900000000000000 nodes, expected at most",
        ),
        ("% bip unweighted\n1 1\n1 2\n", "line 1: a bipartite network of KONECT"),
    ],
)
def test_what_is_no_graph_is_refused(tmp_path, text, message):
    path = tmp_path / "a.mtx"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read(edge_list, path)
    assert message in str(caught.value)


def test_a_network_of_konect(tmp_path):
    path = tmp_path / "out.ring"
    path.write_text("% sym unweighted\n% 4 4 4\n1 2\n2 3\n3 4\n4 1\n")
    found = read(edge_list, path)
    assert only(found)[1].num_nodes == 4
    assert found.report["instances"][0]["edges"] == 4


def test_options_and_files_that_cannot_be_used_are_answered(tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("0 1\n")
    for options, message in (
        ({"num_parts": 1}, "num_parts: 1: Input should be greater"),
        ({"train_share": 2.0}, "train_share: 2.0"),
        ({"node_imbalance": -1.0}, "node_imbalance: -1.0"),
        ({"weights": "bytes"}, "weights: 'bytes': Input should be"),
    ):
        with pytest.raises(InputError, match=message):
            read(edge_list, path, **options)
    path.write_text("# nothing\n")
    with pytest.raises(InputError, match="no line is an edge"):
        read(edge_list, path)
    path.write_bytes(b"\x1f\x8bbroken")
    with pytest.raises(InputError, match="not a whole gzip file"):
        read(edge_list, path)
    with pytest.raises(InputError, match="cannot be read"):
        read(edge_list, tmp_path / "missing")
