#include "trace/event/actor_tracks.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "trace/base/mem.h"

/* Actors of a launch that one thread takes at once; words of a step's head, all of it but its pages. */
enum { SHARE = 1024, HEAD = offsetof(struct actor_step, page) / sizeof(uint32_t) };

_Static_assert(HEAD * sizeof(uint32_t) == offsetof(struct actor_step, page), "a step's head is whole words");

/* Rows of words, each kept once: how many they are, then they. */
struct pool {
    uint32_t *words; /* addresses for `cap` of them, memory for those that were written: they are never moved */
    size_t count, cap;
    struct slot {
        uint64_t hash;
        size_t at; /* plus one; 0: free */
    } * slots;
    size_t slot_count, rows; /* slots: a power of two, or 0; at most half of them are in use */
    size_t last;             /* where the row asked for last stands, plus one; 0: none */
};

/* What one thread keeps. Steps have few heads: a step of a track is where its head stands, then its pages. */
struct keeper {
    struct pool heads, tracks;
    uint32_t *track; /* the one in hand */
    size_t track_count, track_cap;
    void *run;
};

struct place {
    uint32_t first; /* page */
    uint32_t track; /* where it begins in its keeper's tracks */
};

struct share {
    uint32_t keeper;
    struct place place[SHARE];
};

struct kept_launch {
    uint32_t actors;
    struct share *shares; /* NULL: those of the launch it is like, or it has no actors */
    uint32_t like;
};

struct actor_tracks {
    const struct actor_ops *ops;
    const void *state;
    struct kept_launch *launch;
    uint32_t launches;
    struct keeper *keepers;
    int threads;
    uint64_t most, bytes; /* bytes: of shares */
};

/* --- rows of words --- */

static int open_pool(struct pool *p, uint64_t most)
{
    const uint64_t cap = most / sizeof *p->words < UINT32_MAX ? most / sizeof *p->words : UINT32_MAX;
    void *words =
        mmap(NULL, cap * sizeof *p->words, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (words == MAP_FAILED)
        return -1;
    (void)madvise(words, cap * sizeof *p->words, MADV_HUGEPAGE); /* they are read here and there (trace/base/mem.c) */
    p->words = words;
    p->cap = cap;
    return 0;
}

static void close_pool(struct pool *p)
{
    if (p->words)
        (void)munmap(p->words, p->cap * sizeof *p->words);
}

static int grow_slots(struct pool *p, struct err *err)
{
    size_t n = p->slot_count ? 2 * p->slot_count : 1024;
    struct slot *slots = mem_zalloc(n, sizeof *slots, err);
    if (!slots)
        return -1;
    for (size_t i = 0; i < p->slot_count; i++) {
        size_t at = p->slots[i].hash & (n - 1);
        while (slots[at].at)
            at = (at + 1) & (n - 1);
        if (p->slots[i].at)
            slots[at] = p->slots[i];
    }
    free(p->slots);
    p->slots = slots;
    p->slot_count = n;
    return 0;
}

static int keep_new(struct pool *p, const uint32_t *row, size_t n, struct slot *slot, uint64_t hash, struct err *err)
{
    size_t at = p->count;
    if (at + n + 1 >= p->cap)
        return err_set(err, "too many steps");
    p->words[at] = (uint32_t)n;
    if (n)
        memcpy(p->words + at + 1, row, n * sizeof *row);
    p->count += n + 1;
    p->rows++;
    *slot = (struct slot){hash, at + 1};
    return 0;
}

static bool is_row(const struct pool *p, size_t at, const uint32_t *row, size_t n)
{
    return p->words[at] == n && (n == 0 || memcmp(p->words + at + 1, row, n * sizeof *row) == 0);
}

/* Intern a row of n words; *place is its offset. The row kept last is the most likely match. */
static int keep(struct pool *p, const uint32_t *row, size_t n, uint32_t *place, struct err *err)
{
    const size_t bytes = n * sizeof *row;
    if (p->last && is_row(p, p->last - 1, row, n)) {
        *place = (uint32_t)(p->last - 1);
        return 0;
    }
    const uint64_t hash = XXH3_64bits(row, bytes);
    if (2 * p->rows >= p->slot_count && grow_slots(p, err))
        return -1;
    size_t i = hash & (p->slot_count - 1);
    for (; p->slots[i].at; i = (i + 1) & (p->slot_count - 1)) {
        if (p->slots[i].hash == hash && is_row(p, p->slots[i].at - 1, row, n))
            break;
    }
    if (!p->slots[i].at && keep_new(p, row, n, &p->slots[i], hash, err))
        return -1;
    p->last = p->slots[i].at;
    *place = (uint32_t)(p->last - 1);
    return 0;
}

static uint64_t pool_bytes(const struct pool *p)
{
    return p->count * sizeof *p->words + p->slot_count * sizeof *p->slots;
}

/* No row more is kept. */
static void end_pool(struct pool *p)
{
    free(p->slots);
    p->slots = NULL;
    p->slot_count = 0;
}

/* --- tracks --- */

/* Where the head of a step stands. */
static int keep_head(struct keeper *k, const struct actor_step *step, uint32_t *place, struct err *err)
{
    uint32_t head[HEAD];
    memcpy(head, step, sizeof head);
    return keep(&k->heads, head, HEAD, place, err);
}

/* The steps of an actor, as a track; *first: the page that its pages are counted from. */
static int follow(const struct actor_tracks *t, struct keeper *k, uint32_t launch, uint32_t actor, uint32_t *first,
                  struct err *err)
{
    struct actor_at at = {0};
    struct actor_step step;
    bool any = false;
    int rc;
    memset(&step, 0, sizeof step);
    *first = 0;
    k->track_count = 0;
    while ((rc = t->ops->step(k->run, launch, actor, &at, &step, err)) == 1) {
        uint32_t pages = step.count + step.stores;
        if (mem_grow((void **)&k->track, &k->track_cap, k->track_count + 1 + pages, sizeof *k->track, err))
            return -1;
        uint32_t *to = k->track + k->track_count;
        if (keep_head(k, &step, to, err))
            return -1;
        if (!any && pages) {
            *first = step.page[0];
            any = true;
        }
        for (uint32_t i = 0; i < pages; i++)
            to[1 + i] = step.page[i] - *first;
        k->track_count += 1 + pages;
        if (k->track_count * sizeof *k->track > t->most)
            return err_set(err, "too many steps");
    }
    return rc;
}

/* --- launches --- */

static uint64_t kept_bytes(const struct keeper *k)
{
    return pool_bytes(&k->heads) + pool_bytes(&k->tracks) + k->track_cap * sizeof *k->track;
}

static int keep_share(struct actor_tracks *t, uint32_t launch, uint32_t number, struct err *err)
{
    int thread = omp_get_thread_num();
    struct keeper *k = &t->keepers[thread];
    struct kept_launch *l = &t->launch[launch];
    struct share *share = &l->shares[number];
    uint32_t actor = number * SHARE;
    share->keeper = (uint32_t)thread;
    for (uint32_t i = 0; i < SHARE && actor < l->actors; i++, actor++)
        if (follow(t, k, launch, actor, &share->place[i].first, err) ||
            keep(&k->tracks, k->track, k->track_count, &share->place[i].track, err))
            return -1;
    return kept_bytes(k) > (t->most - t->bytes) / (uint64_t)t->threads ? err_set(err, "too many steps") : 0;
}

static int keep_launch(struct actor_tracks *t, uint32_t launch)
{
    struct kept_launch *l = &t->launch[launch];
    struct actor_launch shape;
    int failed = 0;
    l->like = t->ops->like ? t->ops->like(t->state, launch) : launch;
    if (l->like != launch)
        return 0;
    t->ops->launch(t->state, launch, &shape);
    l->actors = shape.actors;
    uint32_t shares = (uint32_t)(((uint64_t)l->actors + SHARE - 1) / SHARE);
    t->bytes += shares * sizeof *l->shares;
    if (t->bytes > t->most || !(l->shares = mem_zalloc(shares, sizeof *l->shares, NULL)))
        return -1;
#pragma omp parallel for schedule(dynamic) num_threads(t->threads) reduction(+ : failed) if (shares > 1)
    for (uint32_t i = 0; i < shares; i++)
        failed += !failed && keep_share(t, launch, i, NULL);
    return failed ? -1 : 0;
}

static int keep_all(struct actor_tracks *t)
{
    for (int i = 0; i < t->threads; i++) {
        struct keeper *k = &t->keepers[i];
        k->run = t->ops->run_open ? t->ops->run_open(t->state, NULL) : (void *)t->state;
        if (!k->run || open_pool(&k->heads, t->most) || open_pool(&k->tracks, t->most))
            return -1;
    }
    for (uint32_t l = 0; l < t->launches; l++)
        if (keep_launch(t, l))
            return -1;
    return 0;
}

/* What only keeping needed. */
static void end_keeping(struct actor_tracks *t)
{
    for (int i = 0; t->keepers && i < t->threads; i++) {
        struct keeper *k = &t->keepers[i];
        if (t->ops->run_close && k->run)
            t->ops->run_close(k->run);
        k->run = NULL;
        end_pool(&k->heads);
        end_pool(&k->tracks);
        free(k->track);
        k->track = NULL;
        k->track_cap = 0;
    }
}

uint64_t actor_tracks_room(int threads)
{
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE), processors = omp_get_num_procs();
    if (pages <= 0 || bytes <= 0)
        return 0;
    long own = threads < 1 ? 1 : threads < processors ? threads : processors;
    return (uint64_t)pages / 8 * (uint64_t)own / (uint64_t)processors * (uint64_t)bytes;
}

struct actor_tracks *actor_tracks_open(const struct actor_ops *ops, const void *state, uint64_t most, int threads)
{
    struct actor_tracks *t = mem_zalloc(1, sizeof *t, NULL);
    if (!t)
        return NULL;
    *t = (struct actor_tracks){.ops = ops, .state = state, .launches = ops->launches(state), .most = most};
    t->threads = threads > 1 ? threads : 1;
    t->keepers = mem_zalloc((size_t)t->threads, sizeof *t->keepers, NULL);
    t->launch = mem_zalloc(t->launches, sizeof *t->launch, NULL);
    int rc = t->keepers && t->launch ? keep_all(t) : -1;
    end_keeping(t);
    if (rc == 0)
        return t;
    actor_tracks_close(t);
    return NULL;
}

void actor_tracks_close(struct actor_tracks *t)
{
    if (!t)
        return;
    for (int i = 0; t->keepers && i < t->threads; i++) {
        close_pool(&t->keepers[i].heads);
        close_pool(&t->keepers[i].tracks);
    }
    for (uint32_t l = 0; t->launch && l < t->launches; l++)
        free(t->launch[l].shares);
    free(t->keepers);
    free(t->launch);
    free(t);
}

/* --- as actors --- */

static const struct actor_alloc *tracks_allocs(const void *state, size_t *n)
{
    const struct actor_tracks *t = state;
    return t->ops->allocs(t->state, n);
}

static uint32_t tracks_launches(const void *state)
{
    return ((const struct actor_tracks *)state)->launches;
}

static void tracks_launch(const void *state, uint32_t launch, struct actor_launch *out)
{
    const struct actor_tracks *t = state;
    t->ops->launch(t->state, launch, out);
}

/* Where an actor's track lies is looked up once: at->turn is the page that its pages are counted from, at->body where
 * its next step stands, and at->access where the track ends. Lines far apart in memory are what a step costs. */
static void begin(const struct actor_tracks *t, const struct share *share, uint32_t actor, struct actor_at *at)
{
    const struct place *place = &share->place[actor % SHARE];
    at->turn = place->first;
    at->body = place->track + 1;
    at->access = at->body + t->keepers[share->keeper].tracks.words[place->track];
}

static int tracks_step(void *run, uint32_t launch, uint32_t actor, struct actor_at *at, struct actor_step *step,
                       struct err *err)
{
    const struct actor_tracks *t = run;
    const struct share *share = &t->launch[t->launch[launch].like].shares[actor / SHARE];
    const struct keeper *keeper = &t->keepers[share->keeper];
    (void)err;
    if (!at->body)
        begin(t, share, actor, at);
    if (at->body == at->access)
        return 0;
    const uint32_t *from = keeper->tracks.words + at->body;
    memcpy(step, keeper->heads.words + from[0] + 1, HEAD * sizeof *from);
    uint32_t pages = step->count + step->stores;
    for (uint32_t i = 0; i < pages; i++)
        step->page[i] = from[1 + i] + (uint32_t)at->turn;
    at->body += 1 + pages;
    return 1;
}

static void tracks_expect(const void *run, uint32_t launch, uint32_t actor, const struct actor_at *at)
{
    const struct actor_tracks *t = run;
    const struct share *share = &t->launch[t->launch[launch].like].shares[actor / SHARE];
    if (at->body)
        __builtin_prefetch(t->keepers[share->keeper].tracks.words + at->body);
    else
        __builtin_prefetch(&share->place[actor % SHARE]);
}

static uint32_t tracks_like(const void *state, uint32_t launch)
{
    return ((const struct actor_tracks *)state)->launch[launch].like;
}

const struct actor_ops actor_tracks_ops = {.allocs = tracks_allocs,
                                           .launches = tracks_launches,
                                           .launch = tracks_launch,
                                           .step = tracks_step,
                                           .expect = tracks_expect,
                                           .like = tracks_like};
