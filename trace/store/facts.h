/* facts: what a trace says besides its records: its state, what times and addresses mean, allocations, launches.
 *
 * Every form that a trace is written in declares which facts it carries (exporter.h), of this list; what a trace has
 * and a form does not carry is left out and said. A table of the schema belongs to one fact. */
#pragma once

#include "trace/store/store.h"

enum fact {
    FACT_STATE, /* that it is incomplete */
    FACT_SKIPPED,
    FACT_DROPPED,
    FACT_STREAMS,  /* others than the one that is looked at */
    FACT_TIMES,    /* of the records */
    FACT_CLOCK,    /* what a time is: ns, or cycles of which clock; cycles of an unknown DRAM clock are no fact */
    FACT_LAYOUT,   /* of packed addresses */
    FACT_BYTES,    /* of the records; a DRAM request has 32 without */
    FACT_IDS,      /* of the records */
    FACT_FLAGS,    /* of the records, and groups */
    FACT_PROCESS,  /* of the records */
    FACT_COLUMNS,  /* of the records: devices and whatever else stands in extra columns */
    FACT_ORIGIN,   /* GPU, driver, what could be seen */
    FACT_WORKLOAD, /* which program was generated */
    FACT_PARAMETERS,
    FACT_STRUCTURES,
    FACT_ALLOCATIONS,
    FACT_KERNELS,  /* names */
    FACT_LAUNCHES, /* shapes, devices and streams of launches */
    FACT_STRINGS,  /* names of ranges */
    FACT_BATCHES,
    FACT_COUNTERS,
    FACT_PACKETS, /* totals of PCIe packets */
    FACTS
};

#define FACT(f)   (UINT32_C(1) << FACT_##f)
#define FACTS_ALL ((UINT32_C(1) << FACTS) - 1)

struct facts {
    uint64_t n[FACTS]; /* how many there are, 0: the trace has none */
    char streams[128], columns[128];
};

/* The fact whose rows a table holds; FACTS: none, it is the trace itself (origin, streams, chunks). */
enum fact fact_of_table(const char *table);

/* Look for the facts of the set `asked` in a trace, of its stream `stream` (-1: of all). -1 with *err set. */
int facts_find(struct facts *facts, struct store *store, int stream, uint32_t asked, struct err *err);
/* Those of the set that there are, as "the state (incomplete), 1,000 dropped, parameters"; "": none. Returns text. */
const char *facts_text(const struct facts *facts, uint32_t set, char *text, size_t size);

/* Whether a key of origin is of the making of one file (when, where, by which command, from which source), so that a
 * trace that is made of it keeps it as input.N.KEY. */
bool facts_of_making(const char *key);
