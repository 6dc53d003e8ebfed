#include "replay/run/shared.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

enum { BUCKETS = 1024 };

struct answer {
    struct answer *next;
    struct shared_value value;
    char text[];
};

struct object {
    struct object *next;
    void *object;
    void (*release)(void *object);
    char text[];
};

struct shared {
    pthread_mutex_t lock;   /* of everything below */
    struct object *objects; /* few */
    struct answer *bucket[BUCKETS];
    size_t count;
};

struct shared *shared_new(struct err *err)
{
    struct shared *s = mem_zalloc(1, sizeof *s, err);
    if (s)
        (void)pthread_mutex_init(&s->lock, NULL);
    return s;
}

void shared_free(struct shared *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct answer *a = s->bucket[i], *next; a; a = next) {
            next = a->next;
            free(a);
        }
    for (struct object *o = s->objects, *next; o; o = next) {
        next = o->next;
        o->release(o->object);
        free(o);
    }
    (void)pthread_mutex_destroy(&s->lock);
    free(s);
}

/* FNV-1a. */
static struct answer **bucket_of(struct shared *s, const char *text)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return &s->bucket[h % BUCKETS];
}

static struct answer *find(struct shared *s, const char *text)
{
    struct answer *a = *bucket_of(s, text);
    while (a && strcmp(a->text, text) != 0)
        a = a->next;
    return a;
}

bool shared_get(struct shared *s, const char *text, struct shared_value *value)
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

void shared_put(struct shared *s, const char *text, struct shared_value value)
{
    if (!s)
        return;
    (void)pthread_mutex_lock(&s->lock);
    const size_t length = strlen(text) + 1;
    struct answer *a = s->count < SHARED_MOST && !find(s, text) ? malloc(sizeof *a + length) : NULL;
    if (a) {
        struct answer **bucket = bucket_of(s, text);
        memcpy(a->text, text, length);
        a->value = value;
        a->next = *bucket;
        *bucket = a;
        s->count++;
    }
    (void)pthread_mutex_unlock(&s->lock);
}

size_t shared_count(struct shared *s)
{
    (void)pthread_mutex_lock(&s->lock);
    const size_t count = s->count;
    (void)pthread_mutex_unlock(&s->lock);
    return count;
}

static struct object *find_object(const struct shared *s, const char *text)
{
    struct object *o = s->objects;
    while (o && strcmp(o->text, text) != 0)
        o = o->next;
    return o;
}

void *shared_object(struct shared *s, const char *text)
{
    if (!s)
        return NULL;
    (void)pthread_mutex_lock(&s->lock);
    const struct object *o = find_object(s, text);
    void *object = o ? o->object : NULL;
    (void)pthread_mutex_unlock(&s->lock);
    return object;
}

void *shared_keep(struct shared *s, const char *text, void *object, void (*release)(void *object))
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
