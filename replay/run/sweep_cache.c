#include "replay/run/sweep_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/hash.h"
#include "trace/base/mem.h"

struct answer {
    UT_hash_handle hh;
    struct sweep_cache_value value;
    char text[];
};

struct object {
    struct object *next;
    void *object;
    void (*release)(void *object);
    char text[];
};

struct sweep_cache {
    pthread_mutex_t lock; /* of everything below */
    struct answer *answers;
    struct object *objects; /* few */
};

struct sweep_cache *sweep_cache_new(struct err *err)
{
    struct sweep_cache *s = mem_zalloc(1, sizeof *s, err);
    if (s)
        (void)pthread_mutex_init(&s->lock, NULL);
    return s;
}

void sweep_cache_free(struct sweep_cache *s)
{
    if (!s)
        return;
    HASH_FREE(s->answers, a, (void)0);
    for (struct object *o = s->objects, *behind; o; o = behind) {
        behind = o->next;
        o->release(o->object);
        free(o);
    }
    (void)pthread_mutex_destroy(&s->lock);
    free(s);
}

static struct answer *find(struct sweep_cache *s, const char *text)
{
    struct answer *a;
    HASH_FIND_STR(s->answers, text, a);
    return a;
}

bool sweep_cache_get(struct sweep_cache *s, const char *text, struct sweep_cache_value *value)
{
    if (!s)
        return false;
    (void)pthread_mutex_lock(&s->lock);
    const struct answer *a = find(s, text);
    if (a)
        *value = a->value;
    (void)pthread_mutex_unlock(&s->lock);
    return a != NULL;
}

/* One that is not there yet. */
static void add(struct sweep_cache *s, const char *text, struct sweep_cache_value value)
{
    const size_t length = strlen(text) + 1;
    struct answer *a = malloc(sizeof *a + length);
    if (!a)
        return;
    memcpy(a->text, text, length);
    a->value = value;
    HASH_ADD_STR(s->answers, text, a);
    if (!hash_has(a)) /* then it is not kept */
        free(a);
}

void sweep_cache_put(struct sweep_cache *s, const char *text, struct sweep_cache_value value)
{
    if (!s)
        return;
    (void)pthread_mutex_lock(&s->lock);
    if (HASH_COUNT(s->answers) < SWEEP_CACHE_MAX && !find(s, text))
        add(s, text, value);
    (void)pthread_mutex_unlock(&s->lock);
}

size_t sweep_cache_count(struct sweep_cache *s)
{
    (void)pthread_mutex_lock(&s->lock);
    const size_t count = HASH_COUNT(s->answers);
    (void)pthread_mutex_unlock(&s->lock);
    return count;
}

static struct object *find_object(const struct sweep_cache *s, const char *text)
{
    struct object *o = s->objects;
    while (o && strcmp(o->text, text) != 0)
        o = o->next;
    return o;
}

void *sweep_cache_object(struct sweep_cache *s, const char *text)
{
    if (!s)
        return NULL;
    (void)pthread_mutex_lock(&s->lock);
    const struct object *o = find_object(s, text);
    void *object = o ? o->object : NULL;
    (void)pthread_mutex_unlock(&s->lock);
    return object;
}

void *sweep_cache_keep(struct sweep_cache *s, const char *text, void *object, void (*release)(void *object))
{
    if (!s)
        return NULL;
    const size_t length = strlen(text) + 1;
    struct object *mine = malloc(sizeof *mine + length);
    if (!mine)
        return NULL;
    *mine = (struct object){.object = object, .release = release};
    memcpy(mine->text, text, length);
    (void)pthread_mutex_lock(&s->lock);
    struct object *kept = find_object(s, text);
    if (!kept) {
        mine->next = s->objects;
        s->objects = kept = mine;
    }
    (void)pthread_mutex_unlock(&s->lock);
    if (kept != mine) {
        release(object);
        free(mine);
    }
    return kept->object;
}
