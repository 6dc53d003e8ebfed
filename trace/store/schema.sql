-- The tables of a trace, version 1 (PRAGMA user_version). docs/trace-format.md describes them; every file has them all.
-- A column's unit ends its name; *_ns are nanoseconds on the recording's own clock. Addresses and other unsigned 64-bit
-- numbers are stored as SQLite's signed integers with the same bits. NULL: unknown. Numbers of new columns and tables
-- change user_version.

-- Where the trace comes from: tool version, command line, host, GPU, driver, source file and its hash.
CREATE TABLE origin(
    key TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL);

-- The streams. time_unit: none, ns, cycles (of `clock`, clock_hz 0: unknown). addr_space: bytes, dram-packed.
CREATE TABLE streams(
    stream INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    time_unit TEXT NOT NULL,
    clock TEXT NOT NULL,
    clock_hz INTEGER NOT NULL,
    addr_space TEXT NOT NULL,
    addr_layout TEXT NOT NULL,
    extra_1 TEXT NOT NULL,
    extra_2 TEXT NOT NULL,
    extra_3 TEXT NOT NULL,
    extra_4 TEXT NOT NULL);

-- The records, up to 65,536 a row, in order of `chunk` within a stream. time_min, time_max: in the stream's unit.
-- kinds: bit k is set if a record of kind k is in the chunk. content_hash: of the decoded records.
CREATE TABLE chunks(
    chunk INTEGER PRIMARY KEY,
    stream INTEGER NOT NULL,
    first_record INTEGER NOT NULL,
    records INTEGER NOT NULL,
    time_min INTEGER NOT NULL,
    time_max INTEGER NOT NULL,
    kinds INTEGER NOT NULL,
    content_hash INTEGER NOT NULL,
    data BLOB NOT NULL);

-- Input items that the reader left out, and records that the source says it lost, by reason.
CREATE TABLE skipped(
    reason TEXT NOT NULL PRIMARY KEY,
    count INTEGER NOT NULL);
CREATE TABLE dropped(
    reason TEXT NOT NULL PRIMARY KEY,
    count INTEGER NOT NULL);

-- Texts that records refer to by number.
CREATE TABLE strings(
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL);

-- Kernel launches; id is what KERNEL records carry.
CREATE TABLE kernels(
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    launch INTEGER,
    start_ns INTEGER,
    duration_ns INTEGER,
    grid_x INTEGER,
    grid_y INTEGER,
    grid_z INTEGER,
    block_x INTEGER,
    block_y INTEGER,
    block_z INTEGER,
    registers_per_thread INTEGER,
    static_shared_bytes INTEGER,
    dynamic_shared_bytes INTEGER,
    device INTEGER,
    cuda_stream INTEGER);

-- Memory the program allocated. kind: device, managed, pinned, registered. free_ns NULL: not freed, or unknown.
CREATE TABLE allocations(
    id INTEGER PRIMARY KEY,
    addr INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT,
    alloc_ns INTEGER,
    free_ns INTEGER);

-- Fault batches and the services (one per VA block) within them, rebuilt by `rule` with `confidence` (0 to 1).
CREATE TABLE batches(
    batch INTEGER PRIMARY KEY,
    first_service INTEGER NOT NULL,
    services INTEGER NOT NULL,
    start_ns INTEGER,
    end_ns INTEGER,
    fault_pages INTEGER,
    raw_faults INTEGER,
    rule TEXT NOT NULL,
    confidence REAL);
CREATE TABLE services(
    service INTEGER PRIMARY KEY,
    batch INTEGER,
    block_addr INTEGER NOT NULL,
    start_ns INTEGER,
    end_ns INTEGER,
    fault_pages INTEGER,
    prefetch_pages INTEGER,
    fault_bytes INTEGER,
    prefetch_bytes INTEGER,
    records INTEGER,
    rule TEXT NOT NULL,
    confidence REAL);

-- PCIe packets by type, direction and payload (or requested) size, and the latency of completed reads by quantile.
CREATE TABLE tlp_histogram(
    type TEXT NOT NULL,
    direction TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    count INTEGER NOT NULL);
-- Facts of each capture (`capture`: which input, from 0): packets, reads, completed_reads, completions_matched, ...
CREATE TABLE tlp_totals(
    capture INTEGER NOT NULL,
    name TEXT NOT NULL,
    value INTEGER NOT NULL);
-- Who sends to whom; flow is what TLP records carry as group. stamped: packets with an adapter time stamp.
CREATE TABLE tlp_flows(
    flow INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    destination TEXT NOT NULL,
    vlan INTEGER,
    packets INTEGER NOT NULL,
    stamped INTEGER NOT NULL,
    sequence_gaps INTEGER NOT NULL);
-- Packets that cannot be, by type ('?': none) and what is wrong with them; their sum is 'malformed' in table skipped.
CREATE TABLE tlp_defects(
    type TEXT NOT NULL,
    defect TEXT NOT NULL,
    count INTEGER NOT NULL);
CREATE TABLE tlp_latency(
    direction TEXT NOT NULL,
    quantile REAL NOT NULL,
    latency_ns REAL);

-- Hardware or driver counters. kernel: its name, or '' for the whole run. how: the tool and metric it came from; of one
-- launch of a kernel: "launch N, CUPTI metric".
CREATE TABLE counters(
    kernel TEXT NOT NULL,
    name TEXT NOT NULL,
    value REAL,
    unit TEXT NOT NULL,
    how TEXT NOT NULL);

-- Arrays that SCAN records refer to by row. companion: id of the structure read at the same index, or NULL.
CREATE TABLE structures(
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    base INTEGER NOT NULL,
    element_bytes INTEGER NOT NULL,
    count INTEGER NOT NULL,
    companion INTEGER);

-- Driver and workload parameters in force.
CREATE TABLE parameters(
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL);
