"""Forest packing: the trees and rates that synchronise data fastest on a given network."""
