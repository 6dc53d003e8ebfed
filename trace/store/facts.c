#include "trace/store/facts.h"

#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/param_value.h"
#include "trace/base/units.h"

static const char *const names[FACTS] = {[FACT_STATE] = "the state (incomplete)",
                                         [FACT_SKIPPED] = "skipped",
                                         [FACT_DROPPED] = "dropped",
                                         [FACT_STREAMS] = "streams",
                                         [FACT_TIMES] = "times",
                                         [FACT_CLOCK] = "the clock",
                                         [FACT_LAYOUT] = "the address layout",
                                         [FACT_BYTES] = "bytes of records",
                                         [FACT_IDS] = "ids of records",
                                         [FACT_FLAGS] = "flags and groups of records",
                                         [FACT_PROCESS] = "processes",
                                         [FACT_COLUMNS] = "columns",
                                         [FACT_ORIGIN] = "the origin",
                                         [FACT_WORKLOAD] = "the workload",
                                         [FACT_PARAMETERS] = "parameters",
                                         [FACT_STRUCTURES] = "structures",
                                         [FACT_ALLOCATIONS] = "allocations",
                                         [FACT_KERNELS] = "names of kernels",
                                         [FACT_LAUNCHES] = "shapes of launches",
                                         [FACT_STRINGS] = "strings",
                                         [FACT_BATCHES] = "batches",
                                         [FACT_COUNTERS] = "counters",
                                         [FACT_PACKETS] = "totals of packets"};

static const struct {
    const char *table;
    enum fact fact;
} tables[] = {{"skipped", FACT_SKIPPED},   {"dropped", FACT_DROPPED},         {"strings", FACT_STRINGS},
              {"kernels", FACT_KERNELS},   {"allocations", FACT_ALLOCATIONS}, {"batches", FACT_BATCHES},
              {"services", FACT_BATCHES},  {"tlp_histogram", FACT_PACKETS},   {"tlp_totals", FACT_PACKETS},
              {"tlp_flows", FACT_PACKETS}, {"tlp_defects", FACT_PACKETS},     {"tlp_latency", FACT_PACKETS},
              {"counters", FACT_COUNTERS}, {"structures", FACT_STRUCTURES},   {"parameters", FACT_PARAMETERS}};
enum { TABLES = sizeof tables / sizeof *tables };

enum fact fact_of_table(const char *table)
{
    for (size_t t = 0; t < TABLES; t++)
        if (strcmp(tables[t].table, table) == 0)
            return tables[t].fact;
    return FACTS;
}

bool facts_of_making(const char *key)
{
    return param_position("created|host|command_line|offchip_version|state", key) >= 0 ||
           strncmp(key, "source.", 7) == 0 || strncmp(key, "input.", 6) == 0 || strncmp(key, "merge.", 6) == 0;
}

/* --- what there is --- */

struct looking {
    struct facts *facts;
    enum fact fact;
};

static int look_at_row(void *ctx, const struct store_value *v, size_t n)
{
    const struct looking *l = ctx;
    const bool counted = l->fact == FACT_SKIPPED || l->fact == FACT_DROPPED;
    l->facts->n[l->fact] += counted ? (uint64_t)v[1].i : 1;
    for (size_t c = 5; l->fact == FACT_KERNELS && c < n; c++) /* trace/store/schema.sql */
        l->facts->n[FACT_LAUNCHES] += v[c].type != STORE_NULL;
    return 0;
}

static int look_at_origin(void *ctx, const struct store_value *v, size_t n)
{
    struct facts *facts = ctx;
    (void)n;
    const enum fact fact = strncmp(v[0].s, "workload", 8) == 0 ? FACT_WORKLOAD : FACT_ORIGIN;
    facts->n[fact] += !facts_of_making(v[0].s);
    return 0;
}

static void look_at_stream(struct facts *facts, const struct stream *s)
{
    facts->n[FACT_TIMES] += s->unit != TIME_NONE;
    facts->n[FACT_CLOCK] +=
        s->unit == TIME_NS || (s->unit == TIME_CYCLES && (s->clock_hz || strcmp(s->clock, "dram") != 0));
    facts->n[FACT_LAYOUT] += s->space != ADDR_BYTES;
    for (int e = 0; e < STORE_EXTRAS && s->extra[e][0]; e++) {
        const bool process = strcmp(s->extra[e], "process_id") == 0;
        facts->n[process ? FACT_PROCESS : FACT_COLUMNS]++;
        if (!process)
            (void)mem_add_text(facts->columns, sizeof facts->columns, "%s%s", *facts->columns ? ", " : " ",
                               s->extra[e]);
    }
}

static int look_at_records(struct facts *facts, struct store *store, int stream, uint32_t asked, struct err *err)
{
    struct store_walk w = {0};
    uint64_t *const n = facts->n;
    while (((asked & FACT(BYTES) && !n[FACT_BYTES]) || (asked & FACT(IDS) && !n[FACT_IDS]) ||
            (asked & FACT(FLAGS) && !n[FACT_FLAGS])) &&
           store_walk_batch(&w, store, stream, err))
        for (const struct record *r = w.r; r < w.r + w.n; r++) {
            const bool request = r->kind >= RECORD_DRAM_READ && r->kind <= RECORD_PIM;
            n[FACT_BYTES] += r->bytes != (request ? 32 : 0);
            n[FACT_IDS] += r->id != 0;
            n[FACT_FLAGS] += r->flags || r->group;
        }
    return store_walk_end(&w);
}

int facts_find(struct facts *facts, struct store *store, int stream, uint32_t asked, struct err *err)
{
    *facts = (struct facts){.n[FACT_STATE] = !store_complete(store)};
    for (int s = 0; s < store_stream_count(store); s++) {
        if (stream >= 0 && s != stream) {
            facts->n[FACT_STREAMS]++;
            (void)mem_add_text(facts->streams, sizeof facts->streams, "%s%s", *facts->streams ? ", " : " ",
                               store_stream(store, s)->name);
            continue;
        }
        look_at_stream(facts, store_stream(store, s));
        if (look_at_records(facts, store, s, asked, err))
            return -1;
    }
    for (size_t t = 0; t < TABLES; t++) {
        struct looking l = {facts, tables[t].fact};
        const uint32_t of = UINT32_C(1) << l.fact | (l.fact == FACT_KERNELS ? FACT(LAUNCHES) : 0);
        if (asked & of && store_rows(store, tables[t].table, look_at_row, &l, err))
            return -1;
    }
    return store_rows(store, "origin", look_at_origin, facts, err) ? -1 : 0;
}

const char *facts_text(const struct facts *facts, uint32_t set, char *text, size_t size)
{
    text[0] = 0;
    for (int f = 0; f < FACTS; f++) {
        char count[32];
        if (!facts->n[f] || !(set >> f & 1))
            continue;
        const bool counted = f == FACT_SKIPPED || f == FACT_DROPPED;
        units_human_count((int64_t)facts->n[f], count, sizeof count);
        (void)mem_add_text(text, size, "%s%s%s%s%s", *text ? ", " : "", counted ? count : "", counted ? " " : "",
                           names[f],
                           f == FACT_STREAMS   ? facts->streams
                           : f == FACT_COLUMNS ? facts->columns
                                               : "");
    }
    return text;
}
