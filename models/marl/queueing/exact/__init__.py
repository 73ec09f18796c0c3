"""What closes gaps: F3 in the formulations closes small instances by itself."""

from gadgetopt.system.declaration import Method

METHODS: tuple[Method, ...] = ()
