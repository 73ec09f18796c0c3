"""Pictures."""

from gadgetopt.system.declaration import Parts, Picture

part = Parts(__name__)

PICTURES: tuple[Picture, ...] = ()
