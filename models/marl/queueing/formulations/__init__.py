"""The models on paper, one file each."""

from gadgetopt.system.declaration import Formulation, Method, Parts

part = Parts(__name__)

FORMULATIONS: tuple[Formulation, ...] = ()

METHODS: tuple[Method, ...] = ()
