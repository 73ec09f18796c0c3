"""The packages of the wheel, computed: a folder that is added is installed.

models/ and instances/ lie at the top of the repository and install inside the package. Everything
else is in pyproject.toml.
"""

from setuptools import find_namespace_packages, find_packages, setup

# Every folder of models/ with an `__init__.py`, every folder of instances/ whatever it holds.
setup(
    packages=[
        *find_packages(include=["gadgetopt", "gadgetopt.*"]),
        "gadgetopt.models",
        *(f"gadgetopt.models.{name}" for name in find_packages("models")),
        "gadgetopt.instances",
        *(f"gadgetopt.instances.{name}" for name in find_namespace_packages("instances")),
    ]
)
