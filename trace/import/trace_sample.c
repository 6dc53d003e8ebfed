#include "trace/import/trace_sample.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/param_value.h"
#include "trace/base/random.h"
#include "trace/base/sorted.h"
#include "trace/base/units.h"

enum { BLOCK_SHIFT = 21 };

/* --- what was asked for --- */

/* One time; *unit is set. */
static int parse_time(const char *name, const char *text, int64_t *value, enum time_unit *unit, struct err *err)
{
    static const char cycles[] = "cycles";
    const size_t n = strlen(text), end = sizeof cycles - 1;
    char number[32];
    int rc;
    *unit = n > end && strcmp(text + n - end, cycles) == 0 ? TIME_CYCLES : TIME_NS;
    if (*unit == TIME_CYCLES && n - end < sizeof number) {
        memcpy(number, text, n - end);
        number[n - end] = 0;
        rc = units_parse_int(number, value, err);
    } else {
        rc = units_parse_ns(text, value, err);
    }
    if (rc)
        return err_at(err, "--%s", name);
    return *value < 0 || *value > RECORD_TIME_MAX
               ? err_set(err, "--%s %s: times count from the trace's start", name, text)
               : 0;
}

int trace_sample_parse(struct trace_sample *s, const char *from, const char *to, int64_t every, struct err *err)
{
    enum time_unit unit[2] = {TIME_NS, TIME_NS};
    *s = (struct trace_sample){.window = from || to, .to = INT64_MAX, .every = every > 1 ? every : 0};
    if ((from && parse_time("from", from, &s->from, &unit[0], err)) ||
        (to && parse_time("to", to, &s->to, &unit[1], err)))
        return -1;
    s->unit = from ? unit[0] : unit[1];
    if (from && to && unit[0] != unit[1])
        return err_set(err, "--from %s --to %s: one is in cycles, the other is not", from, to);
    return s->from < s->to ? 0 : err_set(err, "--from %s --to %s: nothing lies between", from ? from : "0", to);
}

bool trace_sample_asked(const struct trace_sample *s)
{
    return s->window || s->every;
}

bool trace_sample_block(uint64_t addr, int64_t every)
{
    return !every || random_mix(addr >> BLOCK_SHIFT) % (uint64_t)every == 0;
}

/* --- the whole, once --- */

struct copying {
    const struct trace_sample *sample;
    struct store *whole, *to;
    int64_t start, from, until; /* absolute, in the window's unit */
    int64_t last;               /* where the trace ends */
    int64_t *batches;           /* kept ones, ascending */
    size_t batch_count, batch_cap;
    uint64_t kept, outside, straddling, unchosen, of_the_whole;
    const char *table;
    struct err *err;
};

/* Kinds that have pages of their own. */
static bool has_block(uint32_t kind)
{
    return (kind >= RECORD_FAULT && kind <= RECORD_MIGRATE_D2D) || kind == RECORD_ACCESS ||
           (kind >= RECORD_DRAM_READ && kind <= RECORD_PIM);
}

static int can_sample(const struct copying *c, const struct stream *s, uint64_t kinds, struct err *err)
{
    const uint64_t pieces = UINT64_C(1) << RECORD_TLP | UINT64_C(1) << RECORD_TOUCH | UINT64_C(1) << RECORD_SCAN;
    if (c->sample->window && s->unit != c->sample->unit)
        return err_set(err, "--from, --to: times of stream %s are in %s, not in %s", s->name,
                       s->unit == TIME_NONE ? "no unit" : time_unit_name(s->unit), time_unit_name(c->sample->unit));
    if (c->sample->every && (s->space != ADDR_BYTES || kinds & pieces))
        return err_set(err, "--every: stream %s has no VA blocks that stand by themselves (%s)", s->name,
                       s->space != ADDR_BYTES ? "addresses are packed DRAM fields" : "TLP, TOUCH or SCAN records");
    return 0;
}

/* Where the trace begins and ends, and whether each stream can be sampled. */
static int look(struct copying *c)
{
    c->start = c->last = INT64_MAX;
    for (int i = 0; i < store_stream_count(c->whole); i++) {
        struct store_walk w = {0};
        uint64_t kinds = 0;
        while (store_walk_next(&w, c->whole, i, c->err)) {
            kinds |= UINT64_C(1) << w.r->kind;
            c->last = c->last == INT64_MAX || w.r->time > c->last ? w.r->time : c->last;
            c->start = w.r->time < c->start ? w.r->time : c->start;
        }
        if (store_walk_end(&w) || can_sample(c, store_stream(c->whole, i), kinds, c->err))
            return -1;
    }
    c->start = c->start == INT64_MAX ? 0 : c->start;
    c->last = c->last == INT64_MAX ? 0 : c->last;
    c->from = c->sample->window ? c->start + c->sample->from : INT64_MIN;
    c->until = !c->sample->window || c->sample->to > INT64_MAX - 1 - (c->start > 0 ? c->start : 0)
                   ? INT64_MAX
                   : c->start + c->sample->to;
    return 0;
}

static bool in_window(const struct copying *c, int64_t time)
{
    return time >= c->from && time < c->until;
}

/* --- what the trace says of itself --- */

static int copy_fact(void *ctx, const struct store_value *v, size_t n)
{
    struct copying *c = ctx;
    const bool own = param_position("created|host|command_line|offchip_version|state", v[0].s) >= 0;
    (void)n;
    return own ? 0 : store_origin(c->to, v[0].s, v[1].s, c->err);
}

static const char *time_text(const struct copying *c, int64_t value, char *buf, size_t size)
{
    if (c->sample->unit == TIME_NS)
        return units_human_ns((double)value, buf, size);
    (void)snprintf(buf, size, "%" PRId64 " cycles", value);
    return buf;
}

static int mark(struct copying *c)
{
    const struct trace_sample *s = c->sample;
    char text[300] = "", a[64], b[64], whole[64];
    if (s->window)
        (void)snprintf(text, sizeof text, "records that begin from %s to %s of %s", time_text(c, s->from, a, sizeof a),
                       s->to == INT64_MAX ? "the end" : time_text(c, s->to, b, sizeof b),
                       time_text(c, c->last - c->start, whole, sizeof whole));
    if (s->every)
        (void)mem_add_text(text, sizeof text, "%sabout one VA block in %" PRId64, s->window ? "; " : "", s->every);
    if (store_origin(c->to, "sample", text, c->err))
        return -1;
    const struct {
        const char *key;
        int64_t value;
        bool has;
    } facts[] = {{"sample.start", c->start, s->window},
                 {"sample.from", s->from, s->window},
                 {"sample.to", s->to, s->window && s->to != INT64_MAX},
                 {"sample.every", s->every, s->every > 0}};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        (void)snprintf(a, sizeof a, "%" PRId64, facts[i].value);
        if (facts[i].has && store_origin(c->to, facts[i].key, a, c->err))
            return -1;
    }
    return s->window ? store_origin(c->to, "sample.unit", time_unit_name(s->unit), c->err) : 0;
}

/* --- tables --- */

static int copy_row(void *ctx, const struct store_value *v, size_t n)
{
    struct copying *c = ctx;
    return store_row(c->to, c->table, v, n, c->err);
}

/* Times of tables are ns; a window of cycles keeps them all. */
static bool overlaps(const struct copying *c, const struct store_value *start, const struct store_value *end)
{
    return !c->sample->window || c->sample->unit != TIME_NS || start->type != STORE_INT ||
           (start->i < c->until && (end->type != STORE_INT || end->i > c->from || start->i >= c->from));
}

static int copy_kernel(void *ctx, const struct store_value *v, size_t n)
{
    struct store_value end = v[4];
    if (v[3].type == STORE_INT && end.type == STORE_INT)
        end.i += v[3].i;
    return overlaps(ctx, &v[3], &end) ? copy_row(ctx, v, n) : 0;
}

static int copy_allocation(void *ctx, const struct store_value *v, size_t n)
{
    return overlaps(ctx, &v[5], &v[6]) ? copy_row(ctx, v, n) : 0;
}

static int count_row(void *ctx, const struct store_value *v, size_t n)
{
    struct copying *c = ctx;
    (void)v;
    (void)n;
    c->of_the_whole++;
    return 0;
}

/* Batches have no rows in a sample of blocks. */
static int copy_batch(void *ctx, const struct store_value *v, size_t n)
{
    struct copying *c = ctx;
    if (c->sample->every || v[3].type != STORE_INT || !in_window(c, v[3].i))
        return 0;
    if (MEM_ADD(c->batches, c->batch_count, c->batch_cap, c->err, v[0].i))
        return -1;
    return copy_row(ctx, v, n);
}

static int copy_service(void *ctx, const struct store_value *v, size_t n)
{
    struct copying *c = ctx;
    if (!c->sample->every)
        return sort_find(&v[1].i, c->batches, c->batch_count, sizeof *c->batches, sorted_by_i64) ? copy_row(ctx, v, n)
                                                                                                 : 0;
    struct store_value row[16];
    if (n > 16 || !trace_sample_block((uint64_t)v[2].i, c->sample->every) ||
        (c->sample->window && (v[3].type != STORE_INT || !in_window(c, v[3].i))))
        return 0;
    memcpy(row, v, n * sizeof *row);
    row[1] = STORE_V_NULL;
    return copy_row(ctx, row, n);
}

static int copy_tables(struct copying *c)
{
    static const struct {
        const char *name;
        int (*copy)(void *ctx, const struct store_value *v, size_t n);
    } tables[] = {{"skipped", copy_row},      {"dropped", copy_row},
                  {"strings", copy_row},      {"structures", copy_row},
                  {"parameters", copy_row},   {"kernels", copy_kernel},
                  {"batches", copy_batch},    {"allocations", copy_allocation},
                  {"services", copy_service}, {"counters", count_row},
                  {"tlp_totals", count_row},  {"tlp_histogram", count_row},
                  {"tlp_flows", count_row},   {"tlp_defects", count_row},
                  {"tlp_latency", count_row}};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        c->table = tables[i].name;
        if (store_rows(c->whole, c->table, tables[i].copy, c, c->err))
            return -1;
    }
    return 0;
}

/* --- streams --- */

static bool choose(struct copying *c, const struct record *r)
{
    if (c->sample->window && !in_window(c, r->time)) {
        const bool into = r->time < c->from && r->duration > c->from - r->time;
        c->straddling += into;
        c->outside += !into;
        return false;
    }
    const bool chosen = !has_block(r->kind) || trace_sample_block(r->addr, c->sample->every);
    c->unchosen += !chosen;
    return chosen;
}

/* The chosen of n records, in place of the first ones. */
static int append(struct copying *c, int stream, const struct record *r, const int64_t *extra, size_t n)
{
    struct record kept[STORE_BATCH];
    size_t from[STORE_BATCH], m = 0, columns = 0;
    int64_t *more = NULL;
    for (size_t i = 0; i < n; i++)
        if (choose(c, &r[i])) {
            kept[m] = r[i];
            from[m++] = i;
        }
    while (columns < STORE_EXTRAS && store_stream(c->to, stream)->extra[columns][0])
        columns++;
    if (columns && extra && !(more = mem_zalloc(columns * m, sizeof *more, c->err)))
        return -1;
    for (size_t e = 0; more && e < columns; e++)
        for (size_t i = 0; i < m; i++)
            more[e * m + i] = extra[e * n + from[i]];
    c->kept += m;
    int rc = m ? store_append(c->to, stream, kept, more, m, c->err) : 0;
    free(more);
    return rc;
}

static int copy_stream(struct copying *c, int index)
{
    struct store_walk w = {0};
    int stream;
    if (store_stream_add(c->to, store_stream(c->whole, index), &stream, c->err))
        return -1;
    while (store_walk_batch(&w, c->whole, index, c->err))
        w.failed = append(c, stream, w.r, w.extra, w.n);
    return store_walk_end(&w);
}

static int count_left_out(const struct copying *c)
{
    const struct {
        const char *reason;
        uint64_t n;
    } rows[] = {{"begins outside the sampled time", c->outside},
                {"begins before the sampled time and reaches into it", c->straddling},
                {"in a VA block that was not sampled", c->unchosen},
                {"a counter or statistic of the whole", c->of_the_whole}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].n && store_skip(c->to, rows[i].reason, rows[i].n, c->err))
            return -1;
    return 0;
}

int trace_sample_copy(const struct trace_sample *sample, struct store *whole, struct store *to, uint64_t *kept,
                      struct err *err)
{
    struct copying c = {.sample = sample, .whole = whole, .to = to, .err = err};
    if (store_sample(whole))
        return err_set(err, "what is to be sampled is a sample already (%.200s)", store_sample(whole));
    int rc = look(&c) || store_rows(whole, "origin", copy_fact, &c, err) || mark(&c) || copy_tables(&c) ? -1 : 0;
    for (int i = 0; !rc && i < store_stream_count(whole); i++)
        rc = copy_stream(&c, i);
    free(c.batches);
    *kept = c.kept;
    return rc || count_left_out(&c) ? -1 : 0;
}
