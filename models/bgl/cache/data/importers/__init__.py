"""Instances from traces of requested nodes (`batches_text`)."""

from gadgetopt.system.declaration import Importer, Parts

part: Parts = Parts(__name__)

IMPORTERS = (
    Importer(
        format="batches",
        summary="text files, plain or gzip: the node ids of one batch a line",
        read=part("batches_text:batches_text"),
        parameters={"capacity": 1000, "order": "given"},
        help={
            "capacity": "nodes that the device retains, which the file does not say",
            "order": "'given' or 'free'",
        },
    ),
)
