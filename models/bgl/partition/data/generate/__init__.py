"""Presets: graphs with communities, in the plane, and with a power law (`presets`)."""

from gadgetopt.system.declaration import Generator, Parts

part: Parts = Parts(__name__)

_SAMPLER = {
    "parts": 4,
    "train_share": 0.2,
    "fanouts": "5,5",
    "node_imbalance": 0.0,
    "train_imbalance": 0.0,
}

GENERATORS = (
    Generator(
        name="quickstart",
        summary="a small graph of four communities",
        generate=part("presets:quickstart"),
        parameters={"nodes": 64, "parts": 4, "train_share": 0.25},
    ),
    Generator(
        name="paper",
        summary="2,000 nodes of degree 25, the paper's fan-outs 15, 10, 5, for 8 servers",
        generate=part("presets:paper"),
        parameters={"nodes": 2000, "parts": 8, "train_share": 0.08},
    ),
    Generator(
        name="planted",
        summary="planted partition: so many neighbours within a community, so many beyond",
        generate=part("presets:planted"),
        parameters={"nodes": 120, "inside": 4.5, "outside": 0.8, **_SAMPLER, "parts": 2},
    ),
    Generator(
        name="geometric",
        summary="points in the unit square, neighbours within a radius",
        generate=part("presets:geometric"),
        parameters={"nodes": 3000, "radius": 0.035, **_SAMPLER},
    ),
    Generator(
        name="powerlaw_cluster",
        summary="power-law degrees with triangles (Holme and Kim)",
        generate=part("presets:powerlaw_cluster"),
        parameters={"nodes": 3000, "edges_per_node": 5, "triangles": 0.6, **_SAMPLER},
    ),
    Generator(
        name="caveman",
        summary="a ring of cliques, one edge of each leading to the next",
        generate=part("presets:caveman"),
        parameters={"cliques": 200, "clique_nodes": 15, **_SAMPLER},
    ),
)
