"""The library of best known results, whose every entry proves itself.

record        what an entry says; schema: its JSON Schema
shelf         the folder of the entries: found, read, written
drawing       an entry's instance, drawn anew
keeping       solutions and certificates, compressed
facts         what follows from instance and numbers
history       the steps that led to the best, chained
checking      one entry checked without a solver; checked_all: many, in processes
repeating     the run that found a solution done again
candidates    what may improve an entry; submission: what is better taken over
parts         instance, solution and proof as files of their own
known         what the records know of an instance; table: the page of all
"""

from gadgetopt.records.checked_all import Verdict, check, check_one
from gadgetopt.records.known import best
from gadgetopt.records.parts import instance, part
from gadgetopt.records.record import Record
from gadgetopt.records.shelf import Entry, find_entries, read_entry, shelf
from gadgetopt.records.submission import Submitted, submit
from gadgetopt.records.table import page

__all__ = [
    "Entry",
    "Record",
    "Submitted",
    "Verdict",
    "best",
    "check",
    "check_one",
    "find_entries",
    "instance",
    "page",
    "part",
    "read_entry",
    "shelf",
    "submit",
]
