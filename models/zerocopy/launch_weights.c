#include "models/zerocopy/launch_weights.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

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
    for (size_t i = 0; k && i < k->count; i++) {
        for (size_t l = 0; l < k->items[i].cap; l++)
            free(k->items[i].launch[l]);
        free((void *)k->items[i].launch);
    }
    if (k) {
        free(k->items);
        (void)pthread_mutex_destroy(&k->lock);
    }
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
    struct err ignored;
    if (!*sum && w->bytes + launch_tally_bytes(tally) <= MOST_BYTES) {
        *sum = launch_weights_tally(w, &ignored);
        w->bytes += launch_tally_bytes(tally);
    }
    if (*sum)
        launch_tally_add(*sum, tally);
    else
        w->bytes = MOST_BYTES; /* no part of a launch without the others */
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
    struct err ignored;
    if (!n) {
        if (mem_grow((void **)&k->items, &k->cap, k->count + 1, sizeof *k->items, &ignored))
            return NULL;
        n = &k->items[k->count++];
        *n = (struct named){.cap = 0};
        (void)snprintf(n->name, sizeof n->name, "%s", name);
    }
    const size_t had = n->cap;
    if (mem_grow((void **)&n->launch, &n->cap, (size_t)launch + 1, sizeof *n->launch, &ignored))
        return NULL;
    memset((void *)(n->launch + had), 0, (n->cap - had) * sizeof *n->launch);
    return &n->launch[launch];
}

void launch_weights_keep(const struct launch_weights *w, const char *name, uint32_t launch, uint32_t sms,
                         const struct launch_weight *weight)
{
    struct kept *k = w->kept;
    struct err ignored;
    (void)pthread_mutex_lock(&k->lock);
    if (sms == w->sms && strlen(name) < sizeof k->items->name && k->bytes + sizeof *weight <= MOST_BYTES) {
        struct launch_weight **at = place(k, name, launch);
        if (at && !*at && (*at = mem_zalloc(1, sizeof **at, &ignored))) {
            **at = *weight;
            k->bytes += sizeof *weight;
        }
    }
    (void)pthread_mutex_unlock(&k->lock);
}
