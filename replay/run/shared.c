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

struct shared {
    pthread_mutex_t lock; /* of everything below */
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
