"""Instances from real graphs.

- `edge_lists`: plain, gzip, SNAP's text files, and the CSV folders of the Open Graph Benchmark.
- `metis_graphs`: the graph files of METIS.
- `matrix_market`: sparse matrices of the Matrix Market, among the edge lists.
- `reading`: lines of plain and compressed files, and what becomes of them.
"""

from gadgetopt.system.declaration import Importer, Parts

part: Parts = Parts(__name__)

_OPTIONS = {
    "num_parts": 4,
    "train_share": 0.1,
    "train_file": "",
    "fanouts": "15,10,5",
    "node_imbalance": 0.05,
    "train_imbalance": 0.05,
    "weights": "requests",
}
_HELP = {
    "train_share": "share of the nodes that are drawn as training nodes, without a train_file",
    "train_file": "training nodes, one number a line, plain or gzip",
    "weights": "requests or edge",
}

IMPORTERS = (
    Importer(
        format="edge-list",
        summary="two node numbers a line, plain or gzip; SNAP's and KONECT's files, Matrix Market",
        read=part("edge_lists:edge_list"),
        parameters={**_OPTIONS, "directed": False},
        help={**_HELP, "directed": "true: the first node of a line samples the second"},
    ),
    Importer(
        format="ogb-csv",
        summary="raw/edge.csv.gz of the Open Graph Benchmark, with the folders around it",
        read=part("edge_lists:ogb_csv"),
        parameters={**_OPTIONS, "directed": False},
        help={
            **_HELP,
            "train_file": "else train.csv.gz of the folder split, if there is one",
        },
    ),
    Importer(
        format="metis-graph",
        summary="graph files of METIS; their weights are left out",
        read=part("metis_graphs:metis_graph"),
        parameters=_OPTIONS,
        help=_HELP,
    ),
)
