/* compare_repeats: rows of a large program whose work repeats, from shorter runs of the same program.
 *
 * A program may name the key in which its work repeats (struct workload_repeats). A shorter run keeps the width of
 * rows, blocks, warps, launches, and the share of memory that is short. Sizes are x0, 2 x0, 4 x0, ..: the line a + b x
 * through a number at the first and the last size (ratios: a + b / x) gives it at the whole size. Lines to half and a
 * quarter of the last size are the check. The difference of the last two lines may come again with every doubling up to
 * the whole size, shrinking as before. The error is the sum of these, and at least a quarter of the difference before.
 * The rows are the answer when all numbers of those that may tie with the best are off by less than NEAR_PCT, or their
 * times alone at the last size that pays. Other numbers are estimates. If that never comes, the program runs whole.
 *
 * Any program that fits may run the first blocks of its launches instead, in whole waves, if that is a small part of
 * its work. Then x is warps, and lines go through the last two sizes of each pair, because the first blocks may lie at
 * an edge. Memory is the whole program's; pages that the first blocks do not reach are on the GPU from the start, as
 * later launches of the whole find them. Faults depend on which pages are left for the other blocks, so such rows are
 * estimates by the pages left, at least the kernels' own line. If such a row would be best, the program runs whole.
 * Zero-copy counts requests of the whole program, by lines of the same kind.
 * Worked example: of matmul's 20.7 waves (n = 2,368, copied: 2.207 ms) 1, 2 and 4 take 0.919, 0.984 and 1.115 ms: 2.212
 * ms by the last two, 2.202 ms by those before.
 *
 * The first size has at least AT_ONCE times the blocks of 2 MiB that resident warps touch in their first steps: if
 * those are a large part of the run, nothing repeats. A program that L2 holds is another one, too. Worked example: 64,
 * 128, 256 and 512 rows of 51,200 take 5, 9.1, 17 and 32.9 ms. The line through 64 and 512 rows gives 3.190 s, through
 * 64 and 256 3.201 s, through 64 and 128 3.281 s: differences of 80 and 11 ms. The next seven would be 1.5 ms, 0.2 ms,
 * ..: 3.19 s may be off by a quarter of 80 ms, 0.6 %. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/gpu/occupancy.h"
#include "replay/compare/compare_rows.h"
#include "replay/zerocopy/zerocopy.h"
#include "trace/base/mem.h"
#include "trace/derived/limits.h"

/* Of the least size that is asked in part the first is 1 / FIRST, the last 1 / LAST at most; of any 1 / SAVES. */
enum { FIRST = 128, LAST = 2, SAVES = 4 };
/* The last size is 1 / LAST_BLOCKS of the blocks at most; launches of 1 / REST of the most warps may have fewer waves.
 * All sizes together are 1 / PAYS of the work. */
enum { LAST_BLOCKS = 6, REST = 8, PAYS = 3, SPREAD = 1024, BODIES = 4096 };
#define EXACT 1e-4                      /* three sizes lie on one line */
enum { TIME, H2D, D2H, GPU, FEW = 64 }; /* of compare_metrics; bytes that are a smaller part of H2D are few */
enum part { LOW, HIGH, REAL };          /* of a number */
enum { SIZES = 8, ALL_ROWS = 3, NEAR_PCT = 3, AT_ONCE = 4, SHORT = 8, LAUNCHES_LOOKED_AT = 64, SPEC = 4096 };

struct shorter {
    double at; /* the key */
    struct compare_counted counted;
    struct compare_result result;
};

struct repeats {
    const struct compare_program *facts;
    const struct workload_repeats *in; /* NULL: the first blocks of its launches are asked */
    double least;                      /* of them, as struct compare_cut has it */
    double whole;                      /* the key, or warps */
    double lacks;                      /* blocks of 2 MiB that the GPU's memory is short of; 0: it is not */
    double base;                       /* of them those that do not grow with the size */
    struct shorter sizes[SIZES];
    size_t count;
    struct compare_row *wanted; /* that matter; nothing is theirs but what names them */
    size_t wanted_count;
};

/* --- the shorter programs --- */

static double blocks_of(const struct actor_alloc *allocs, size_t n)
{
    double blocks = 0;
    for (size_t i = 0; i < n; i++)
        blocks += ceil((double)allocs[i].bytes / ACTOR_BLOCK_BYTES);
    return blocks;
}

/* The value of a key, given or default. */
static double key_of(const struct workload *w, const char *key)
{
    const struct param *row = param_find(w->type->params, key);
    const double given = param_number(row, w->params);
    return given > 0 ? given : param_number(row, w->state);
}

static void spec_of(const struct repeats *r, double at, char spec[SPEC])
{
    const struct workload *w = &r->facts->input->workload;
    (void)snprintf(spec, SPEC, "synth:%s,%s=%.0f", w->type->name, r->in->key, at);
    if (r->in->kept)
        (void)mem_add_text(spec, SPEC, ",%s=%.0f", r->in->kept, key_of(w, r->in->kept));
    for (size_t i = 0; i < w->keys.count; i++) {
        const struct param_pair *pair = &w->keys.pairs[i];
        if (strcmp(pair->key, "bytes") != 0 && strcmp(pair->key, r->in->key) != 0 &&
            !(r->in->kept && strcmp(pair->key, r->in->kept) == 0))
            (void)mem_add_text(spec, SPEC, ",%s=%s", pair->key, pair->value);
    }
}

void compare_repeats_lack(struct compare_program *f, struct compare_set *set)
{
    const double blocks = fmin(blocks_of(f->allocs, f->alloc_count) - f->request->lacks,
                               ceil((double)f->footprint / ACTOR_BLOCK_BYTES) - 1);
    if (f->request->lacks <= 0)
        return;
    f->memory = (uint64_t)(fmax(1, blocks) * ACTOR_BLOCK_BYTES);
    set->managed.oversubscription_pct = 0;
    set->managed.gpu_memory_bytes = (int64_t)f->memory;
}

/* --- or the first blocks of its launches --- */

static const struct gpu *gpu_of(const struct compare_program *f)
{
    return platform_section_get(f->platform, "gpu");
}

/* Waves of the least of the launches that make up the program; 0: too few. *all: warps. */
static double waves_of(const struct compare_program *f, double *all)
{
    const struct program *program = &f->touching.program;
    const uint32_t launches = program->ops->launches(program->state);
    double most = 0, least = INFINITY;
    uint64_t wave;
    *all = 0;
    for (uint32_t l = 0; l < launches; l++) {
        const struct program_launch shape = program_launch_of(program, l);
        most = fmax(most, (double)program_warps(&shape));
    }
    for (uint32_t l = 0; l < launches; l++) {
        const struct program_launch shape = program_launch_of(program, l);
        const double warps = (double)program_warps(&shape), waves = compare_waves(&shape, gpu_of(f), &wave);
        *all += warps;
        if (shape.cpu)
            return 0;
        if (warps * REST >= most)
            least = fmin(least, waves);
    }
    return least >= LAST_BLOCKS << ALL_ROWS ? least : 0;
}

/* Number of warps at a share of the blocks. */
static double kept_at(const struct repeats *r, double share, struct err *err)
{
    double kept;
    uint64_t *blocks = compare_cut_blocks(&(struct compare_cut){.share = share, .least = r->least},
                                          &r->facts->touching.program, gpu_of(r->facts), &kept, err);
    free(blocks);
    return blocks ? kept : -1;
}

/* The size nearest to `bytes` of memory; where memory is short in proportion one that lacks whole blocks. */
static double size_at(const struct repeats *r, double bytes, double *lacks)
{
    double share = bytes / ((double)r->facts->footprint);
    *lacks = r->lacks > 0 ? fmax(1, round(r->base + (r->lacks - r->base) * share)) : 0;
    if (r->lacks > 0 && r->base <= 0)
        share = *lacks / r->lacks;
    return fmax(1, round(r->whole * share / r->in->unit)) * r->in->unit;
}

/* size: bytes of memory, or the share of blocks. */
static int run_shorter(struct repeats *r, double size, struct err *err)
{
    struct compare_request request = *r->facts->request;
    struct shorter *s = &r->sizes[r->count];
    char spec[SPEC];
    bool usage;
    if (r->wanted) {
        request.wanted = r->wanted;
        request.wanted_count = r->wanted_count;
    }
    if (r->in) {
        s->at = size_at(r, size, &request.lacks);
        spec_of(r, s->at, spec);
        request.spec = spec;
    } else {
        s->at = kept_at(r, size, err);
        request.cut = (struct compare_cut){r->facts->input, size, r->least, &s->counted};
    }
    request.stop_from = 0;
    request.part = true;
    const int rc = s->at < 0 ? -1 : compare_run(&request, &s->result, &usage, err);
    r->count += rc == 0;
    return rc;
}

/* --- the line --- */

static const struct compare_row *same_row(const struct shorter *s, const struct compare_row *row)
{
    return compare_find(&s->result, row->mechanism, row->policy);
}

/* The last size that was asked for a row. */
static size_t last_of(const struct repeats *r, const struct compare_row *row)
{
    size_t last = r->count - 1;
    while (last > 0 && !same_row(&r->sizes[last], row))
        last--;
    return last;
}

static double part_of(const struct metric_value *v, enum part part)
{
    if (part == REAL || !(v->interval || (part == LOW && v->lower_bound)))
        return v->known ? v->real : NAN;
    return part == LOW ? v->lo : v->hi;
}

/* One number of a row at the whole size, by the first size (of blocks the one before) and `back` before the last; a
 * ratio's line is one over the reciprocal. NAN: one of them has none. */
static double on_line(const struct repeats *r, const struct compare_row *row, size_t metric, enum part part,
                      size_t back)
{
    const size_t last = last_of(r, row);
    const bool ratio = compare_metrics[metric].aggregate == METRIC_MEAN;
    double x[2], y[2];
    if (last < back + 1)
        return NAN;
    for (size_t i = 0; i < 2; i++) {
        const struct shorter *on = &r->sizes[i ? last - back : r->in ? 0 : last - back - 1];
        const struct compare_row *same = same_row(on, row);
        x[i] = ratio ? 1 / on->at : on->at;
        y[i] = same ? part_of(&same->outcome.values[metric], part) : NAN;
    }
    const double at = ratio ? 1 / r->whole : r->whole;
    return isnan(y[0] + y[1]) ? NAN : fmax(0, y[0] + (y[1] - y[0]) * (at - x[0]) / (x[1] - x[0]));
}

/* Whether memory comes by faults while the first blocks run; how much is left for the others is then unknown. */
static bool by_faults(const struct repeats *r, const struct compare_row *row)
{
    return !r->in && row->mechanism == COMPARE_MANAGED && !row->prefetched;
}

/* The row whose memory is all there first; NULL: none. */
static const struct compare_row *prefetched_row(const struct repeats *r)
{
    const struct compare_result *all = &r->sizes[0].result;
    for (size_t i = 0; i < all->count; i++)
        if (all->rows[i].prefetched)
            return &all->rows[i];
    return NULL;
}

/* One number of a row at the size that is `back` before the last asked for it. */
static double had(const struct repeats *r, const struct compare_row *row, size_t metric, enum part part, size_t back)
{
    const struct compare_row *same = same_row(&r->sizes[last_of(r, row) - back], row);
    return same ? part_of(&same->outcome.values[metric], part) : NAN;
}

/* The time of a row that is in all sizes. */
static double time_at(const struct repeats *r, const struct compare_row *row, size_t size)
{
    const struct compare_row *same = same_row(&r->sizes[size], row);
    return same ? part_of(&same->outcome.values[TIME], HIGH) : NAN;
}

/* Least time of a row that faults: blocks so far at their rate, then blocks that find their memory. */
static double floor_of(const struct repeats *r, const struct compare_row *row, enum part part, size_t back)
{
    const struct compare_row *there = prefetched_row(r);
    return there ? had(r, row, TIME, part, 0) + on_line(r, there, TIME, HIGH, back) - time_at(r, there, last_of(r, row))
                 : NAN;
}

/* The time of a row that faults: as much more for each page that is left to be reached as for those that were last, or
 * on the line, where that is less. */
static double faulting_ns(const struct repeats *r, const struct compare_row *row, enum part part, size_t back)
{
    const double line = on_line(r, row, TIME, part, back), least = floor_of(r, row, part, back);
    const size_t last = last_of(r, row);
    const struct compare_row *there = prefetched_row(r);
    if (isnan(least) || isnan(line) || last == 0)
        return line;
    const double reached = r->sizes[last].counted.reached, before = r->sizes[last - 1].counted.reached,
                 left = (double)r->facts->footprint / ACTOR_PAGE_BYTES - reached,
                 more = had(r, row, TIME, part, 0) - had(r, row, TIME, part, 1) - time_at(r, there, last) +
                        time_at(r, there, last - 1);
    return fmax(least, reached > before ? fmin(line, least + more / (reached - before) * fmax(0, left)) : line);
}

/* A row's number at the whole size; what comes by faults is no more than what can be prefetched. */
static double number(const struct repeats *r, const struct compare_row *row, size_t metric, enum part part, size_t back)
{
    const struct compare_row *there = by_faults(r, row) && metric == H2D ? prefetched_row(r) : NULL;
    if (by_faults(r, row) && metric == TIME)
        return faulting_ns(r, row, part, back);
    const double line = on_line(r, row, metric, part, back);
    return there ? fmin(line, part_of(&there->outcome.values[H2D], HIGH)) : line;
}

/* Whether a number is the GPU's memory, all of which is taken. */
static bool holds_all(const struct repeats *r, const struct compare_row *row, size_t metric)
{
    const struct shorter *first = &r->sizes[0];
    const struct compare_row *same = same_row(first, row);
    return r->lacks > 0 && metric == GPU && same &&
           same->outcome.values[metric].real == (double)first->result.memory_bytes;
}

/* A difference that was `shrinks` times the one before, and all that follow it if each shrinks so: in differences. */
static double may_come(double shrinks, double doublings)
{
    double sum = 1, next = 1;
    for (double d = 0; d < doublings; d++)
        sum += next *= fmin(1, shrinks);
    return sum;
}

/* A number's own possible error as a share; few bytes beside all those moved count little. Work of blocks that is like
 * random, as a graph's, comes nearer as the root of its blocks: no line of blocks is taken to come nearer faster, and a
 * last difference that is less by chance counts as that root of the one before. */
static double alone_off_by(const struct repeats *r, const struct compare_row *row, size_t metric)
{
    if (holds_all(r, row, metric))
        return 0;
    const bool bytes = strcmp(metric_unit(compare_metrics[metric].name), "bytes") == 0;
    const double longer = r->whole / r->sizes[last_of(r, row)].at;
    /* One block evicted more or less is so many in all. */
    const double block = bytes && r->lacks > 0 && row->mechanism == COMPARE_MANAGED ? ACTOR_BLOCK_BYTES * longer : 0;
    double most = 0;
    for (enum part end = LOW; end <= HIGH; end++) {
        const double all = number(r, row, metric, end, 0), half = number(r, row, metric, end, 1),
                     quarter = number(r, row, metric, end, 2), last = fabs(all - half), before = fabs(half - quarter);
        const bool same = all == half && !(half != quarter && !isnan(quarter));
        if (isnan(all) || (same && all <= 0))
            continue;
        if (!same && isnan(quarter) && (r->in || last > EXACT * all)) /* two lines may agree by chance */
            return INFINITY;
        const double bend = r->in ? last : fmax(last, before * M_SQRT1_2),
                     shrinks = r->in ? last / before : fmax(last / before, M_SQRT1_2);
        const double off = same             ? 0
                           : isnan(quarter) ? last * may_come(1, log2(longer))
                                            : fmax(before / 4, bend * may_come(shrinks, log2(longer)));
        most = fmax(most, fmax(off, block) / fmax(all, bytes ? number(r, row, H2D, HIGH, 0) / FEW : 0));
    }
    return most;
}

/* A number's possible error; a time is at least as far off as the bytes moved in it. */
static double off_by(const struct repeats *r, const struct compare_row *row, size_t metric)
{
    const double own = alone_off_by(r, row, metric);
    if (metric != TIME)
        return own;
    const double in = fmax(0, number(r, row, H2D, HIGH, 0)), out = fmax(0, number(r, row, D2H, HIGH, 0));
    return fmax(own, (in * alone_off_by(r, row, H2D) + out * alone_off_by(r, row, D2H)) / (in + out));
}

/* Waves of blocks begin and end alike: half as far off is mostly had. */
static double near_pct(const struct repeats *r)
{
    return r->in ? NEAR_PCT : NEAR_PCT / 2.0;
}

static bool row_settled(const struct repeats *r, const struct compare_row *row)
{
    for (size_t m = 0; m < row->outcome.count; m++)
        if (!(off_by(r, row, m) * 100 <= near_pct(r)))
            return false;
    return true;
}

/* A row that was answered at some sizes only does not repeat. */
static bool is_in_all(const struct repeats *r, const struct compare_row *row)
{
    for (size_t i = 0; i <= last_of(r, row); i++) {
        const struct compare_row *same = same_row(&r->sizes[i], row);
        for (size_t m = 0; m < row->outcome.count; m++)
            if (!same || isnan(part_of(&same->outcome.values[m], LOW)) != isnan(part_of(&row->outcome.values[m], LOW)))
                return false;
    }
    return true;
}

/* Whether a row's evictions are random: they repeat at no size, so its row from a part is an estimate. */
static bool is_drawn(const struct compare_row *row)
{
    return strstr(row->policy, "+random") != NULL;
}

/* The fastest row; its time is NAN where none has one. */
static const struct compare_row *best_of(const struct repeats *r)
{
    const struct compare_row *rows = r->sizes[0].result.rows, *best = rows;
    for (size_t i = 1; i < r->sizes[0].result.count; i++) {
        const double time = number(r, &rows[i], TIME, HIGH, 0), least = number(r, best, TIME, HIGH, 0);
        if (time < least || isnan(least))
            best = &rows[i];
    }
    return best;
}

/* Where a whole run would have been stopped; INFINITY: nowhere. */
static double stop_of(const struct repeats *r)
{
    const struct compare_row *there = r->in ? NULL : prefetched_row(r);
    return there ? COMPARE_NEAR * number(r, there, TIME, HIGH, 0) : INFINITY;
}

/* Whether a row would have been stopped, by its least time. */
static bool is_stopped(const struct repeats *r, const struct compare_row *row)
{
    return by_faults(r, row) && floor_of(r, row, LOW, 0) > stop_of(r);
}

/* Choose the rows to go on with: those not stopped; later those near the best. */
static int choose_wanted(struct repeats *r, struct err *err)
{
    const struct compare_result *all = &r->sizes[0].result;
    const double most = all->count ? COMPARE_NEAR * number(r, best_of(r), TIME, HIGH, 0) : 0;
    free(r->wanted);
    r->wanted_count = 0;
    r->wanted = mem_zalloc(all->count + 1, sizeof *r->wanted, err);
    for (size_t i = 0; i < all->count && r->wanted; i++) {
        const struct compare_row *row = &all->rows[i];
        if (r->count < ALL_ROWS ? !is_stopped(r, row) : number(r, row, TIME, LOW, 0) <= most && !by_faults(r, row))
            r->wanted[r->wanted_count++] = *row;
    }
    return r->wanted ? 0 : -1;
}

/* Whether all rows that may be tied with the best, by their models' errors, are near enough, or their times alone where
 * no size follows; *off: how far these may be off, at most. */
static bool settled(const struct repeats *r, bool last, double *off)
{
    const struct compare_result *all = &r->sizes[0].result;
    const struct compare_row *best = best_of(r);
    *off = 0;
    if (by_faults(r, best))
        return false;
    for (size_t i = 0; i < all->count; i++) {
        const struct compare_row *row = &all->rows[i];
        const double may = off_by(r, row, TIME),
                     most = number(r, best, TIME, HIGH, 0) * (1 + fmax(row->error_ratio, best->error_ratio));
        if (!is_in_all(r, row))
            return false;
        if (by_faults(r, row) || is_drawn(row)) /* an estimate in any case */
            continue;
        if (last_of(r, row) < r->count - 1 || !(number(r, row, TIME, LOW, 0) * (1 - fmin(1, may)) <= most))
            continue;
        if (last ? !(may * 100 <= NEAR_PCT) : !row_settled(r, row))
            return false;
        *off = fmax(*off, may);
    }
    return all->count > 0;
}

/* Bytes that kernels modify, on the line of a size and the one before. */
static double modified_by(const struct repeats *r, size_t size)
{
    const struct compare_counted *a = &r->sizes[size - 1].counted, *b = &r->sizes[size].counted;
    double bytes = 0;
    for (uint32_t l = 0; l < b->totals.launches; l++) {
        const double had = (double)a->blocks[l], has = (double)b->blocks[l],
                     in = (double)b->totals.launch[l].modified_bytes,
                     all = (double)program_launch_of(&r->facts->touching.program, l).blocks;
        bytes += in + (has > had ? (in - (double)a->totals.launch[l].modified_bytes) * (all - has) / (has - had) : 0);
    }
    return bytes;
}

/* Whether counts of blocks are on one line, too. */
static bool counts_agree(const struct repeats *r)
{
    const size_t last = r->count - 1;
    const double by = modified_by(r, last);
    return fabs(by - modified_by(r, last - 1)) * 100 <= NEAR_PCT * by;
}

/* --- the answer --- */

/* Keep the texts that both sizes have; figures in them would not hold for the whole. */
static void keep_texts(char **texts, size_t *n, char *const *other, size_t others)
{
    size_t kept = 0;
    for (size_t i = 0; i < *n; i++) {
        size_t o = 0;
        while (o < others && strcmp(other[o], texts[i]) != 0)
            o++;
        if (o < others)
            texts[kept++] = texts[i];
        else
            free(texts[i]);
    }
    *n = kept;
}

/* A row's number at the whole size. */
static struct metric_value continued(const struct repeats *r, const struct compare_row *row, size_t metric)
{
    struct metric_value v = row->outcome.values[metric];
    if (holds_all(r, row, metric)) {
        v.real = (double)r->facts->memory;
        return v;
    }
    if (v.interval || v.lower_bound)
        v.lo = number(r, row, metric, LOW, 0);
    if (v.interval)
        v.hi = fmax(v.lo, number(r, row, metric, HIGH, 0));
    if (v.known)
        v.real = number(r, row, metric, REAL, 0);
    v.unbound |= !(off_by(r, row, metric) * 100 <= NEAR_PCT) || by_faults(r, row) || is_drawn(row);
    return v;
}

/* A row of the first size becomes one of the whole program. */
static int make_whole(const struct repeats *r, struct compare_row *row, struct err *err)
{
    const struct compare_row *other = same_row(&r->sizes[1], row);
    struct metric_value *values = mem_zalloc(row->outcome.count, sizeof *values, err);
    bool sure = true;
    for (size_t m = 0; m < row->outcome.count && values; m++) {
        values[m] = continued(r, row, m);
        sure &= !values[m].unbound || row->outcome.values[m].unbound;
    }
    if (!values)
        return -1;
    free(row->outcome.values);
    row->outcome.values = values;
    keep_texts(row->outcome.notes, &row->outcome.note_count, other->outcome.notes, other->outcome.note_count);
    keep_texts(row->apply, &row->apply_count, other->apply, other->apply_count);
    if (!sure)
        outcome_note(&row->outcome,
                     "an estimate from part of the program: all of it might give numbers more than %d %% apart "
                     "(--whole runs it)",
                     NEAR_PCT);
    for (; row->call_count; row->call_count--)
        free((char *)row->calls[row->call_count - 1].kernel);
    return 0;
}

/* Stop a row where the whole run would have stopped. */
static void stop_row(struct compare_row *row, double ns)
{
    for (size_t m = 0; m < row->outcome.count; m++)
        row->outcome.values[m] = (struct metric_value){0};
    for (; row->outcome.note_count; row->outcome.note_count--)
        free(row->outcome.notes[row->outcome.note_count - 1]);
    compare_stop_row(row, ns);
}

static int answer(struct repeats *r, double off, struct compare_result *result, struct err *err)
{
    struct compare_result *all = &r->sizes[0].result;
    char text[200];
    double simulated = 0;
    for (size_t i = 0; i < r->count; i++)
        simulated += r->sizes[i].at;
    (void)snprintf(text, sizeof text,
                   LIMITS_BEGIN "%.2g %% is simulated, the rest repeats it; off by up to %.1f %% (--whole: all)",
                   simulated / r->whole * 100, off * 100);
    result->limits = json_pack("[s]", text);
    result->in_part = true;
    int rc = result->limits ? 0 : err_set(err, "out of memory");
    for (size_t i = 0; i < all->count && rc == 0; i++) {
        struct compare_row *row = &all->rows[i];
        if (is_stopped(r, row))
            stop_row(row, stop_of(r));
        else
            rc = make_whole(r, row, err);
        outcome_note_all(&all->rows[i].outcome, result->limits);
    }
    result->rows = all->rows;
    result->count = all->count;
    result->cap = all->cap;
    all->rows = NULL;
    all->count = all->cap = 0;
    return rc;
}

/* --- whether, and from where on --- */

/* The 2 MiB blocks from `base` on that the resident warps of a launch touch in their first bodies; their marks become
 * `launch` + 1. -1 with *err set. */
static int64_t mark_launch(const struct compare_program *f, void *run, uint32_t launch, uint8_t *marks, uint64_t base,
                           uint64_t blocks, struct err *err)
{
    const struct program *program = &f->touching.program;
    const struct gpu *gpu = platform_section_get(f->platform, "gpu");
    const struct program_launch shape = program_launch_of(program, launch);
    const uint64_t warps = program_warps_of_block(&shape),
                   resident = (uint64_t)occupancy_resident(gpu, &shape, (uint32_t)gpu->sms) * (uint64_t)gpu->sms;
    struct program_body body;
    int64_t marked = 0;
    for (uint64_t w = 0; w < warps * (resident < shape.blocks ? resident : shape.blocks) && !shape.cpu; w++) {
        if (program_body(program, run, launch, w, 0, &body, err) < 0)
            return -1;
        for (uint32_t a = 0; a < body.count; a++)
            for (uint32_t rest = body.access[a].active; rest; rest &= rest - 1) {
                const uint64_t at = program_addr(&body.access[a], (unsigned)__builtin_ctz(rest), 0) - base,
                               b = at / PROGRAM_BLOCK_BYTES;
                if (b < blocks && marks[b] != launch + 1) {
                    marks[b] = (uint8_t)(launch + 1);
                    marked++;
                }
            }
    }
    return marked;
}

/* The most of any launch; -1 with *err set. */
static int64_t blocks_at_once(const struct compare_program *f, struct err *err)
{
    const struct program *program = &f->touching.program;
    const uint32_t launches = program->ops->launches(program->state);
    size_t n;
    const struct program_alloc *allocs = program->ops->allocs(program->state, &n);
    uint64_t base = UINT64_MAX, end = 0;
    for (size_t i = 0; i < n; i++) {
        base = allocs[i].addr < base ? allocs[i].addr : base;
        end = allocs[i].addr + allocs[i].bytes > end ? allocs[i].addr + allocs[i].bytes : end;
    }
    const uint64_t blocks = (end - base + PROGRAM_BLOCK_BYTES - 1) / PROGRAM_BLOCK_BYTES;
    uint8_t *marks = mem_zalloc(blocks, 1, err);
    void *run = NULL;
    int64_t most = -1;
    if (marks && program_run_open(program, &run, err) == 0) {
        most = 0;
        for (uint32_t l = 0; l < launches && l < LAUNCHES_LOOKED_AT && most >= 0; l++) {
            const int64_t marked = program_like(program, l) == l ? mark_launch(f, run, l, marks, base, blocks, err) : 0;
            most = marked < 0 || marked > most ? marked : most;
        }
        program_run_close(program, run);
    }
    free(marks);
    return most;
}

static bool may(const struct compare_program *f)
{
    const struct compare_request *q = f->request;
    return !q->mixed && !q->top && !q->draws && !q->results && !q->cut.input && f->touches && f->input->workload.type &&
           f->touching.program.ops && platform_has(f->platform, "gpu") && platform_has(f->platform, "uvm") &&
           !platform_has(f->platform, "placement");
}

/* The program asked at shorter ones, from the first size on, each twice the one before. */
static int ask_shorter(struct repeats *r, double size, double most, double *off, bool *done, struct err *err)
{
    struct progress *progress = r->facts->request->progress;
    int rc = 0;
    while (rc == 0 && !*done && r->count < SIZES && size * (r->count ? 1 : 1 << ALL_ROWS) <= most) {
        rc = run_shorter(r, size, err);
        size *= 2;
        if (progress && r->count == 1) /* three more, each twice as long */
            progress->total = progress->done * ((2 << ALL_ROWS) - 1);
        if (rc == 0 && r->count == 2 && r->sizes[0].result.count)
            progress_best(progress, best_of(r)->mechanism, number(r, best_of(r), TIME, HIGH, 0));
        *done = rc == 0 && r->count + !r->in > ALL_ROWS && settled(r, size > most, off);
        if (rc == 0 && (r->count == ALL_ROWS || (!r->in && r->count == 2)))
            rc = choose_wanted(r, err);
    }
    return rc;
}

/* By a key of the program. */
static int by_key(struct repeats *r, double *off, bool *done, struct err *err)
{
    const struct compare_program *f = r->facts;
    const int64_t at_once = blocks_at_once(f, err);
    r->in = &f->input->workload.type->repeats;
    r->whole = key_of(&f->input->workload, r->in->key);
    if (!compare_fits(f))
        r->lacks = fmax(1, blocks_of(f->allocs, f->alloc_count) - floor((double)f->memory / ACTOR_BLOCK_BYTES));
    const double from = (double)f->request->repeats_from;
    double bytes = fmax(from / FIRST, fmax((double)at_once * AT_ONCE * ACTOR_BLOCK_BYTES, (double)gpu_of(f)->l2_bytes));
    const double most = fmin(from / LAST, (double)f->footprint / SAVES);
    if (r->lacks > 0 && (double)f->footprint / r->lacks * (1 << ALL_ROWS) <= most) /* the first size lacks one */
        bytes = fmax(bytes, (double)f->footprint / r->lacks);
    const double share = bytes / (double)f->footprint;
    if (r->lacks * share < 1)
        r->base = (fmin(r->lacks, bytes / ACTOR_BLOCK_BYTES / SHORT) - r->lacks * share) / (1 - share);
    return at_once < 0 ? -1 : ask_shorter(r, bytes, most, off, done, err);
}

static void release_counted(struct compare_counted *c)
{
    program_totals_release(&c->totals);
    launch_weights_close(c->weights);
    free(c->blocks);
}

/* Extrapolate counts to the whole program from the last two sizes. */
static int count_whole(const struct repeats *r, struct compare_program *f, struct err *err)
{
    const struct compare_counted *a = &r->sizes[r->count - 2].counted, *b = &r->sizes[r->count - 1].counted;
    const struct program *program = &f->touching.program;
    const struct program_totals_part parts[] = {{&a->totals, a->blocks}, {&b->totals, b->blocks}};
    if (program_totals_continue(&f->totals, program, parts, err))
        return -1;
    f->counted = true;
    program_copies_count(&f->copies, &f->totals);
    for (size_t i = 0; i < f->totals.alloc_count; i++)
        f->device_bytes += f->totals.allocs[i].device ? f->totals.allocs[i].bytes : 0;
    if (a->weights && b->weights)
        f->weights = launch_weights_open(program, (uint32_t)gpu_of(f)->sms, err);
    for (uint32_t l = 0; f->weights && l < f->totals.launches; l++) {
        const double more = (double)(b->blocks[l] - a->blocks[l]);
        launch_weights_continue(f->weights, l, a->weights, b->weights,
                                more > 0 ? (double)(program_launch_of(program, l).blocks - b->blocks[l]) / more : 0);
    }
    return 0;
}

/* Ask the other engines about the whole program. */
static int other_rows(const struct repeats *r, struct compare_program *f, struct compare_result *result,
                      struct err *err)
{
    struct uvm_metrics prefetched = {0};
    for (size_t i = 0; i < result->count; i++)
        if (result->rows[i].prefetched)
            prefetched.time_ns = (int64_t)compare_time(&result->rows[i]);
    if (count_whole(r, f, err))
        return -1;
    f->ops = f->touching.ops;
    f->actors = f->touching.state;
    f->stop_ns = compare_stop_ns(f, &prefetched);
    const size_t first = result->count;
    const int rc = compare_engine_rows(f, result, err);
    const bool agree = counts_agree(r);
    for (size_t i = first; rc == 0 && i < result->count; i++) {
        if (result->rows[i].outcome.values[TIME].lower_bound)
            continue;
        if (!agree)
            outcome_unbound(&result->rows[i].outcome, "time_ns");
        outcome_unbound(&result->rows[i].outcome, "d2h_bytes"); /* last blocks may write less than first ones */
    }
    return rc;
}

/* Bodies of the first warp of each launch; NULL: no memory. */
static double *bodies_of(const struct program *program)
{
    const uint32_t launches = program->ops->launches(program->state);
    double *bodies = mem_zalloc(launches + 1, sizeof *bodies, NULL);
    void *run = NULL;
    const bool can = bodies && program_run_open(program, &run, NULL) == 0;
    for (uint32_t l = 0; can && l < launches; l++) {
        struct program_body body = {.last = false};
        uint32_t n = 0;
        while (program_like(program, l) == l && !body.last && n < BODIES &&
               program_body(program, run, l, 0, n, &body, NULL) == 1)
            n++;
        bodies[l] = program_like(program, l) == l ? fmax(1, n) : bodies[program_like(program, l)];
    }
    if (can)
        program_run_close(program, run);
    return bodies;
}

/* Number of bodies of all launches with these numbers of blocks. */
static double bodies_in(const struct program *program, const uint64_t *blocks, const double *bodies)
{
    double n = 0;
    for (uint32_t l = 0; l < program->ops->launches(program->state); l++) {
        const struct program_launch shape = program_launch_of(program, l);
        n += (double)((blocks ? blocks[l] : shape.blocks) * program_warps_of_block(&shape)) * bodies[l];
    }
    return n;
}

/* Whether the least sizes are so little of the work that they take less time than the whole. */
static bool pays(const struct repeats *r, const double *bodies)
{
    const struct program *program = &r->facts->touching.program;
    double kept, sizes = 0;
    for (int i = 0; i <= ALL_ROWS; i++) {
        uint64_t *blocks = compare_cut_blocks(&(struct compare_cut){.share = r->least * (1 << i), .least = r->least},
                                              program, gpu_of(r->facts), &kept, NULL);
        sizes += bodies_in(program, blocks, bodies);
        free(blocks);
    }
    return sizes * PAYS <= bodies_in(program, NULL, bodies);
}

/* Lanes' accesses of SPREAD warps, spread over blocks from .. to - 1 of a launch; -1: a body cannot be made. */
static double work_of(const struct program *program, void *run, uint32_t launch, uint64_t from, uint64_t to)
{
    const struct program_launch shape = program_launch_of(program, launch);
    const uint64_t each = program_warps_of_block(&shape), first = from * each, warps = (to - from) * each;
    struct program_body body;
    double work = 0;
    for (uint64_t i = 0; i < SPREAD; i++) {
        int rc = 1;
        body.last = false;
        for (uint32_t n = 0; rc == 1 && !body.last; n++) {
            rc = program_body(program, run, launch, first + (2 * i + 1) * warps / ((uint64_t)2 * SPREAD), n, &body,
                              NULL);
            for (uint32_t k = 0; rc == 1 && k < body.count; k++)
                work += (double)body.turns * __builtin_popcount(body.access[k].active);
        }
        if (rc < 0)
            return -1;
    }
    return work;
}

/* Whether the blocks of every launch that the last size has more than the one before work as much as all do. */
static bool work_alike(const struct repeats *r)
{
    const struct program *program = &r->facts->touching.program;
    double kept;
    void *run = NULL;
    uint64_t *blocks = compare_cut_blocks(&(struct compare_cut){.share = r->least * (1 << ALL_ROWS), .least = r->least},
                                          program, gpu_of(r->facts), &kept, NULL);
    bool alike = blocks && program_run_open(program, &run, NULL) == 0;
    for (uint32_t l = 0; alike && l < program->ops->launches(program->state); l++) {
        const uint64_t all = program_launch_of(program, l).blocks;
        if (program_like(program, l) != l || blocks[l] == all)
            continue;
        const double some = work_of(program, run, l, blocks[l] / 2, blocks[l]),
                     whole = work_of(program, run, l, 0, all);
        alike = whole > 0 && fabs(some - whole) * 100 <= NEAR_PCT * whole;
    }
    if (run)
        program_run_close(program, run);
    free(blocks);
    return alike;
}

/* Extrapolate from the first blocks of the launches: one wave at first, or as many as make a usual part. */
static int by_blocks(struct repeats *r, double *off, bool *done, struct err *err)
{
    const double waves = waves_of(r->facts, &r->whole);
    double *bodies = waves > 0 ? bodies_of(&r->facts->touching.program) : NULL;
    /* Whole waves of the least launch: those of as many blocks, or a multiple, are cut alike at every size. */
    r->least = bodies ? fmax(1, floor(waves / (FIRST * fmin(FIRST, bodies[0])))) / waves : 0;
    const bool may = bodies && pays(r, bodies) && work_alike(r);
    free(bodies);
    if (!may)
        return 0;
    const int rc = ask_shorter(r, r->least, 1.0 / LAST_BLOCKS, off, done, err);
    for (size_t i = 0; i < r->count; i++)
        *done = *done && r->sizes[i].counted.blocks;
    return rc;
}

int compare_repeats(struct compare_program *f, struct compare_result *result, bool *done, struct err *err)
{
    struct repeats r = {.facts = f};
    struct scan_setup setup;
    const struct compare_request *q = f->request;
    double off = 0;
    int rc = 0;
    *done = false;
    if (!may(f))
        return 0;
    if (q->repeats_from && f->footprint >= q->repeats_from && f->input->workload.type->repeats.key)
        rc = by_key(&r, &off, done, err);
    else if (q->stop_from && f->footprint >= q->stop_from && compare_fits(f) &&
             !zerocopy_scans_of(&f->input->workload, &setup))
        rc = by_blocks(&r, &off, done, err);
    if (*done)
        rc = answer(&r, off, result, err);
    if (*done && !r.in && rc == 0)
        rc = other_rows(&r, f, result, err);
    for (size_t i = 0; i < r.count; i++) {
        compare_release(&r.sizes[i].result);
        release_counted(&r.sizes[i].counted);
    }
    free(r.wanted);
    return rc;
}
