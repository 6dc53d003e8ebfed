#include "models/zerocopy/launch_weights.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/program/walk.h"

enum { KINDS = 32, CHAINS = 1024, NONE = -1 };

/* How often a warp waits in bodies of each kind. */
struct chain {
    uint64_t warp;
    uint64_t waits[KINDS];
};

struct launch_tally {
    uint32_t sms, columns, each;   /* each: warps of a block */
    int8_t column[PROGRAM_ALLOCS]; /* of an allocation; NONE: on the GPU */
    size_t allocs;
    uint64_t loads;
    uint64_t kind[KINDS]; /* columns that a body reads, as bits */
    uint32_t kinds;
    bool lost;           /* more kinds or chains than there is room for */
    struct chain now;    /* of the warp in hand */
    bool waited;         /* it has */
    struct chain *chain; /* the heaviest, whatever lies on the GPU */
    size_t chains, cap;
    uint64_t lines[]; /* by multiprocessor, then column */
};

/* Lines that one turn of an access touches. */
static uint64_t lines_of(const struct program_access *a)
{
    struct access_line line[2 * ACCESS_LANES];
    uint64_t bytes = program_span(a, ACCESS_LINE);
    if (bytes && a->addr + bytes > a->addr)
        return (a->addr + bytes - 1) / ACCESS_LINE - a->addr / ACCESS_LINE + 1;
    return (uint64_t)program_lines(a, 0, line);
}

struct launch_tally *launch_tally_new(const struct program *program, uint32_t sms, bool apart, struct err *err)
{
    size_t n;
    const struct program_alloc *allocs = program->ops->allocs(program->state, &n);
    const size_t columns = apart ? n : 1;
    struct launch_tally *t = mem_zalloc(1, sizeof *t + sms * columns * sizeof *t->lines, err);
    if (!t)
        return NULL;
    t->sms = sms;
    t->columns = (uint32_t)columns;
    t->allocs = n;
    for (size_t i = 0; i < n; i++)
        t->column[i] = (int8_t)(allocs[i].device ? NONE : apart ? (int)i : 0);
    return t;
}

void launch_tally_free(struct launch_tally *t)
{
    if (t)
        free(t->chain);
    free(t);
}

static size_t tally_bytes(const struct launch_tally *t)
{
    return sizeof *t + (size_t)t->sms * t->columns * sizeof *t->lines + t->cap * sizeof *t->chain;
}

void launch_tally_begin(struct launch_tally *t, uint32_t warps_of_block)
{
    t->each = warps_of_block;
    t->loads = 0;
    t->kinds = 0;
    t->chains = 0;
    t->lost = false;
    t->now = (struct chain){0};
    t->waited = false;
    memset(t->lines, 0, (size_t)t->sms * t->columns * sizeof *t->lines);
}

/* The number of a kind; KINDS: there is no room for it. */
static uint32_t kind_of(struct launch_tally *t, uint64_t columns)
{
    uint32_t k = 0;
    while (k < t->kinds && t->kind[k] != columns)
        k++;
    if (k == t->kinds && k < KINDS)
        t->kind[t->kinds++] = columns;
    t->lost |= k == KINDS;
    return k;
}

void launch_tally_body(struct launch_tally *t, uint64_t warp, const struct program_body *body)
{
    uint64_t *lines = t->lines + warp / t->each % t->sms * t->columns, columns = 0;
    for (uint32_t i = 0; i < body->count; i++) {
        const struct program_access *a = &body->access[i];
        if (a->kind != RECORD_READ)
            continue;
        t->loads += body->turns;
        if (t->column[a->alloc] == NONE)
            continue;
        lines[t->column[a->alloc]] += lines_of(a) * body->turns;
        columns |= UINT64_C(1) << t->column[a->alloc];
    }
    uint32_t kind = columns ? kind_of(t, columns) : KINDS;
    if (kind == KINDS)
        return;
    t->now.waits[kind] += body->turns;
    t->waited = true;
}

/* Whether a is the heavier one, or as heavy and the first, whatever lies on the GPU. */
static bool outweighs(const struct launch_tally *t, const struct chain *a, const struct chain *b)
{
    for (uint32_t k = 0; k < t->kinds; k++)
        if (a->waits[k] < b->waits[k] || (a->waits[k] == b->waits[k] && b->waits[k] && a->warp > b->warp))
            return false;
    return true;
}

/* Who outweighs one mostly outweighs the next, and goes to the front. */
static bool outweighed(struct launch_tally *t, const struct chain *new)
{
    for (size_t i = 0; i < t->chains; i++)
        if (outweighs(t, &t->chain[i], new)) {
            if (i) {
                struct chain first = t->chain[0];
                t->chain[0] = t->chain[i];
                t->chain[i] = first;
            }
            return true;
        }
    return false;
}

static void keep(struct launch_tally *t, const struct chain *new)
{
    size_t kept = 0;
    if (t->lost || outweighed(t, new))
        return;
    for (size_t i = 0; i < t->chains; i++)
        if (!outweighs(t, new, &t->chain[i]))
            t->chain[kept++] = t->chain[i];
    t->chains = kept;
    t->lost = kept == CHAINS || mem_grow((void **)&t->chain, &t->cap, kept + 1, sizeof *t->chain, NULL);
    if (!t->lost)
        t->chain[t->chains++] = *new;
}

void launch_tally_end(struct launch_tally *t, uint64_t warp)
{
    if (!t->waited)
        return;
    t->now.warp = warp;
    keep(t, &t->now);
    memset(t->now.waits, 0, t->kinds * sizeof *t->now.waits);
    t->waited = false;
}

void launch_tally_add(struct launch_tally *t, const struct launch_tally *other)
{
    uint32_t kind[KINDS];
    t->lost |= other->lost;
    t->each = other->each;
    t->loads += other->loads;
    for (size_t i = 0; i < (size_t)t->sms * t->columns; i++)
        t->lines[i] += other->lines[i];
    for (uint32_t k = 0; k < other->kinds; k++)
        kind[k] = kind_of(t, other->kind[k]);
    for (size_t i = 0; i < other->chains && !t->lost; i++) {
        struct chain c = {.warp = other->chain[i].warp};
        for (uint32_t k = 0; k < other->kinds; k++)
            c.waits[kind[k]] = other->chain[i].waits[k];
        keep(t, &c);
    }
}

static uint64_t waits_of(const struct launch_tally *t, const struct chain *c, uint64_t host)
{
    uint64_t waits = 0;
    for (uint32_t k = 0; k < t->kinds; k++)
        waits += t->kind[k] & host ? c->waits[k] : 0;
    return waits;
}

bool launch_tally_get(const struct launch_tally *t, const struct program_alloc *allocs, struct launch_weight *w)
{
    uint64_t host = 0, longest = 0, first = 0;
    if (t->lost)
        return false;
    for (size_t i = 0; i < t->allocs; i++)
        host |= allocs[i].device || t->column[i] == NONE ? 0 : UINT64_C(1) << t->column[i];
    *w = (struct launch_weight){.loads = t->loads};
    for (uint32_t sm = 0; sm < t->sms; sm++) {
        for (uint32_t c = 0; c < t->columns; c++)
            w->of_sm[sm] += host >> c & 1 ? t->lines[sm * (size_t)t->columns + c] : 0;
        w->lines += w->of_sm[sm];
    }
    for (size_t i = 0; i < t->chains; i++) {
        uint64_t waits = waits_of(t, &t->chain[i], host);
        if (waits > longest || (waits && waits == longest && t->chain[i].warp < first)) {
            longest = waits;
            first = t->chain[i].warp;
        }
    }
    w->heaviest = first / t->each;
    return true;
}

int launch_weigh(const struct program *program, void *run, uint32_t launch, struct launch_tally *t,
                 struct launch_weight *w, struct err *err)
{
    size_t n;
    struct program_launch shape = program_launch_of(program, launch);
    struct program_body body;
    if (program_check_launch(&shape, launch, err))
        return -1;
    launch_tally_begin(t, program_warps_of_block(&shape));
    const uint64_t warps = program_warps(&shape);
    for (uint64_t warp = 0; warp < warps; warp++) {
        int rc;
        body.last = false;
        for (uint32_t i = 0; (rc = program_body_brief(program, run, launch, warp, i, &body, err)) > 0; i++) {
            launch_tally_body(t, warp, &body);
            if (body.last)
                break;
        }
        if (rc < 0)
            return -1;
        launch_tally_end(t, warp);
    }
    return launch_tally_get(t, program->ops->allocs(program->state, &n), w) ? 0 : err_set(err, "out of memory");
}

/* --- a part of a launch --- */

static const struct program_alloc *allocs(const void *state, size_t *n)
{
    const struct launch_part *p = state;
    return p->whole->ops->allocs(p->whole->state, n);
}

static uint32_t launches(const void *state)
{
    (void)state;
    return 1;
}

static void launch(const void *state, uint32_t number, struct program_launch *out)
{
    const struct launch_part *p = state;
    const uint64_t rows = p->shape.blocks / p->sms, rest = p->shape.blocks % p->sms;
    (void)number;
    *out = p->shape;
    out->blocks = rows * p->kept;
    for (uint32_t i = 0; i < p->kept; i++)
        out->blocks += p->of[i] < rest;
}

static int body(void *run, uint32_t number, uint64_t warp, uint32_t index, struct program_body *out, struct err *err)
{
    const struct launch_part *p = run;
    const uint64_t each = program_warps_of_block(&p->shape), at = warp / each;
    const uint64_t block = at / p->kept * p->sms + p->of[at % p->kept];
    (void)number;
    return program_body(p->whole, p->run, p->launch, block * each + warp % each, index, out, err);
}

static const struct program_ops ops = {.allocs = allocs, .launches = launches, .launch = launch, .body = body};

void launch_part_init(struct launch_part *p, const struct program *whole, void *run, uint32_t number, uint32_t sms,
                      uint32_t kept, uint32_t first)
{
    *p = (struct launch_part){.whole = whole, .run = run, .launch = number, .sms = sms, .kept = kept};
    whole->ops->launch(whole->state, number, &p->shape);
    for (uint32_t i = 0; i < kept; i++)
        p->of[i] = i * (sms / kept) + first;
    p->program = (struct program){.ops = &ops, .state = p, .compute_ns = whole->compute_ns};
}

/* --- kept for a program --- */

enum { MOST_BYTES = 128 << 20 };

/* The weights of a program known by its name. */
struct named {
    char name[32];
    struct launch_weight **launch; /* NULL: nobody has gone over it */
    size_t cap;
};

struct kept {
    pthread_mutex_t lock;
    struct named *items;
    size_t count, cap, bytes;
};

struct launch_weights {
    const struct program *program;
    uint32_t sms, launches;
    size_t bytes;
    struct launch_tally **tally; /* by launch; NULL: none */
    struct kept *kept;
};

struct launch_weights *launch_weights_open(const struct program *program, uint32_t sms, struct err *err)
{
    struct launch_weights *w = mem_zalloc(1, sizeof *w, err);
    if (!w)
        return NULL;
    *w = (struct launch_weights){.program = program, .sms = sms, .launches = program->ops->launches(program->state)};
    w->tally = mem_zalloc(w->launches, sizeof *w->tally, err);
    w->kept = mem_zalloc(1, sizeof *w->kept, err);
    if (w->kept)
        (void)pthread_mutex_init(&w->kept->lock, NULL);
    if (w->tally && w->kept)
        return w;
    launch_weights_close(w);
    return NULL;
}

static void kept_close(struct kept *k)
{
    if (!k)
        return;
    for (size_t i = 0; i < k->count; i++) {
        for (size_t l = 0; l < k->items[i].cap; l++)
            free(k->items[i].launch[l]);
        free((void *)k->items[i].launch);
    }
    free(k->items);
    (void)pthread_mutex_destroy(&k->lock);
    free(k);
}

void launch_weights_close(struct launch_weights *w)
{
    if (!w)
        return;
    kept_close(w->kept);
    for (uint32_t l = 0; w->tally && l < w->launches; l++)
        launch_tally_free(w->tally[l]);
    free(w->tally);
    free(w);
}

struct launch_tally *launch_weights_tally(const struct launch_weights *w, struct err *err)
{
    return launch_tally_new(w->program, w->sms, true, err);
}

void launch_weights_add(struct launch_weights *w, uint32_t launch, const struct launch_tally *tally)
{
    struct launch_tally **sum = &w->tally[launch];
    if (!*sum && w->bytes + tally_bytes(tally) <= MOST_BYTES) {
        *sum = launch_weights_tally(w, NULL);
        w->bytes += tally_bytes(tally);
    }
    if (*sum)
        launch_tally_add(*sum, tally);
    else
        w->bytes = MOST_BYTES; /* no part of a launch without the others */
}

void launch_weights_continue(struct launch_weights *w, uint32_t launch, const struct launch_weights *first,
                             const struct launch_weights *second, double by)
{
    const struct launch_tally *a = first->tally[launch], *b = second->tally[launch];
    if (!a || !b)
        return;
    launch_weights_add(w, launch, b);
    struct launch_tally *t = w->tally[launch];
    for (size_t i = 0; t && i < (size_t)t->sms * t->columns; i++)
        t->lines[i] += (uint64_t)llround((double)(b->lines[i] - a->lines[i]) * by);
    if (t)
        t->loads += (uint64_t)llround((double)(b->loads - a->loads) * by);
}

bool launch_weights_are_of(const struct launch_weights *w, const struct program *program)
{
    return w && w->program->ops == program->ops && w->program->state == program->state;
}

bool launch_weights_get(const struct launch_weights *w, uint32_t launch, uint32_t sms,
                        const struct program_alloc *allocs, struct launch_weight *weight)
{
    return sms == w->sms && w->tally[launch] && launch_tally_get(w->tally[launch], allocs, weight);
}

static struct named *find(const struct kept *k, const char *name)
{
    for (size_t i = 0; i < k->count; i++)
        if (strcmp(k->items[i].name, name) == 0)
            return &k->items[i];
    return NULL;
}

bool launch_weights_kept(const struct launch_weights *w, const char *name, uint32_t launch, uint32_t sms,
                         struct launch_weight *weight)
{
    (void)pthread_mutex_lock(&w->kept->lock);
    const struct named *n = find(w->kept, name);
    const bool there = sms == w->sms && n && launch < n->cap && n->launch[launch];
    if (there)
        *weight = *n->launch[launch];
    (void)pthread_mutex_unlock(&w->kept->lock);
    return there;
}

/* Room for a launch of a program. NULL: there is none. */
static struct launch_weight **place(struct kept *k, const char *name, uint32_t launch)
{
    struct named *n = find(k, name);
    if (!n) {
        if (mem_grow((void **)&k->items, &k->cap, k->count + 1, sizeof *k->items, NULL))
            return NULL;
        n = &k->items[k->count++];
        *n = (struct named){.cap = 0};
        (void)snprintf(n->name, sizeof n->name, "%s", name);
    }
    const size_t had = n->cap;
    if (mem_grow((void **)&n->launch, &n->cap, (size_t)launch + 1, sizeof *n->launch, NULL))
        return NULL;
    memset((void *)(n->launch + had), 0, (n->cap - had) * sizeof *n->launch);
    return &n->launch[launch];
}

void launch_weights_keep(const struct launch_weights *w, const char *name, uint32_t launch, uint32_t sms,
                         const struct launch_weight *weight)
{
    struct kept *k = w->kept;
    (void)pthread_mutex_lock(&k->lock);
    if (sms == w->sms && strlen(name) < sizeof k->items->name && k->bytes + sizeof *weight <= MOST_BYTES) {
        struct launch_weight **at = place(k, name, launch);
        if (at && !*at && (*at = mem_zalloc(1, sizeof **at, NULL))) {
            **at = *weight;
            k->bytes += sizeof *weight;
        }
    }
    (void)pthread_mutex_unlock(&k->lock);
}
