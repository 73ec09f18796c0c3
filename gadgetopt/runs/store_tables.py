"""The tables of a store, and the migrations from older versions."""

from gadgetopt.runs.origins import FILL, TABLE

#: Marks the file as a store (SQLite's application_id) and versions its tables (user_version).
APPLICATION_ID = 0x47444F50
SCHEMA_VERSION = 7

#: Versions from this one on are read unchanged: they lack only `code`, `origins` and `sense`, and
#: call a method that does not apply an error.
READABLE_VERSION = 3

_RUNS = """
CREATE TABLE runs (
    key TEXT PRIMARY KEY,
    problem TEXT NOT NULL,
    instance TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    method TEXT NOT NULL,
    kind TEXT NOT NULL,
    formulation TEXT,
    backend TEXT,
    parameters TEXT NOT NULL,
    seed INTEGER,
    limits TEXT NOT NULL,
    version TEXT NOT NULL,
    code TEXT,
    status TEXT NOT NULL,
    objective TEXT,
    claimed_objective TEXT,
    bound TEXT,
    bound_voucher TEXT,
    gap REAL,
    limit_hit TEXT,
    reason TEXT,
    refused INTEGER NOT NULL DEFAULT 0,
    time_s REAL NOT NULL,
    promises TEXT NOT NULL,
    solution TEXT,
    certificate TEXT,
    evaluation TEXT,
    trace TEXT NOT NULL,
    phases_s TEXT NOT NULL,
    versions TEXT NOT NULL,
    notes TEXT NOT NULL,
    finished_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    position INTEGER,
    sense TEXT
) STRICT
"""

# Runs are listed in the order in which they were started.
_ORDER = "CREATE INDEX IF NOT EXISTS runs_by_position ON runs (position)"

_INSTANCES = """
CREATE TABLE IF NOT EXISTS instances (
    fingerprint TEXT PRIMARY KEY,
    problem TEXT NOT NULL,
    name TEXT NOT NULL,
    size TEXT NOT NULL,
    features TEXT NOT NULL,
    document TEXT NOT NULL
) STRICT
"""

_CLAIMS = """
CREATE TABLE IF NOT EXISTS claims (
    key TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    until REAL NOT NULL,
    position INTEGER NOT NULL
) STRICT
"""

#: Statements that create the tables of a new file.
CREATE = (_RUNS, _INSTANCES, _CLAIMS, _ORDER, TABLE)

#: Statements that turn the tables of each version into those of the next.
MIGRATIONS = {
    1: (
        "ALTER TABLE runs ADD COLUMN certificate TEXT",
        "ALTER TABLE runs ADD COLUMN refused INTEGER NOT NULL DEFAULT 0",
    ),
    2: (
        _INSTANCES,
        _CLAIMS,
        "ALTER TABLE runs ADD COLUMN position INTEGER",
        "UPDATE runs SET position = rowid",
        _ORDER,
    ),
    # The code of older runs is unknown.
    3: ("ALTER TABLE runs ADD COLUMN code TEXT",),
    4: (TABLE, FILL),
    5: ("UPDATE runs SET status = 'not_applicable' WHERE refused",),
    # Before, a problem had one sense.
    6: ("ALTER TABLE runs ADD COLUMN sense TEXT",),
}
