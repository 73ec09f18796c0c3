"""Pictures: what a cache holds (`retention`), and what its size and the order change (`curves`)."""

from gadgetopt.system.declaration import Parts, Picture

part: Parts = Parts(__name__)

PICTURES = (
    Picture(
        name="retention",
        summary="which features are needed, hit and kept, batch by batch",
        draw=part("retention:draw"),
    ),
    Picture(
        name="misses_by_capacity",
        summary="misses of every policy over the capacity, above the envelope of Belady's rule",
        draw=part("curves:misses_by_capacity"),
        of="instance",
    ),
    Picture(
        name="misses_by_sequences",
        summary="misses and shuffling error of BGL's orders over the number of sequences",
        draw=part("curves:misses_by_sequences"),
        of="instance",
    ),
)
