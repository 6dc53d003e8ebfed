#include "models/zerocopy/host_reads.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "models/gpu/sms.h"
#include "trace/base/mem.h"
#include "trace/base/sorted.h"

/* An answer on its way. */
struct answer {
    int64_t t;
    uint32_t sm, token;
};

/* Answers in the order of their times: a ring. */
struct answers {
    struct answer *of;
    size_t cap; /* 0 or a power of two */
    uint64_t in, out;
};

/* A request that is being put together of packets. */
struct part {
    uint64_t line;
    uint32_t sectors;
    uint32_t token[LINE_SECTORS];
    uint32_t n;
};

/* The last request of a warp: of which load, and until when it is under way. */
struct last {
    uint64_t line;
    uint32_t from, to; /* its sectors */
    uint32_t load;
    int64_t until;
};

/* What the launches that read host memory take together at least, in cycles, and what they may take. Of those that are
 * through it is what they took, of the others, where it is known which read host memory, the launch itself and a load's
 * answer. Each counts whole cycles, once for each launch that is like it: the sum does not depend on the order. */
struct budget {
    _Atomic int64_t spent;
    int64_t most;  /* INT64_MAX: no end */
    int64_t least; /* of a launch that is not through */
};

struct run {
    const struct host_reads *how;
    struct sms *sms;
    const struct program_alloc *allocs;
    size_t alloc_count;
    double cycles_per_ns;
    int64_t device_cycles, link_cycles;
    struct link_queue link;
    double link_free; /* cycle in which the link is done with what has come */
    struct answers device, host;
    struct part *part;             /* of each multiprocessor */
    struct last *last;             /* of each warp of each multiprocessor */
    struct host_reads_count count; /* of the launch, or of a part of it */
    double share;                  /* of the link that the part has */
    uint64_t *requests;            /* of each multiprocessor */
    uint32_t words;                /* of its multiprocessors' masks */
    void *program_run;
    struct launch_weight weight;
    struct launch_tally *tally; /* to weigh with */
    struct budget *budget;
    bool counts;    /* the launch, towards it */
    int64_t cycles; /* that it took */
    bool tried;     /* by one multiprocessor: it is stopped later */
    bool stopped;
};

/* --- answers --- */

static int grow(struct answers *a, struct err *err)
{
    size_t cap = a->cap ? 2 * a->cap : 1024;
    struct answer *of = mem_zalloc(cap, sizeof *of, err);
    if (!of)
        return -1;
    for (uint64_t i = a->out; i < a->in; i++)
        of[i & (cap - 1)] = a->of[i & (a->cap - 1)];
    free(a->of);
    a->of = of;
    a->cap = cap;
    return 0;
}

static int add(struct answers *a, int64_t t, uint32_t sm, uint32_t token, struct err *err)
{
    if (a->in - a->out == a->cap && grow(a, err))
        return -1;
    a->of[a->in++ & (a->cap - 1)] = (struct answer){t, sm, token};
    return 0;
}

static int64_t first(const struct answers *a)
{
    return a->in == a->out ? INT64_MAX : a->of[a->out & (a->cap - 1)].t;
}

/* Answers so far ahead are got ready for. */
enum { AHEAD = 12 };

static void give(struct run *r, struct answers *a, int64_t t)
{
    while (first(a) <= t) {
        if (a->in - a->out > AHEAD) {
            const struct answer *soon = &a->of[(a->out + AHEAD) & (a->cap - 1)];
            sms_prefetch_reply(r->sms, soon->sm, soon->token);
        }
        const struct answer *x = &a->of[a->out++ & (a->cap - 1)];
        sms_reply(r->sms, x->sm, x->token, t);
    }
}

/* --- the link --- */

/* The sectors from `from` to `to` of the line in one request; returns when it is answered. The load before this one of
 * the same warp may still wait for the line: then its request takes these sectors along. What comes behind it waits for
 * the requests of all the multiprocessors that the part stands for, it itself for its own. */
static int64_t ask(struct run *r, uint32_t sm, struct last *last, const struct last *now, int64_t t)
{
    bool joins = last->until > t && last->line == now->line && last->load + 1 == now->load && last->to + 1 >= now->from;
    double ns;
    if (joins) {
        uint32_t from = last->from < now->from ? last->from : now->from;
        struct request_mix had = {0};
        mix_run(&had, last->from, last->to);
        mix_subtract(&r->count.mix, &had);
        mix_run(&r->count.mix, from, now->to);
        ns = link_queue_grow(&r->link, last->from, last->to, from, now->to);
    } else {
        mix_run(&r->count.mix, now->from, now->to);
        ns = link_queue_add(&r->link, now->from, now->to);
        r->requests[sm]++;
    }
    const double begins = fmax(r->link_free, (double)t);
    r->link_free = begins + ns * r->cycles_per_ns / r->share;
    *last = *now;
    last->until = (int64_t)ceil(begins + ns * r->cycles_per_ns) + r->link_cycles;
    return last->until;
}

/* All of a load's sectors of a line have come: requests, and the answers of their sectors. */
static int send(struct run *r, uint32_t sm, uint32_t load, int64_t t, struct err *err)
{
    struct part *p = &r->part[sm];
    struct last *last = &r->last[sm * (size_t)r->how->gpu->warps_per_sm + load / PROGRAM_ACCESSES];
    bool line = r->how->pcie->request == REQUEST_LINE;
    int rc = 0;
    r->count.sectors += p->n;
    for (uint32_t rest = p->sectors; rest;) {
        uint32_t from = (uint32_t)__builtin_ctz(rest), to = from;
        while (to + 1 < LINE_SECTORS && (line ? rest >> (to + 1) : rest >> (to + 1) & 1))
            to++;
        int64_t at = ask(r, sm, last, &(struct last){.line = p->line, .from = from, .to = to, .load = load}, t);
        for (uint32_t s = from; s <= to; s++)
            if (rest >> s & 1)
                rc |= add(&r->host, at, sm, p->token[s], err);
        rest &= ~((2u << to) - 1);
    }
    *p = (struct part){0};
    return rc;
}

/* --- packets --- */

static bool on_device(const struct run *r, uint64_t addr)
{
    for (size_t i = 0; i < r->alloc_count; i++)
        if (addr - r->allocs[i].addr < r->allocs[i].bytes)
            return r->allocs[i].device;
    return false;
}

static int take(struct run *r, uint32_t sm, const struct sms_packet *p, int64_t t, struct err *err)
{
    struct part *part = &r->part[sm];
    if (p->kind != RECORD_READ || on_device(r, p->addr)) {
        if (add(&r->device, t + r->device_cycles, sm, p->token, err))
            return -1;
    } else {
        uint32_t sector = (uint32_t)(p->addr / SECTOR_BYTES % LINE_SECTORS);
        part->line = p->addr / LINE_BYTES;
        part->sectors |= 1u << sector;
        part->token[sector] = p->token;
        part->n++;
    }
    /* The last of a line need not be the host's: behind an allocation's end only its first sectors may be the GPU's. */
    return p->more || !part->n ? 0 : send(r, sm, p->load, t, err);
}

static int take_packets(struct run *r, int64_t t, struct err *err)
{
    const uint64_t *heads = sms_heads(r->sms);
    for (uint32_t i = 0; i < r->words; i++)
        for (uint64_t rest = heads[i]; rest; rest &= rest - 1) {
            uint32_t sm = i * 64 + (uint32_t)__builtin_ctzll(rest);
            const struct sms_packet *p;
            while ((p = sms_head(r->sms, sm))) {
                if (take(r, sm, p, t, err))
                    return -1;
                sms_pop(r->sms, sm, t);
            }
        }
    return 0;
}

/* --- a part of a launch --- */

static void put_down(struct run *r)
{
    sms_free(r->sms);
    free(r->part);
    free(r->last);
}

static int set_up(struct run *r, const struct program *program, uint32_t sms, struct err *err)
{
    const struct host_reads *how = r->how;
    const struct sms_options options = {.gpu = how->gpu,
                                        .program = program,
                                        .sms = sms,
                                        .input_room = 64,
                                        .by_line = true,
                                        .join_cycles = (uint32_t)how->gpu->l2_cycles};
    r->words = (sms + 63) / 64;
    r->device.in = r->device.out = r->host.in = r->host.out = 0;
    link_queue_init(&r->link, how->pcie);
    r->link_free = 0;
    r->count = (struct host_reads_count){0};
    memset(r->requests, 0, (size_t)how->gpu->sms * sizeof *r->requests);
    r->part = mem_zalloc(sms, sizeof *r->part, err);
    r->last = r->part ? mem_zalloc(sms * (size_t)how->gpu->warps_per_sm, sizeof *r->last, err) : NULL;
    r->sms = r->last ? sms_new(&options, err) : NULL;
    return r->sms ? 0 : -1;
}

enum { LEAST = 4 /* multiprocessors of a sample */, TRIED_MORE = 8 /* one by itself may be so much slower */ };

/* Whether, with t cycles of the launch, more is spent than may be. */
static bool spent(const struct run *r, int64_t t)
{
    if (r->tried)
        t -= t / TRIED_MORE;
    const int64_t more = t > r->budget->least ? t - r->budget->least : 0;
    return more > r->budget->most - atomic_load_explicit(&r->budget->spent, memory_order_relaxed);
}

static int simulate(struct run *r, struct err *err)
{
    int64_t t = 0, next = 0;
    r->stopped = false;
    if (sms_start(r->sms, 0, err))
        return -1;
    while (!sms_done(r->sms)) {
        t = next;
        if (t == INT64_MAX)
            return err_set(err, "a launch waits for an answer that nobody gives");
        if (r->counts && spent(r, t)) {
            r->cycles = t > r->budget->least ? t : r->budget->least; /* what is spent never falls */
            r->stopped = true;
            return 0;
        }
        sms_step(r->sms, t);
        if (take_packets(r, t, err))
            return -1;
        give(r, &r->device, t);
        give(r, &r->host, t);
        next = sms_next(r->sms);
        next = first(&r->device) < next ? first(&r->device) : next;
        next = first(&r->host) < next ? first(&r->host) : next;
    }
    struct sms_counts c;
    sms_counts(r->sms, &c);
    r->count.loads = c.loads;
    r->count.time_ns = (double)t / r->cycles_per_ns;
    r->cycles = t > r->cycles ? t : r->cycles;
    return sms_failed(r->sms, err);
}

/* `lines` of all lines of the launch are the part's: it has as much of the link. */
static int run_part(struct run *r, const struct launch_part *part, uint64_t lines, uint64_t all, struct err *err)
{
    r->share = lines && all ? (double)lines / (double)all : 1;
    int rc = set_up(r, &part->program, part->kept, err) || simulate(r, err) ? -1 : 0;
    put_down(r);
    return rc;
}

/* --- launches --- */

static uint64_t times(uint64_t n, double by)
{
    return (uint64_t)llround((double)n * by);
}

/* Relative standard error of the requests of all: lines by a ratio that scatters over the part's multiprocessors. */
static double error_of(const struct run *r, const struct launch_part *part, const struct launch_weight *w)
{
    const double n = part->kept, requests = (double)mix_requests(&r->count.mix);
    const double ratio = requests / (r->share * (double)w->lines);
    double squares = 0;
    for (uint32_t i = 0; i < part->kept; i++)
        squares += pow((double)r->requests[i] - ratio * (double)w->of_sm[part->of[i]], 2);
    return requests > 0 ? sqrt(squares * n / (n - 1) * (1 - n / part->sms)) / requests : 0;
}

/* On `each` of the multiprocessors, among them the one that has the heaviest block; counts are as the whole has them.
 */
static int sample(struct run *r, uint32_t launch, const struct launch_weight *w, uint32_t each, struct err *err)
{
    const uint32_t sms = (uint32_t)r->how->gpu->sms, apart = sms / each, heaviest = (uint32_t)(w->heaviest % sms);
    struct host_reads_count *c = &r->count;
    uint64_t lines = 0;
    struct launch_part part;
    launch_part_init(&part, r->how->program, r->program_run, launch, sms, each, heaviest % apart);
    if (heaviest >= each * apart)
        part.of[each - 1] = heaviest;
    for (uint32_t i = 0; i < each; i++)
        lines += w->of_sm[part.of[i]];
    if (run_part(r, &part, lines, w->lines, err))
        return -1;
    c->error = error_of(r, &part, w);
    c->loads = w->loads;
    c->sampled = each;
    for (int i = 0; i < LINE_SECTORS; i++)
        c->mix.by_size[i] = times(c->mix.by_size[i], 1 / r->share);
    c->mix.host_lines = times(c->mix.host_lines, 1 / r->share);
    c->sectors = times(c->sectors, 1 / r->share);
    return 0;
}

/* A launch of many loads is stopped, if it is, by the one multiprocessor that has its heaviest block. */
static int try_one(struct run *r, uint32_t launch, const struct launch_weight *w, struct err *err)
{
    const uint32_t sms = (uint32_t)r->how->gpu->sms, heaviest = (uint32_t)(w->heaviest % sms);
    struct launch_part part;
    launch_part_init(&part, r->how->program, r->program_run, launch, sms, 1, heaviest);
    r->tried = true;
    const int rc = run_part(r, &part, w->of_sm[heaviest], w->lines, err);
    r->tried = false;
    return rc;
}

/* Nothing of it is read from the host: how long a part of it takes. */
static int run_unlinked(struct run *r, uint32_t launch, uint32_t each, struct err *err)
{
    const uint64_t loads = r->weight.loads;
    struct launch_part part;
    launch_part_init(&part, r->how->program, r->program_run, launch, (uint32_t)r->how->gpu->sms, each, 0);
    if (run_part(r, &part, 1, 1, err))
        return -1;
    r->count.loads = loads;
    r->count.sampled = each;
    return 0;
}

/* As it was counted, or kept by those who went over it. */
static bool known_weight(const struct host_reads *how, const struct program_alloc *allocs, uint32_t launch,
                         struct launch_weight *weight)
{
    const uint32_t sms = (uint32_t)how->gpu->sms;
    if (!how->weights)
        return false;
    return how->name ? launch_weights_kept(how->weights, how->name, launch, sms, weight)
                     : launch_weights_get(how->weights, launch, sms, allocs, weight);
}

/* Known, or else gone over for it. */
static int weigh(struct run *r, uint32_t launch, struct err *err)
{
    const struct host_reads *how = r->how;
    const uint32_t sms = (uint32_t)how->gpu->sms;
    if (known_weight(how, r->allocs, launch, &r->weight))
        return 0;
    if (!r->tally && !(r->tally = launch_tally_new(how->program, sms, false, err)))
        return -1;
    if (launch_weigh(how->program, r->program_run, launch, r->tally, &r->weight, err))
        return -1;
    if (how->weights && how->name)
        launch_weights_keep(how->weights, how->name, launch, sms, &r->weight);
    return 0;
}

static int run_launch(struct run *r, uint32_t launch, struct err *err)
{
    const struct host_reads *how = r->how;
    const uint32_t sms = (uint32_t)how->gpu->sms;
    if (spent(r, 0)) {
        r->counts = false;
        return 0;
    }
    if (weigh(r, launch, err))
        return -1;
    r->counts = !program_launch_of(how->program, launch).cpu && r->weight.lines;
    r->cycles = 0;
    const double share = how->most_loads && r->weight.loads ? (double)how->most_loads / (double)r->weight.loads : 1;
    const uint32_t each = (uint32_t)fmax(LEAST, share * sms);
    if (share < 1 && !r->weight.lines)
        return run_unlinked(r, launch, each / LEAST, err);
    if (share >= 1 || each * 2 > sms) {
        struct launch_part all;
        launch_part_init(&all, how->program, r->program_run, launch, sms, sms, 0);
        return run_part(r, &all, 1, 1, err);
    }
    if (r->counts && how->stop_ns > 0 && each == LEAST) {
        if (try_one(r, launch, &r->weight, err))
            return -1;
        if (r->stopped)
            return 0;
        r->cycles = 0;
    }
    return sample(r, launch, &r->weight, each, err);
}

/* Whether everything that the program keeps on the GPU fits its L2. */
static bool fits(const struct run *r)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < r->alloc_count; i++)
        bytes += r->allocs[i].device ? r->allocs[i].bytes : 0;
    return bytes <= (uint64_t)r->how->gpu->l2_bytes;
}

static void take_numbers(struct run *r)
{
    const struct gpu *gpu = r->how->gpu;
    int64_t l1 = gpu->l1_cycles;
    r->cycles_per_ns = (double)gpu->clock_hz / 1e9;
    r->device_cycles = fits(r) ? gpu->l2_cycles : llround(gpu->memory_ns * r->cycles_per_ns);
    r->device_cycles = r->device_cycles > l1 ? r->device_cycles - l1 : 1;
    r->link_cycles = llround(r->how->pcie->load_ns * r->cycles_per_ns) - l1;
    r->link_cycles = r->link_cycles > 0 ? r->link_cycles : 1;
}

/* --- the program --- */

static struct run *open_run(const struct host_reads *how, struct budget *budget, struct err *err)
{
    struct run *r = mem_zalloc(1, sizeof *r, err);
    uint64_t *requests = mem_zalloc((size_t)how->gpu->sms, sizeof *requests, err);
    if (!r || !requests || program_run_open(how->program, &r->program_run, err)) {
        free(requests);
        free(r);
        return NULL;
    }
    r->requests = requests;
    r->how = how;
    r->budget = budget;
    r->allocs = how->program->ops->allocs(how->program->state, &r->alloc_count);
    take_numbers(r);
    return r;
}

static void close_run(struct run *r)
{
    if (!r)
        return;
    program_run_close(r->how->program, r->program_run);
    launch_tally_free(r->tally);
    free(r->device.of);
    free(r->host.of);
    free(r->requests);
    free(r);
}

/* parts: of what those take that are looked at; they may be off by one */
enum { ALIKE_EVERY = 16, ALIKE_PARTS = 100, ALIKE_WITHIN = 64, ALIKE_LOOK = 16, MANY = 128 };

/* By which launches are alike: lines, those of the multiprocessor that has most, loads, blocks, threads, registers and
 * shared memory. */
struct alike {
    uint64_t of[6];
    uint32_t launch, group; /* group: where the first of those alike stands */
};

/* The launches of a program, none of which knows of another. */
struct launches {
    const struct host_reads *how;
    struct host_reads_count *counts;
    uint32_t *of;           /* the launch that it is alike, or itself */
    uint8_t *looked_at;     /* though it is like another */
    uint32_t count, failed; /* failed: the first that did; count: none */
    struct err err;         /* its */
    struct budget budget;
};

static void fail(struct launches *l, uint32_t number, const struct err *err)
{
#pragma omp critical(host_reads)
    if (number < l->failed) {
        l->failed = number;
        l->err = *err;
    }
}

/* The cycles that a launch took count for it, and for those that take what it takes, beyond the least. */
static int64_t counted(const struct launches *l, uint32_t launch, int64_t cycles)
{
    const struct host_reads_count *took = l->how->again && l->how->took[launch].time_ns > 0 ? l->how->took : NULL;
    int64_t n = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        const uint32_t of = program_like(l->how->program, i);
        const double by = took ? took[of].time_ns / took[launch].time_ns : 1;
        if (l->looked_at[of] ? of == launch : l->of[of] == launch)
            n += llround((double)cycles * by) - l->budget.least;
    }
    return n;
}

static struct alike weight_of(const struct program_launch *shape, const struct launch_weight *w, uint32_t sms,
                              uint32_t launch)
{
    const uint64_t own = (uint64_t)shape->registers << 32 | shape->shared;
    struct alike a = {{w->lines, 0, w->loads, shape->blocks, shape->threads, own}, launch, 0};
    for (uint32_t i = 0; i < sms; i++)
        a.of[1] = w->of_sm[i] > a.of[1] ? w->of_sm[i] : a.of[1];
    return a;
}

static int by_weight(const void *a, const void *b)
{
    const struct alike *x = a, *y = b;
    int order = ORDER_OF(x->group, y->group);
    for (size_t i = 0; i < sizeof x->of / sizeof *x->of && !order; i++)
        order = ORDER_OF(x->of[i], y->of[i]);
    return order ?: ORDER_OF(x->launch, y->launch);
}

/* Of many launches within 1/64, of few the same. */
static bool weigh_alike(const struct alike *a, const struct alike *b, bool many)
{
    bool alike = true;
    for (size_t i = 0; i < sizeof a->of / sizeof *a->of; i++)
        alike &=
            (a->of[i] > b->of[i] ? a->of[i] - b->of[i] : b->of[i] - a->of[i]) <= (many ? a->of[i] / ALIKE_WITHIN : 0);
    return alike;
}

/* Of launches that weigh nearly the same the middle one stands for all; those of several kernels lie between each
 * other. */
static void find_alike(struct launches *l, struct alike *weights, uint32_t n)
{
    sort_items(weights, n, sizeof *weights, by_weight);
    for (uint32_t i = 0, back; i < n; i++) {
        for (back = 1; back <= i && back <= ALIKE_LOOK; back++)
            if (weigh_alike(&weights[weights[i - back].group], &weights[i], n >= MANY))
                break;
        weights[i].group = back <= i && back <= ALIKE_LOOK ? weights[i - back].group : i;
    }
    sort_items(weights, n, sizeof *weights, by_weight);
    for (uint32_t first = 0, end, others = 0, lower = 0; first < n; first = end) {
        for (end = first + 1; end < n && weights[end].group == weights[first].group;)
            end++;
        const uint32_t all = end - first, middle = (all - lower) / 2; /* of an even number one or the other */
        lower = !lower;
        for (uint32_t i = 1; i < all; i++) { /* from the one behind it on: it may be another kernel's */
            const uint32_t launch = weights[first + (middle + i) % all].launch;
            l->of[launch] = weights[first + middle].launch;
            l->looked_at[launch] = others++ % ALIKE_EVERY == 0;
        }
    }
}

/* Whether those that were looked at are as the launches that they are alike, as far as both came to their end. */
static bool are_alike(const struct launches *l)
{
    double ns = 0, ns_off = 0, requests = 0, requests_off = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        const struct host_reads_count *a = &l->counts[i], *b = &l->counts[l->of[i]];
        if (!l->looked_at[i] || !(a->time_ns > 0 && b->time_ns > 0))
            continue;
        const double n = (double)mix_requests(&a->mix);
        ns += a->time_ns;
        ns_off += fabs(a->time_ns - b->time_ns);
        requests += n;
        requests_off += fabs(n - (double)mix_requests(&b->mix));
    }
    return ns_off * ALIKE_PARTS <= ns && requests_off * ALIKE_PARTS <= requests;
}

/* --- again, with other numbers --- */

enum { AGAIN = 4 }; /* of many launches; of few all run again */

struct took {
    double ns, middle; /* middle: of it, in the time of all, the longest first */
    uint32_t launch;
};

SORTED_AS(longest_first, struct took, ORDER_OF(y->ns, x->ns) ?: ORDER_OF(x->launch, y->launch))

uint32_t host_reads_again(uint32_t launches)
{
    return launches < MANY ? launches : AGAIN;
}

/* The launches in the middle of each quarter of the time stand for those that took nearly as long. */
static void stand_for_others(struct launches *l, struct took *took, uint32_t n)
{
    double all = 0;
    sort_items(took, n, sizeof *took, longest_first);
    for (uint32_t i = 0; i < n; i++) {
        took[i].middle = all + took[i].ns / 2;
        all += took[i].ns;
    }
    uint32_t of[AGAIN], at = 0;
    for (uint32_t k = 0; k < AGAIN; k++) {
        while (at + 1 < n && took[at].middle + took[at].ns / 2 < (k + 0.5) * all / AGAIN)
            at++;
        of[k] = at;
    }
    for (uint32_t i = 0, k = 0; i < n; i++) {
        while (k + 1 < AGAIN &&
               fabs(took[of[k + 1]].middle - took[i].middle) <= fabs(took[of[k]].middle - took[i].middle))
            k++;
        l->of[took[i].launch] = took[of[k]].launch;
    }
}

static int find_again(struct launches *l, struct err *err)
{
    const struct program *program = l->how->program;
    struct took *took = mem_zalloc(l->count + 1, sizeof *took, err);
    uint32_t n = 0;
    for (uint32_t i = 0; took && i < l->count; i++)
        if (program_like(program, i) == i && l->how->took[i].time_ns > 0 && !program_launch_of(program, i).cpu)
            took[n++] = (struct took){.ns = l->how->took[i].time_ns, .launch = i};
    if (n >= MANY)
        stand_for_others(l, took, n);
    free(took);
    return took ? 0 : -1;
}

/* Whether with the same numbers all are through in time: then they take what they took. */
static bool as_taken(const struct launches *l)
{
    const struct host_reads *how = l->how;
    double ns = 0;
    for (uint32_t i = 0; how->again && how->same && i < l->count; i++)
        ns += how->took[program_like(how->program, i)].time_ns;
    return ns > 0 && (how->stop_ns <= 0 || ns <= how->stop_ns);
}

/* What a launch took, by how another takes now what it took. */
static struct host_reads_count take_again(struct host_reads_count took, const struct host_reads_count *other_took,
                                          const struct host_reads_count *other)
{
    const double by = (double)other->sectors / fmax(1, (double)other_took->sectors);
    took.time_ns *= other->time_ns / other_took->time_ns;
    took.sectors = times(took.sectors, by);
    took.mix.host_lines = times(took.mix.host_lines, by);
    for (int i = 0; i < LINE_SECTORS; i++)
        took.mix.by_size[i] =
            times(took.mix.by_size[i], (double)other->mix.by_size[i] / fmax(1, (double)other_took->mix.by_size[i]));
    return took;
}

/* What may be taken, and what is taken in any case. */
static int set_budget(struct launches *l, struct err *err)
{
    const struct host_reads *how = l->how;
    l->budget.most = how->stop_ns > 0 ? (int64_t)ceil(how->stop_ns * (double)how->gpu->clock_hz / 1e9) : INT64_MAX;
    if (how->stop_ns <= 0 || !how->weights)
        return 0;
    struct run *r = open_run(how, &l->budget, err);
    if (!r)
        return -1;
    const int64_t answer = r->device_cycles < r->link_cycles ? r->device_cycles : r->link_cycles;
    struct alike *weights = mem_zalloc(l->count + 1, sizeof *weights, err);
    bool known = weights;
    int64_t n = 0;
    uint32_t like = 0;
    for (uint32_t i = 0; known && i < l->count; i++) {
        struct program_launch shape = program_launch_of(how->program, i);
        known = shape.cpu || known_weight(how, r->allocs, program_like(how->program, i), &r->weight);
        n += known && !shape.cpu && r->weight.lines;
        if (!known || !how->alike || how->again || shape.cpu || program_like(how->program, i) != i)
            continue;
        weights[like++] = weight_of(&shape, &r->weight, (uint32_t)how->gpu->sms, i);
    }
    if (weights)
        find_alike(l, weights, like);
    free(weights);
    if (known) {
        l->budget.least = answer;
        l->budget.spent = n * l->budget.least;
    }
    close_run(r);
    return weights ? 0 : -1;
}

/* Each thread has a run of its own, in which launches ascend. */
static void run_launches(struct launches *l)
{
    int threads = l->how->threads > 1 ? l->how->threads : 1;
#pragma omp parallel num_threads(threads) if (threads > 1 && l->count > 1)
    {
        struct err own = {""};
        struct run *r = open_run(l->how, &l->budget, &own);
        if (!r)
            fail(l, 0, &own);
#pragma omp for schedule(dynamic, 1)
        for (uint32_t i = 0; i < l->count; i++) {
            if (!r || program_like(l->how->program, i) != i || (l->of[i] != i && !l->looked_at[i]))
                continue;
            if (run_launch(r, i, &own))
                fail(l, i, &own);
            l->counts[i] = r->count;
            if (r->counts)
                atomic_fetch_add_explicit(&l->budget.spent, counted(l, i, r->cycles), memory_order_relaxed);
        }
        close_run(r);
    }
}

/* All launches, or those that no other is alike; then all the others where they are not. */
static void run_alike(struct launches *l)
{
    const int64_t spent = l->budget.spent;
    run_launches(l);
    bool same = are_alike(l);
    for (uint32_t i = 0; i < l->count; i++) {
        if (same && l->of[i] != i && !l->looked_at[i]) {
            const uint32_t of = l->of[i];
            const struct host_reads_count *took = l->how->took;
            l->counts[i] = l->how->again ? take_again(took[i], &took[of], &l->counts[of]) : l->counts[of];
            l->counts[i].taken = true;
        }
        l->of[i] = same ? l->of[i] : i;
    }
    if (same || l->failed < l->count)
        return;
    l->budget.spent = spent;
    run_launches(l);
}

int host_reads_run(const struct host_reads *how, struct err *err)
{
    struct launches l = {.how = how, .count = how->program->ops->launches(how->program->state)};
    l.failed = l.count;
    l.counts = mem_zalloc(l.count ? l.count : 1, sizeof *l.counts, err);
    l.of = mem_zalloc(l.count + 1, sizeof *l.of, err);
    l.looked_at = mem_zalloc(l.count + 1, 1, err);
    for (uint32_t i = 0; l.of && i < l.count; i++)
        l.of[i] = i;
    int rc = l.counts && l.of && l.looked_at && (!how->again || find_again(&l, err) == 0) && set_budget(&l, err) == 0
                 ? 0
                 : -1;
    if (rc == 0 && as_taken(&l))
        memcpy(l.counts, how->took, l.count * sizeof *l.counts);
    else if (rc == 0)
        run_alike(&l);
    const bool stopped = rc == 0 && how->stop_ns > 0 && l.budget.spent > l.budget.most;
    if (stopped)
        *how->stopped = true;
    if (rc == 0 && how->took && !how->again && !stopped)
        memcpy(how->took, l.counts, l.count * sizeof *l.counts);
    for (uint32_t i = 0; !stopped && i < l.failed && rc == 0; i++)
        rc = how->on_launch(how->ctx, i, &l.counts[program_like(how->program, i)], err);
    free(l.counts);
    free(l.of);
    free(l.looked_at);
    return l.failed < l.count ? err_set(err, "%s", l.err.msg) : rc;
}
