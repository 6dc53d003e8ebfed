-- The tables of a results file, version 3 (PRAGMA user_version); docs/trace-format.md describes them.

-- One policy on one input. key: 32 hexadecimal digits over all that decides the outcome, so that a run that was done
-- is recognised. position: the order in which runs are reported. settings, params, metrics, intervals: JSON objects;
-- an interval is [lo, hi], or null: the value is an estimate; notes: a JSON array of sentences. baseline: 1 if the speed-ups of its request are relative
-- to this run. Since version 3: inputs: [{"role":..,"input":..,"hash":..},..]; platform_hash: whose numbers the run
-- started from, '' where that is not known; overrides: those given by --set instead, {"uvm.compute_ns":200,..};
-- relative_to: the baseline, {"policy":..,"params":..}; hash: 32 hexadecimal digits over this row, its rows in metrics
-- and its rows in parts.
CREATE TABLE runs(
    run INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    position INTEGER NOT NULL,
    engine TEXT NOT NULL,
    input TEXT NOT NULL,
    input_hash TEXT NOT NULL,
    platform TEXT NOT NULL,
    settings TEXT NOT NULL,
    policy TEXT NOT NULL,
    params TEXT NOT NULL,
    metrics TEXT NOT NULL,
    intervals TEXT NOT NULL,
    notes TEXT NOT NULL,
    baseline INTEGER NOT NULL,
    offchip_version TEXT NOT NULL,
    inputs TEXT NOT NULL,
    platform_hash TEXT NOT NULL,
    overrides TEXT NOT NULL,
    relative_to TEXT NOT NULL,
    hash TEXT NOT NULL);

-- The same metrics one by one; value NULL: unknown, or known only as the interval lo to hi. Nothing bounds the value
-- where hi is infinite. A name ends in its unit.
CREATE TABLE metrics(
    run INTEGER NOT NULL REFERENCES runs(run),
    name TEXT NOT NULL,
    value NUMERIC,
    lo REAL,
    hi REAL,
    PRIMARY KEY(run, name)) WITHOUT ROWID;

-- Runs divided by kernel or by allocation ("by"): the metrics of each part, in the order of reporting. Version 1 had
-- no such table.
CREATE TABLE parts(
    run INTEGER NOT NULL REFERENCES runs(run),
    position INTEGER NOT NULL,
    "by" TEXT NOT NULL,
    part TEXT NOT NULL,
    name TEXT NOT NULL,
    value NUMERIC,
    lo REAL,
    hi REAL,
    PRIMARY KEY(run, position, name)) WITHOUT ROWID;

-- Every number of each platform, {"uvm.compute_ns":200,..}, by the XXH3-128 of that text. Since version 3.
CREATE TABLE platforms(
    hash TEXT PRIMARY KEY,
    numbers TEXT NOT NULL) WITHOUT ROWID;

-- Sweeps that have not ended: 32 hexadecimal digits over what is swept, and how many points it has. A row is there from
-- the sweep's first point to its last. Since version 3.
CREATE TABLE sweeps(
    sweep TEXT PRIMARY KEY,
    points INTEGER NOT NULL) WITHOUT ROWID;

-- How many runs were written, and the sum of their hashes; one row. Since version 3.
CREATE TABLE digest(
    runs INTEGER NOT NULL,
    hash TEXT NOT NULL);
INSERT INTO digest VALUES(0, '00000000000000000000000000000000');
