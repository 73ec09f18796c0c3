"""Instances from real graphs.

- `edge_lists`: plain, gzip, SNAP's text files, and the CSV folders of the Open Graph Benchmark.
- `metis_graphs`: the graph files of METIS.
- `matrix_market`: sparse matrices of the Matrix Market, among the edge lists.
- `reading`: lines of plain and compressed files, and what becomes of them.
"""
