#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "trace/recorder/inject/sanitizer_inject.h"

enum { RINGS = 16, RELEASE_EACH = 64, NAP_US = 50, IDLE_S = 60, OVER_WAIT_S = 1, LEAST_BYTES = 1 << 16 };
/* Blocks of the table of touches: half full with 64 GiB, 9 MB. */
enum { TOUCH_BLOCKS = 1 << 16, LEAST_TOUCH_BLOCKS = 64 };

/* What the host has, pinned. */
struct host {
    struct access_ring read; /* the device's, read back */
    struct access_ring_host ring;
};

/* One of a context. Launches that overlap have one each; they are sent in turn. */
struct sanitizer_ring {
    void *context;
    void *device; /* struct access_ring, and behind it the table of touches */
    struct host *host;
    uint64_t units, blocks; /* blocks: of touches */
    uint64_t next;          /* unit to be read, of all there ever were */
    bool busy;              /* a launch has it */
    bool gone;              /* with its context: it is not to be looked at any more */
    sanitizer_ring_take *take;
    struct record_pipe_message launch;
    bool begun; /* the launch's message is under way */
    /* The helper, one for each launch. */
    bool helped; /* it runs */
    atomic_bool stop;
};

static struct {
    const struct san_api *api;
    struct sanitizer_wish wish;
    pthread_mutex_t lock; /* of what follows, and of busy, gone and helped */
    pthread_cond_t over;  /* a helper has ended */
    struct sanitizer_ring rings[RINGS];
} rings = {.lock = PTHREAD_MUTEX_INITIALIZER, .over = PTHREAD_COND_INITIALIZER};

void sanitizer_ring_start(const struct san_api *api, const struct sanitizer_wish *wish)
{
    rings.api = api;
    rings.wish = *wish;
}

/* --- memory; the lock is held --- */

static uint64_t table_bytes(const struct sanitizer_ring *r)
{
    return r->blocks * sizeof(struct touch_block);
}

static uint64_t host_bytes(const struct sanitizer_ring *r)
{
    return sizeof(struct host) + r->units * sizeof(struct access_unit);
}

/* Less than asked for is as good, but slower; a smaller table is better than none: the program needs memory too. */
static bool ring_make(struct sanitizer_ring *r, void *context)
{
    void *host = NULL;
    *r = (struct sanitizer_ring){.units = 1, .blocks = rings.wish.touches ? TOUCH_BLOCKS : 0};
    while (r->units * 2 * sizeof(struct access_unit) <= rings.wish.ring_bytes)
        r->units *= 2;
    while (rings.api->alloc(context, &r->device, sizeof(struct access_ring) + table_bytes(r)) != SAN_SUCCESS)
        if ((r->blocks /= 2) < LEAST_TOUCH_BLOCKS)
            return false;
    while (rings.api->alloc_host(context, &host, host_bytes(r)) != SAN_SUCCESS)
        if ((r->units /= 2) * sizeof(struct access_unit) < LEAST_BYTES) {
            (void)rings.api->free(context, r->device);
            return false;
        }
    r->host = memset(host, 0, host_bytes(r));
    r->context = context;
    return true;
}

/* One that no launch has, made if there is none. */
static struct sanitizer_ring *ring_get(void *context)
{
    struct sanitizer_ring *place = NULL;
    for (int i = 0; i < RINGS; i++) {
        struct sanitizer_ring *r = &rings.rings[i];
        if (r->context == context && !r->busy && !r->gone)
            return r;
        if (!r->context && !r->busy && !place)
            place = r;
    }
    return place && ring_make(place, context) ? place : NULL;
}

/* --- draining: by the helper while the kernel runs, then by the launch's thread --- */

/* The accesses that are there; whether there was one. */
static bool drain(struct sanitizer_ring *r)
{
    struct access_slot slot;
    unsigned units;
    uint64_t n = 0;
    while ((units = access_ring_read(&r->host->ring, r->units, r->next, &slot))) {
        if (!r->begun && !(r->begun = sanitizer_send_begin(&r->launch, false)))
            break;
        r->take(&slot);
        r->next += units;
        if (++n % RELEASE_EACH == 0)
            access_ring_release(&r->host->ring, r->next);
        if (n == (uint64_t)RELEASE_EACH * RELEASE_EACH)
            break; /* somebody may want us to stop */
    }
    access_ring_release(&r->host->ring, r->next);
    return n > 0;
}

/* It ends when it is told to; or after a long time in which nothing came: a launch that failed has no end, and must not
 * keep a process alive whose own threads are all over. The launch's thread takes what comes later. */
static void *helper(void *arg)
{
    struct sanitizer_ring *r = arg;
    const struct timespec nap = {0, NAP_US * 1000};
    const int64_t naps = (int64_t)IDLE_S * 1000000 / NAP_US;
    for (int64_t idle = 0; idle < naps && !atomic_load(&r->stop);) {
        if (drain(r)) {
            idle = 0;
            continue;
        }
        if (r->begun)
            sanitizer_send_flush();
        (void)nanosleep(&nap, NULL);
        idle++;
    }
    pthread_mutex_lock(&rings.lock);
    r->helped = false;
    pthread_cond_broadcast(&rings.over);
    pthread_mutex_unlock(&rings.lock);
    return NULL;
}

static bool helper_start(struct sanitizer_ring *r)
{
    sigset_t all, old;
    pthread_t thread;
    sigfillset(&all);
    atomic_store(&r->stop, false);
    r->helped = true;
    pthread_sigmask(SIG_SETMASK, &all, &old);
    r->helped = pthread_create(&thread, NULL, helper, r) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (r->helped)
        (void)pthread_detach(thread);
    return r->helped;
}

/* The lock is held. */
static void helper_stop(struct sanitizer_ring *r)
{
    atomic_store(&r->stop, true);
    while (r->helped)
        pthread_cond_wait(&rings.over, &rings.lock);
}

/* --- launches --- */

/* An empty ring to the device; the lock is held. */
static bool ring_clear(struct sanitizer_ring *r, uint64_t capacity, uint64_t phase, void *stream)
{
    struct access_ring ring = access_ring_empty(&r->host->ring, r->units, r->next, rings.wish.ring_ticks);
    ring.capacity = capacity;
    ring.every = rings.wish.every;
    ring.phase = phase;
    ring.blocks = r->blocks;
    access_ring_release(&r->host->ring, r->next);
    return rings.api->memcpy_host_to_device(r->device, &ring, sizeof ring, stream) == SAN_SUCCESS &&
           (r->blocks == 0 ||
            rings.api->memset((struct access_ring *)r->device + 1, 0, table_bytes(r), stream) == SAN_SUCCESS);
}

struct sanitizer_ring *sanitizer_ring_begin(const struct san_launch *launch, uint64_t capacity, uint64_t phase,
                                            const struct record_pipe_message *message, sanitizer_ring_take *take)
{
    pthread_mutex_lock(&rings.lock);
    struct sanitizer_ring *r = ring_get(launch->context);
    bool good = false;
    if (r) {
        r->launch = *message;
        r->take = take;
        r->begun = false;
        good = ring_clear(r, capacity, phase, launch->stream_handle) && helper_start(r);
        if (good && rings.api->set_launch_callback_data(launch->launch, launch->function, launch->stream_handle,
                                                        r->device) != SAN_SUCCESS) {
            helper_stop(r);
            good = false;
        }
        r->busy = good;
    }
    pthread_mutex_unlock(&rings.lock);
    return good ? r : NULL;
}

struct sanitizer_ring_totals sanitizer_ring_end(struct sanitizer_ring *r, const struct san_launch *launch)
{
    struct sanitizer_ring_totals totals = {0};
    const struct access_ring *read = &r->host->read;
    const bool over = rings.api->stream_synchronize(launch->stream_handle) == SAN_SUCCESS;
    pthread_mutex_lock(&rings.lock);
    helper_stop(r);
    const bool gone = r->gone;
    pthread_mutex_unlock(&rings.lock);
    if (gone) {
        sanitizer_ring_give_back(r);
        return totals;
    }
    totals.read = over && rings.api->memcpy_device_to_host(&r->host->read, r->device, sizeof *read,
                                                           launch->stream_handle) == SAN_SUCCESS;
    totals.sent = r->begun || sanitizer_send_begin(&r->launch, true);
    r->begun = totals.sent;
    while (totals.sent && drain(r))
        ;
    while (totals.sent && totals.read && r->next < read->head) { /* a kernel that is over has filled its units */
        sanitizer_send_unfilled(1);
        r->next++;
        (void)drain(r);
    }
    r->next = totals.read ? read->head : r->next;
    totals.taken = totals.read ? read->taken : 0;
    totals.capacity = totals.read ? read->capacity : 0;
    totals.lost = totals.read ? read->lost : 0;
    totals.full = totals.read ? read->full : 0;
    if (totals.sent)
        sanitizer_send_end();
    pthread_mutex_lock(&rings.lock);
    r->begun = r->busy = false;
    r->gone |= !totals.read; /* who knows what is still written there */
    pthread_mutex_unlock(&rings.lock);
    return totals;
}

void sanitizer_ring_give_back(struct sanitizer_ring *r)
{
    pthread_mutex_lock(&rings.lock);
    helper_stop(r);
    if (r->begun)
        sanitizer_send_end();
    r->begun = r->busy = false;
    r->gone &= r->context != NULL;
    pthread_mutex_unlock(&rings.lock);
}

void sanitizer_ring_context_over(const void *context)
{
    pthread_mutex_lock(&rings.lock);
    for (int i = 0; i < RINGS; i++) {
        struct sanitizer_ring *r = &rings.rings[i];
        if (r->context != context)
            continue;
        helper_stop(r);
        if (r->begun)
            sanitizer_send_end();  /* what was read of it; others can send again */
        const bool busy = r->busy; /* its launch failed, and has not given it back yet */
        *r = (struct sanitizer_ring){.busy = busy, .gone = busy};
    }
    pthread_mutex_unlock(&rings.lock);
}

uint64_t sanitizer_ring_finish(void)
{
    uint64_t busy = 0;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += OVER_WAIT_S;
    pthread_mutex_lock(&rings.lock);
    for (int i = 0; i < RINGS; i++) {
        struct sanitizer_ring *r = &rings.rings[i];
        busy += r->busy;
        atomic_store(&r->stop, true);
        int late = 0;
        while (r->helped && late == 0)
            late = pthread_cond_timedwait(&rings.over, &rings.lock, &until);
    }
    pthread_mutex_unlock(&rings.lock);
    return busy;
}
