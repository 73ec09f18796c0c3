"""Presets: networks in training (`networks`) on lines and hierarchies of devices (`presets`)."""

from gadgetopt.system.declaration import Generator, Parts

part: Parts = Parts(__name__)

#: What all presets take beside the network's own sizes.
_COSTS = {"unit": "oneflow", "compute_ratio": 0.05, "memory_limit_gb": 0.0}

GENERATORS = (
    Generator(
        name="quickstart",
        summary="a block of a transformer on four GPUs, costs in seconds",
        generate=part("presets:quickstart"),
        parameters={
            "layers": 1,
            "width": 256,
            "heads": 4,
            "sequence": 128,
            "batch": 8,
            "devices": "4",
        },
    ),
    Generator(
        name="paper",
        summary="perceptrons of random widths from 256 to 4096 on eight devices",
        generate=part("presets:paper"),
        parameters={"layers": 10, "batch": 512, "devices": "8", **_COSTS},
    ),
    Generator(
        name="mlp_train",
        summary="a perceptron in training; widths such as 4,8,4",
        generate=part("presets:mlp_train"),
        parameters={"widths": "1024,4096,1024", "batch": 512, "devices": "8", **_COSTS},
    ),
    Generator(
        name="transformer",
        summary="a transformer in training, from embedding to classifier",
        generate=part("presets:transformer"),
        parameters={
            "layers": 4,
            "width": 1024,
            "heads": 16,
            "sequence": 512,
            "batch": 16,
            "words": 32768,
            "devices": "8",
            **_COSTS,
        },
    ),
    Generator(
        name="wide_embedding",
        summary="a huge table of embeddings and a huge classifier around a small perceptron",
        generate=part("presets:wide_embedding"),
        parameters={
            "rows": 10**6,
            "width": 64,
            "fields": 16,
            "hidden": 512,
            "classes": 10**5,
            "batch": 1024,
            "devices": "8",
            **_COSTS,
        },
    ),
    Generator(
        name="two_placements",
        summary="a perceptron whose halves are trained on two groups of devices",
        generate=part("presets:two_placements"),
        parameters={
            "widths": "1024,4096,4096,1024",
            "batch": 512,
            "devices": "4",
            "other_devices": "4",
            **_COSTS,
        },
    ),
    Generator(
        name="mixture_of_experts",
        summary="blocks in which every token is sent to one of many experts",
        generate=part("presets:mixture_of_experts"),
        parameters={
            "layers": 2,
            "groups": 8,
            "tokens": 256,
            "width": 512,
            "experts": 8,
            "hidden": 2048,
            "capacity": 40,
            "devices": "8",
            **_COSTS,
        },
    ),
)
