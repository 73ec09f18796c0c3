"""Graph files become instances, and no line disappears."""

import gzip

import numpy as np
import pytest
from gadgetopt.models.bgl.partition.importers.edge_lists import edge_list, ogb_csv
from gadgetopt.models.bgl.partition.importers.metis_graphs import metis_graph

from gadgetopt.errors import InputError


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
    assert [row["line"] for row in report["rejected"]] == [7, 8]
    assert report["rejected"][0]["reason"] == "'x 1', expected two node numbers"


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
