"""Values that an instance of one's own data gets where nobody gives them, with their sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Sourced:
    """What `gadgetopt.instance` gives a field that nobody gave, and where it is from.

    It stands in the field's `Annotated`. Files have to say all fields: what is read means the same
    whatever a later version takes for usual.

    Attributes
    ----------
    value : number or callable
        The number, or a function of the other fields that returns it.
    source : str
        A public standard, a data sheet, or a table of a paper.
    """

    value: Any
    source: str


@dataclass(frozen=True)
class Called:
    """Another name that `gadgetopt.instance` knows for a field; stands in its `Annotated`."""

    name: str


#: Links between and within servers where nobody says otherwise: 100 Gbit/s; 16 lanes of 16 GT/s, of
#: whose 130 bits 128 are data.
ETHERNET, PCI_EXPRESS = "100 Gbit/s Ethernet (IEEE 802.3)", "PCI Express 4.0 x16 (PCI-SIG)"
ETHERNET_BYTES_PER_S = Sourced(12.5e9, ETHERNET)
PCI_EXPRESS_BYTES_PER_S = Sourced(2048e9 / 65, PCI_EXPRESS)
ETHERNET_GBYTES_PER_S = Sourced("25/2", ETHERNET)
PCI_EXPRESS_GBYTES_PER_S = Sourced("2048/65", PCI_EXPRESS)
ETHERNET_GBYTE_PER_S = Sourced(12.5, ETHERNET)
ETHERNET_MBPS = Sourced(100_000, ETHERNET)
ETHERNET_GBPS = Sourced(100, ETHERNET)
PCI_EXPRESS_GBPS = Sourced(16384 / 65, PCI_EXPRESS)
#: From a rack to the others.
ETHERNET_400_MBPS = Sourced(400_000, "400 Gbit/s Ethernet (IEEE 802.3bs)")
