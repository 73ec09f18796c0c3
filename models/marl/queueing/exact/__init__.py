"""What closes gaps."""

from gadgetopt.system.declaration import Method, Parts

part = Parts(__name__)

METHODS: tuple[Method, ...] = ()
