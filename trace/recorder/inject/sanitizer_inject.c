/* sanitizer_inject: the library that the CUDA driver loads into a program whose accesses are recorded
 * (liboffchip_accesses.so).
 *
 * CUDA_INJECTION64_PATH names it, as it does cupti_inject's; InitializeInjection() subscribes to the Sanitizer API.
 * When a module is loaded its global accesses are patched (trace/recorder/inject/sanitizer_patch.cu); when a chosen
 * kernel is launched the launch gets a ring in pinned memory (trace/recorder/wire/access_ring.h), which a helper thread
 * drains while the kernel runs; launches that overlap have one each, and are drained in turn.
 *
 * The program is never harmed: it runs on whatever fails here, and a launch that cannot be recorded runs with a null
 * ring, which the patch passes over. There is no signal handler; a program that dies loses what had not been sent.
 * What a launch costs is waiting: launches follow one another, and where MAX_BYTES wait for the recorder the program
 * does too, at most SEND_WAIT_MS at a time. */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/clock.h"
#include "trace/event/record.h"
#include "trace/recorder/inject/inject.h"
#include "trace/recorder/wire/access_ring.h"
#include "trace/recorder/wire/sanitizer_abi.h"

enum { MAX_BYTES = 64 << 20, CONTEXTS = 64, FINAL_WAIT_MS = 1000, FACTS_WAIT_S = 2, TURN_MS = 10000 };
static const int64_t RING_BYTES = (int64_t)16 << 20;
/* Two to four seconds of a GPU's clock: longer than we wait for the recorder at a time. */
static const int64_t RING_TICKS = (int64_t)1 << 32;

static struct {
    struct san_api api;
    void *library, *subscriber;
    const char *patch;
    pid_t owner;
    atomic_bool ended;
    pthread_mutex_t patching;       /* of what follows; the API asks for it too */
    const void *contexts[CONTEXTS]; /* whose patches are loaded, or refused */
    bool refused, async_refused, module_refused;
    pthread_t facts; /* sends the facts of the devices */
    bool facts_asked;
} inject = {.patching = PTHREAD_MUTEX_INITIALIZER};

/* Calls of ours inside a callback come back as callbacks. */
static _Thread_local bool inside;

/* --- what all launches share --- */

enum { STREAMS = 1024 };

/* Reasons in table dropped. */
static const char past_limit[] = "warp accesses past --limit",
                  past_ring[] = "warp accesses for which the ring had no room in time",
                  not_over[] = "kernel launches that had not come back when the program ended",
                  past_table[] = "touches of pages for whose blocks the table on the device had no room",
                  not_sampled[] = "thread blocks that --every left out",
                  not_recorded[] = "kernel launches that could not be recorded",
                  not_sent[] = "kernel launches that were over while another one ran on for too long",
                  not_read[] = "kernel launches whose accesses could not be read back",
                  not_chosen[] = "kernel launches not chosen by --kernel",
                  not_delivered[] = "warp accesses that the recorder did not take in time",
                  not_filled[] = "slots of the ring that were not filled",
                  not_own[] = "warp accesses of kernels launched by kernels or CUDA graphs, which are not recorded";

struct wish {
    uint64_t limit;                  /* accesses in all */
    uint64_t every;                  /* one block in so many; 0, 1: all */
    bool touches;                    /* pages first touched, not accesses: without a limit */
    uint64_t ring_bytes, ring_ticks; /* of a ring; how long an access waits for room in it */
    int64_t turn_ms;                 /* how long a launch that is over waits until it can be sent */
};

static struct {
    struct wish wish;
    atomic_uint_fast64_t left; /* of the limit */
    pthread_mutex_t lock;      /* of what follows */
    const void *streams[STREAMS];
    uint32_t stream_count;
    uint64_t cost;          /* accesses past the limit */
    uint64_t uncounted;     /* of them, those that came out of rings and are not yet counted as dropped */
    uint64_t taken, passed; /* launches, chosen and not */
    char first_passed[200]; /* name of a kernel */
} launches = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- one launch at a time to the recorder --- */

enum { BATCH = 1024, SEND_WAIT_MS = 2000, TURN_NAP_US = 500 };
enum { SLOT_MESSAGES = 1 + (32 - 1 + RECORD_PIPE_LANES_EACH - 1) / RECORD_PIPE_LANES_EACH };

/* One launch at a time: its thread, and the helper that drains its ring, in turn. */
static struct {
    pthread_mutex_t lock; /* of `taken` and `endless` */
    bool taken;
    bool endless; /* whose turn it is was waited for in vain */
    bool stuck;   /* the recorder did not read for SEND_WAIT_MS: do not wait for it any more */
    size_t n;
    uint64_t accesses, lost, unfilled; /* in the messages; of the launch */
    struct record_pipe_message messages[BATCH + SLOT_MESSAGES];
} sending = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Whether it is ours now; over: that was the last try. */
static bool take_turn(bool over, bool *endless)
{
    pthread_mutex_lock(&sending.lock);
    const bool ours = !sending.taken;
    sending.taken = true;
    sending.endless |= !ours && over;
    *endless = sending.endless;
    pthread_mutex_unlock(&sending.lock);
    return ours;
}

/* It is then this launch's turn, in whatever thread, until the end. False: it is another one's, also after turn_ms, if
 * that was to be waited for: a kernel may run until something happens that our caller does next. Nobody waits for the
 * same one again. */
static bool send_begin(const struct record_pipe_message *launch, bool wait)
{
    const struct timespec nap = {0, TURN_NAP_US * 1000L};
    const int64_t naps = wait ? launches.wish.turn_ms * 1000 / TURN_NAP_US : 0;
    bool endless = false;
    for (int64_t i = 0; !take_turn(wait && i >= naps, &endless); i++) {
        if (i >= naps || endless)
            return false;
        (void)nanosleep(&nap, NULL);
    }
    sending.accesses = sending.lost = sending.unfilled = 0;
    sending.messages[0] = *launch;
    sending.n = 1;
    return true;
}

/* What was added, now. */
static void send_flush(void)
{
    if (sending.n > 0 && !inject_offer(sending.messages, sending.n)) { /* the recorder sets the pace */
        sending.stuck |= inject_outbox_send(sending.stuck ? 0 : SEND_WAIT_MS) != 0;
        if (!inject_offer(sending.messages, sending.n))
            sending.lost += sending.accesses;
    }
    sending.n = 0;
    sending.accesses = 0;
}

static void send_end(void)
{
    sending.messages[sending.n++] = (struct record_pipe_message){.type = RECORD_PIPE_LAUNCH_END};
    send_flush();
    inject_count(RECORD_PIPE_DROP, not_delivered, sending.lost);
    inject_count(RECORD_PIPE_DROP, not_filled, sending.unfilled);
    pthread_mutex_lock(&sending.lock);
    sending.taken = sending.endless = false;
    pthread_mutex_unlock(&sending.lock);
}

/* --- rings --- */

enum { RINGS = 16, RELEASE_EACH = 64, NAP_US = 50, IDLE_S = 60, REST_S = 1, OVER_WAIT_S = 1, LEAST_BYTES = 1 << 16 };
/* A launch with fewer is sent when it is over, by its own thread: that takes less than to have another do it. */
enum { FEW_UNITS = 4096 };
/* Blocks of the table of touches: half full with 64 GiB, 68 MB. */
enum { TOUCH_BLOCKS = 1 << 16, LEAST_TOUCH_BLOCKS = 8 };

/* What the host has, pinned. */
struct host {
    struct access_ring read; /* the device's, read back */
    struct access_ring_host ring;
};

/* Two words are stored at once: a patched kernel would die of units that lie otherwise. */
_Static_assert((offsetof(struct host, ring) + offsetof(struct access_ring_host, units)) % 16 == 0, "units lie so");

/* One of a context. Launches that overlap have one each; they are sent in turn. */
struct ring {
    void *context;
    void *device; /* struct access_ring, and behind it the table of touches */
    struct host *host;
    uint64_t units, blocks; /* blocks: of touches */
    uint64_t first, next;   /* unit of the launch's first, and to be read, of all there ever were */
    uint32_t launches;      /* that the table of touches has served since it was cleared */
    bool busy;              /* a launch has it */
    bool gone;              /* with its context: it is not to be looked at any more */
    struct record_pipe_message launch;
    bool begun; /* the launch's message is under way */
    struct helper *helper;
};

/* Drains a ring while a launch has it, and rests until the next one has; it ends after REST_S. */
struct helper {
    struct ring *ring;
    bool runs, rests, stop;
    bool more; /* behind its end something was left to send */
};

static struct {
    pthread_mutex_t lock;      /* of what follows, and of busy and gone */
    pthread_cond_t over, wake; /* a helper has ended or rests; one is to stop, or to go on */
    struct ring rings[RINGS];
    struct helper helpers[RINGS];
} rings = {.lock = PTHREAD_MUTEX_INITIALIZER, .over = PTHREAD_COND_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

/* --- memory; the lock is held --- */

static uint64_t table_bytes(const struct ring *r)
{
    return r->blocks * TOUCH_TABLE_BYTES;
}

static uint64_t host_bytes(const struct ring *r)
{
    return sizeof(struct host) + r->units * sizeof(struct access_unit);
}

/* Less than asked for is as good, but slower; a smaller table is better than none: the program needs memory too. */
static bool ring_make(struct ring *r, void *context)
{
    void *host = NULL;
    *r = (struct ring){.units = 1, .blocks = launches.wish.touches ? TOUCH_BLOCKS : 0};
    while (r->units * 2 * sizeof(struct access_unit) <= launches.wish.ring_bytes)
        r->units *= 2;
    while (inject.api.alloc(context, &r->device, sizeof(struct access_ring) + table_bytes(r)) != SAN_SUCCESS)
        if ((r->blocks /= 2) < LEAST_TOUCH_BLOCKS)
            return false;
    while (inject.api.alloc_host(context, &host, host_bytes(r)) != SAN_SUCCESS)
        if ((r->units /= 2) * sizeof(struct access_unit) < LEAST_BYTES) {
            (void)inject.api.free(context, r->device);
            return false;
        }
    r->host = memset(host, 0, host_bytes(r));
    r->context = context;
    return true;
}

/* One that no launch has, made if there is none. */
static struct ring *ring_get(void *context)
{
    struct ring *place = NULL;
    for (int i = 0; i < RINGS; i++) {
        struct ring *r = &rings.rings[i];
        if (r->context == context && !r->busy && !r->gone)
            return r;
        if (!r->context && !r->busy && !place)
            place = r;
    }
    return place && ring_make(place, context) ? place : NULL;
}

/* --- draining: by the helper while the kernel runs, then by the launch's thread --- */

/* Whether an access out of a ring is within the limit. */
static bool within_limit(void)
{
    uint_fast64_t left = atomic_load_explicit(&launches.left, memory_order_relaxed);
    while (left && !atomic_compare_exchange_weak(&launches.left, &left, left - 1))
        ;
    if (left)
        return true;
    pthread_mutex_lock(&launches.lock);
    launches.cost++;
    launches.uncounted++;
    pthread_mutex_unlock(&launches.lock);
    return false;
}

/* The messages of an access; their number. Of one in step its first unit says all. */
static size_t access_messages(const struct access_told *u, const uint64_t addrs[32],
                              struct record_pipe_message *messages)
{
    struct record_pipe_message *m = &messages[0], *further = m;
    const bool narrow = u->shape == ACCESS_NARROW;
    const uint32_t each = narrow ? RECORD_PIPE_NARROW_EACH : RECORD_PIPE_LANES_EACH;
    *m = (struct record_pipe_message){.type = RECORD_PIPE_ACCESS, .kind = u->bytes, .id = u->pc};
    m->time = (int64_t)((uint64_t)u->block << 32 | u->warp);
    m->addr = u->address;
    m->group = u->mask;
    m->flags = narrow ? u->flags | RECORD_PIPE_ACCESS_NARROW : u->flags;
    m->extra = u->stride;
    const uint32_t n = u->shape == ACCESS_IN_STEP ? 1 : (uint32_t)__builtin_popcount(u->mask);
    for (uint32_t i = 1; i < n; i++) {
        if ((i - 1) % each == 0)
            *++further = (struct record_pipe_message){.type = narrow ? RECORD_PIPE_NARROW : RECORD_PIPE_LANES};
        if (narrow)
            further->narrow[(i - 1) % each] = (int32_t)(addrs[i] - addrs[0]);
        else
            further->lanes[(i - 1) % each] = addrs[i];
    }
    m->duration = further - m;
    return 1 + (size_t)m->duration;
}

/* Several in a message. */
static void add_touch(const struct access_told *u)
{
    struct record_pipe_message *m = sending.n ? sending.messages + sending.n - 1 : NULL;
    if (!m || m->type != RECORD_PIPE_PAGES || m->kind == RECORD_PIPE_PAGES_EACH) {
        m = sending.messages + sending.n++;
        *m = (struct record_pipe_message){.type = RECORD_PIPE_PAGES};
    }
    const uint64_t page = u->address >> TOUCH_PAGE_BITS;
    const uint32_t i = m->kind++;
    m->pages[i].page = (uint32_t)page;
    m->pages[i].page_high = (uint16_t)(page >> 32);
    m->pages[i].block = u->block;
    m->pages[i].warp = (uint8_t)u->warp;
    m->pages[i].flags = (uint8_t)u->flags;
}

static void add_access(const struct access_told *u, const uint64_t addrs[32])
{
    if (u->bytes == 0) {
        sending.unfilled++;
        return;
    }
    if (launches.wish.touches)
        add_touch(u);
    else if (within_limit())
        sending.n += access_messages(u, addrs, sending.messages + sending.n);
    else
        return;
    sending.accesses++;
}

/* The accesses that are there; whether there was one. */
static bool drain(struct ring *r)
{
    struct access_told u;
    uint64_t addrs[32], n = 0;
    while (access_ring_next(&r->host->ring, r->units, r->next, &u, addrs)) {
        if (!r->begun && !(r->begun = send_begin(&r->launch, false)))
            break;
        add_access(&u, addrs);
        if (sending.n >= BATCH)
            send_flush();
        r->next += u.units;
        if (++n % RELEASE_EACH == 0)
            access_ring_release(&r->host->ring, r->next);
        if (n == (uint64_t)RELEASE_EACH * RELEASE_EACH)
            break; /* somebody may want us to stop */
    }
    access_ring_release(&r->host->ring, r->next);
    return n > 0;
}

/* Wait for helpers to be told something, at most so long; whether they were. The lock is held. */
static bool helper_waits(int64_t us)
{
    const struct timespec until = clock_after(CLOCK_REALTIME, us * 1000);
    return pthread_cond_timedwait(&rings.wake, &rings.lock, &until) == 0;
}

/* It stops when it is told to; or after a long time in which nothing came: a launch that failed has no end, and must
 * not keep a process alive whose own threads are all over. The launch's thread takes what comes later. */
static void helper_drains(struct helper *h)
{
    for (int64_t idle = 0; idle < (int64_t)IDLE_S * 1000000 / NAP_US && !h->stop;) {
        pthread_mutex_unlock(&rings.lock);
        const bool drained = drain(h->ring);
        if (!drained && h->ring->begun)
            send_flush();
        (void)inject_outbox_send(0);
        pthread_mutex_lock(&rings.lock);
        idle = drained ? 0 : idle + 1;
        if (!drained && !h->stop)
            (void)helper_waits(NAP_US);
    }
}

static void *helper(void *arg)
{
    struct helper *h = arg;
    pthread_mutex_lock(&rings.lock);
    do {
        helper_drains(h);
        h->rests = h->stop = true;
        pthread_cond_broadcast(&rings.over);
        bool sent = false, woken = true; /* what is left goes while the program goes on */
        for (int naps = SEND_WAIT_MS * 1000 / NAP_US; h->stop && woken && naps > 0; naps -= !sent) {
            h->more = false;
            pthread_mutex_unlock(&rings.lock);
            sent = inject_outbox_send(0) == 0;
            pthread_mutex_lock(&rings.lock);
            woken = !h->stop || h->more || helper_waits(sent ? (int64_t)REST_S * 1000000 : NAP_US) || !sent;
        }
        h->rests = h->stop;
    } while (!h->stop);
    h->runs = h->rests = false;
    pthread_mutex_unlock(&rings.lock);
    return NULL;
}

/* The lock is held. */
static bool helper_start(struct ring *r)
{
    pthread_t thread;
    struct helper *h = r->helper = &rings.helpers[r - rings.rings];
    h->ring = r;
    h->stop = false;
    if (h->runs) {
        pthread_cond_broadcast(&rings.wake);
        return true;
    }
    h->runs = inject_thread(&thread, helper, h);
    if (h->runs)
        (void)pthread_detach(thread);
    return h->runs;
}

/* The lock is held. */
static void helper_stop(struct ring *r)
{
    struct helper *h = r->helper;
    if (!h)
        return;
    h->stop = true;
    pthread_cond_broadcast(&rings.wake);
    while (h->runs && !h->rests)
        pthread_cond_wait(&rings.over, &rings.lock);
}

/* What was put behind its last message leaves while the program goes on; the lock is held. False: it has ended. */
static bool helper_sends(const struct ring *r)
{
    r->helper->more = true;
    pthread_cond_broadcast(&rings.wake);
    return r->helper->runs;
}

/* --- a launch has a ring --- */

/* An empty ring to the device; the lock is held. */
static bool ring_clear(struct ring *r, uint64_t capacity, uint64_t phase, void *stream)
{
    struct access_ring ring = access_ring_empty(&r->host->ring, r->units, r->next, launches.wish.ring_ticks);
    ring.capacity = capacity;
    ring.every = (uint32_t)launches.wish.every;
    ring.phase = (uint32_t)(launches.wish.every ? phase % launches.wish.every : 0);
    ring.blocks = (uint32_t)r->blocks & 0xffffff;
    ring.launch = (r->launches % TOUCH_LAUNCHES + 1) & 0xff;
    access_ring_release(&r->host->ring, r->next);
    r->first = r->next;
    if (r->blocks && r->launches++ % TOUCH_LAUNCHES == 0 &&
        inject.api.memset((struct access_ring *)r->device + 1, 0, table_bytes(r), stream) != SAN_SUCCESS)
        return false;
    return inject.api.memcpy_host_to_device(r->device, &ring, sizeof ring, stream) == SAN_SUCCESS;
}

/* A ring for this launch, with a helper that drains it, for so many accesses; NULL: there is none. phase: of the blocks
 * that are sampled. */
static struct ring *ring_begin(const struct san_launch *launch, uint64_t capacity, uint64_t phase,
                               const struct record_pipe_message *message)
{
    pthread_mutex_lock(&rings.lock);
    struct ring *r = ring_get(launch->context);
    bool good = false;
    if (r) {
        r->launch = *message;
        r->begun = false;
        good = ring_clear(r, capacity, phase, launch->stream_handle) && helper_start(r);
        /* A number, which no part of the host follows. */
        const void *handle = (const void *)(uintptr_t)access_ring_handle(r->device);
        if (good && (!handle || inject.api.set_launch_callback_data(launch->launch, launch->function,
                                                                    launch->stream_handle, handle) != SAN_SUCCESS)) {
            helper_stop(r);
            good = false;
        }
        r->busy = good;
    }
    pthread_mutex_unlock(&rings.lock);
    return good ? r : NULL;
}

/* The launch failed and has no end. */
static void ring_give_back(struct ring *r)
{
    pthread_mutex_lock(&rings.lock);
    helper_stop(r);
    if (r->begun)
        send_end();
    r->begun = r->busy = false;
    r->gone &= r->context != NULL;
    pthread_mutex_unlock(&rings.lock);
}

struct ring_totals {
    bool sent;               /* false: another launch never stopped being sent */
    bool read;               /* false: the device did not say the following */
    struct access_ring ring; /* zeroed if not read */
};

/* Wait for the kernel, send what is left, and the launch's end. */
static struct ring_totals ring_end(struct ring *r, const struct san_launch *launch)
{
    struct ring_totals totals = {0};
    const struct access_ring *read = &r->host->read;
    const bool over = inject.api.stream_synchronize(launch->stream_handle) == SAN_SUCCESS;
    pthread_mutex_lock(&rings.lock);
    helper_stop(r);
    const bool gone = r->gone;
    pthread_mutex_unlock(&rings.lock);
    if (gone) {
        ring_give_back(r);
        return totals;
    }
    totals.read = over && inject.api.memcpy_device_to_host(&r->host->read, r->device, sizeof *read,
                                                           launch->stream_handle) == SAN_SUCCESS;
    totals.sent = r->begun || send_begin(&r->launch, true);
    r->begun = totals.sent;
    while (totals.sent && drain(r))
        ;
    while (totals.sent && totals.read && r->next < read->head) { /* a kernel that is over has filled its units */
        sending.unfilled++;
        r->next++;
        (void)drain(r);
    }
    if (totals.read) {
        r->next = read->head;
        totals.ring = *read;
        r->launches = read->full ? 0 : r->launches; /* blocks of launches long over may fill the table */
        r->host->read.open = 0;                     /* whoever still has its number finds it closed */
        totals.read = inject.api.memcpy_host_to_device(&((struct access_ring *)r->device)->open, &r->host->read.open,
                                                       sizeof read->open, launch->stream_handle) == SAN_SUCCESS;
    }
    if (totals.sent)
        send_end();
    pthread_mutex_lock(&rings.lock);
    r->begun = r->busy = false;
    r->gone |= !totals.read; /* who knows what is still written there */
    const bool leaves = helper_sends(r);
    pthread_mutex_unlock(&rings.lock);
    if (!leaves || r->next - r->first < FEW_UNITS)
        (void)inject_outbox_send(0);
    return totals;
}

/* The context's memory is gone. */
static void rings_context_over(const void *context)
{
    pthread_mutex_lock(&rings.lock);
    for (int i = 0; i < RINGS; i++) {
        struct ring *r = &rings.rings[i];
        if (r->context != context)
            continue;
        helper_stop(r);
        if (r->begun)
            send_end();            /* what was read of it; others can send again */
        const bool busy = r->busy; /* its launch failed, and has not given it back yet */
        *r = (struct ring){.busy = busy, .gone = busy};
    }
    pthread_mutex_unlock(&rings.lock);
}

/* The process ends: stop draining. How many launches still have a ring. */
static uint64_t rings_finish(void)
{
    uint64_t busy = 0;
    const struct timespec until = clock_after(CLOCK_REALTIME, OVER_WAIT_S * INT64_C(1000000000));
    pthread_mutex_lock(&rings.lock);
    for (int i = 0; i < RINGS; i++) {
        struct ring *r = &rings.rings[i];
        busy += r->busy;
        struct helper *h = &rings.helpers[i];
        h->stop = true;
        pthread_cond_broadcast(&rings.wake);
        int late = 0;
        while (h->runs && !h->rests && late == 0)
            late = pthread_cond_timedwait(&rings.over, &rings.lock, &until);
    }
    pthread_mutex_unlock(&rings.lock);
    return busy;
}

/* --- launches --- */

/* Of the launch that this thread has begun. */
static _Thread_local struct ring *mine;

static uint32_t stream_number(const void *stream)
{
    uint32_t i = 0;
    while (i < launches.stream_count && launches.streams[i] != stream)
        i++;
    if (i == launches.stream_count && i < STREAMS)
        launches.streams[launches.stream_count++] = stream;
    return i;
}

/* --- a launch begins --- */

static struct record_pipe_message launch_message(const struct san_launch *l, uint32_t stream)
{
    struct record_pipe_message m = {
        .type = RECORD_PIPE_LAUNCH, .kind = stream, .id = inject_text(l->name ? l->name : "?")};
    m.flags = (uint32_t)l->device;
    m.addr = l->grid[0] | (uint64_t)(l->grid[1] & UINT16_MAX) << 32 | (uint64_t)(l->grid[2] & UINT16_MAX) << 48;
    m.bytes = (l->block[0] & UINT16_MAX) | (uint64_t)(l->block[1] & UINT16_MAX) << 16 |
              (uint64_t)(l->block[2] & UINT16_MAX) << 32;
    return m;
}

/* Blocks of a launch that the sample leaves out: all but those whose number + phase is a multiple of `every`. */
static uint64_t left_out(const struct san_launch *l, uint64_t phase)
{
    uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2], every = launches.wish.every;
    if (every < 2 || launches.wish.touches)
        return 0;
    uint64_t first = (every - phase % every) % every;
    return blocks - (blocks > first ? (blocks - first - 1) / every + 1 : 0);
}

static bool choose(const struct san_launch *l)
{
    bool chosen = inject_is_chosen(l->name);
    pthread_mutex_lock(&launches.lock);
    launches.taken += chosen;
    if (!chosen && launches.passed++ == 0 && l->name)
        (void)snprintf(launches.first_passed, sizeof launches.first_passed, "%s", l->name);
    pthread_mutex_unlock(&launches.lock);
    return chosen;
}

/* A ring for the launch; NULL: it cannot be recorded. Launches that overlap may all get what is left of the limit: the
 * first accesses to arrive keep it. */
static struct ring *prepare(const struct san_launch *l)
{
    pthread_mutex_lock(&launches.lock);
    const struct record_pipe_message message = launch_message(l, stream_number(l->stream_handle));
    const uint64_t left = atomic_load(&launches.left), phase = launches.taken;
    pthread_mutex_unlock(&launches.lock);
    struct ring *ring = ring_begin(l, left, phase, &message);
    inject_count(RECORD_PIPE_DROP, not_sampled, ring ? left_out(l, phase) : 0);
    return ring;
}

/* In the thread that launches, as the end is, of the last begin there. */
static void launch_begin(const struct san_launch *l)
{
    if (mine) /* the launch before has had no end */
        ring_give_back(mine);
    const bool chosen = choose(l);
    mine = chosen ? prepare(l) : NULL;
    if (mine)
        return;
    (void)inject.api.set_launch_callback_data(l->launch, l->function, l->stream_handle, NULL);
    inject_count(chosen ? RECORD_PIPE_DROP : RECORD_PIPE_SKIP, chosen ? not_recorded : not_chosen, 1);
}

/* --- a launch ends --- */

static void launch_end(const struct san_launch *l)
{
    if (!mine)
        return;
    const struct ring_totals totals = ring_end(mine, l);
    mine = NULL;
    const struct access_ring *ring = &totals.ring;
    const uint64_t past = ring->taken > ring->capacity ? ring->taken - ring->capacity : 0;
    pthread_mutex_lock(&launches.lock);
    launches.cost += past;
    const uint64_t cost = past + launches.uncounted; /* or another launch's */
    launches.uncounted = 0;
    pthread_mutex_unlock(&launches.lock);
    inject_count(RECORD_PIPE_DROP, not_sent, !totals.sent);
    inject_count(RECORD_PIPE_DROP, past_limit, cost);
    inject_count(RECORD_PIPE_DROP, past_ring, ring->lost);
    inject_count(RECORD_PIPE_DROP, past_table, ring->full);
    inject_count(RECORD_PIPE_DROP, not_own, ring->strays);
    inject_count(RECORD_PIPE_DROP, not_read, !totals.read);
}

/* Say what the limit has cost, and that no kernel was the wanted one. */
static void launches_finish(void)
{
    uint64_t busy = rings_finish();
    pthread_mutex_lock(&launches.lock);
    uint64_t limit = launches.wish.limit, cost = launches.cost, passed = launches.taken ? 0 : launches.passed;
    pthread_mutex_unlock(&launches.lock);
    inject_count(RECORD_PIPE_DROP, not_over, busy);
    if (passed)
        inject_problem(RECORD_PIPE_WARNING,
                       "none of the %llu kernel launches is of a kernel that --kernel matches; the "
                       "first was of %s",
                       (unsigned long long)passed, launches.first_passed);
    if (cost)
        inject_problem(RECORD_PIPE_WARNING,
                       "the limit of %llu warp accesses was reached: %llu more were counted and not kept (--limit N "
                       "records more, --kernel REGEX fewer kernels)",
                       (unsigned long long)limit, (unsigned long long)cost);
}

/* --- the library --- */

static bool load_sanitizer(const char *path)
{
    static const char *const words[] = {
        "the Sanitizer library",
        "install the CUDA toolkit's compute-sanitizer, or name its libsanitizer-public.so in OFFCHIP_SANITIZER",
        "the compute-sanitizer of CUDA 12 or later is needed (OFFCHIP_SANITIZER names its libsanitizer-public.so)"};
    struct san_api *api = &inject.api;
    void *since;
    const struct inject_symbol symbols[] = {
        {SAN_SINCE, &since, true},
        {"sanitizerGetResultString", &api->get_result_string, true},
        {"sanitizerSubscribe", &api->subscribe, true},
        {"sanitizerUnsubscribe", &api->unsubscribe, true},
        {"sanitizerEnableDomain", &api->enable_domain, true},
        {"sanitizerAddPatchesFromFile", &api->add_patches_from_file, true},
        {"sanitizerPatchInstructions", &api->patch_instructions, true},
        {"sanitizerPatchModule", &api->patch_module, true},
        {"sanitizerSetLaunchCallbackData", &api->set_launch_callback_data, true},
        {"sanitizerAlloc", &api->alloc, true},
        {"sanitizerAllocHost", &api->alloc_host, true},
        {"sanitizerFree", &api->free, true},
        {"sanitizerMemcpyHostToDeviceAsync", &api->memcpy_host_to_device, true},
        {"sanitizerMemcpyDeviceToHost", &api->memcpy_device_to_host, true},
        {"sanitizerMemset", &api->memset, true},
        {"sanitizerStreamSynchronize", &api->stream_synchronize, true},
    };
    return inject_load(&inject.library, path && *path ? path : "libsanitizer-public.so", symbols,
                       sizeof symbols / sizeof *symbols, words);
}

static const char *result_text(san_result result)
{
    const char *text = NULL;
    if (inject.api.get_result_string(result, &text) != SAN_SUCCESS || !text)
        return "unknown error of the Sanitizer library";
    return text;
}

/* --- modules --- */

/* The first of the files, separated by ':', that is for this context's GPU. */
static san_result add_patches(void *context)
{
    san_result result = SAN_NOT_INITIALIZED;
    for (const char *p = inject.patch; *p; p += strcspn(p, ":"), p += *p == ':') {
        char file[PATH_MAX];
        (void)snprintf(file, sizeof file, "%.*s", (int)strcspn(p, ":"), p);
        result = inject.api.add_patches_from_file(file, context);
        if (result == SAN_SUCCESS)
            break;
    }
    return result;
}

/* The patches are in the context; false if it does not take them. patching is held. */
static bool context_patched(void *context)
{
    int place = -1;
    for (int i = 0; i < CONTEXTS; i++) {
        if (inject.contexts[i] == context)
            return !inject.refused;
        if (!inject.contexts[i] && place < 0)
            place = i;
    }
    if (place < 0)
        return false;
    inject.contexts[place] = context;
    san_result result = add_patches(context);
    if (result == SAN_SUCCESS)
        return true;
    if (!inject.refused)
        inject_problem(
            RECORD_PIPE_WARNING,
            "%.200s could not be loaded onto the device: %s (%u); is it made for this GPU (nvcc -arch=all) and "
            "by this CUDA?",
            inject.patch, result_text(result), result);
    inject.refused = true;
    return false;
}

static san_result patch_module(void *module)
{
    const char *access = launches.wish.touches ? "offchip_touch" : "offchip_access";
    const char *async = launches.wish.touches ? "offchip_touch_async" : "offchip_access_async";
    san_result result = inject.api.patch_instructions(SAN_INSTRUCTION_GLOBAL_ACCESS, module, access);
    if (result != SAN_SUCCESS)
        return result;
    if (inject.api.patch_instructions(SAN_INSTRUCTION_MEMCPY_ASYNC, module, async) != SAN_SUCCESS &&
        !inject.async_refused) {
        inject.async_refused = true;
        inject_problem(RECORD_PIPE_WARNING, "asynchronous copies to shared memory (cp.async) are not recorded: this "
                                            "Sanitizer library cannot patch them");
    }
    return inject.api.patch_module(module);
}

static void module_loaded(const struct san_module *module)
{
    pthread_mutex_lock(&inject.patching);
    if (context_patched(module->context)) {
        san_result result = patch_module(module->module);
        if (result != SAN_SUCCESS && !inject.module_refused) /* once: a program may have hundreds */
            inject_problem(RECORD_PIPE_WARNING, "a module could not be instrumented: %s (%u)", result_text(result),
                           result);
        inject.module_refused |= result != SAN_SUCCESS;
        inject_count(RECORD_PIPE_DROP, "modules that could not be instrumented", result != SAN_SUCCESS);
    } else {
        inject_count(RECORD_PIPE_DROP, "modules that could not be instrumented", 1);
    }
    pthread_mutex_unlock(&inject.patching);
}

static void *send_facts(void *unused)
{
    inject_device_facts();
    (void)inject_outbox_send(0);
    return unused;
}

/* The driver may not be asked from a callback: a thread of its own does, once. */
static void context_created(void)
{
    pthread_mutex_lock(&inject.patching);
    if (!inject.facts_asked)
        inject.facts_asked = inject_thread(&inject.facts, send_facts, NULL);
    pthread_mutex_unlock(&inject.patching);
}

static void context_over(const void *context)
{
    pthread_mutex_lock(&inject.patching);
    for (int i = 0; i < CONTEXTS; i++)
        if (inject.contexts[i] == context)
            inject.contexts[i] = NULL;
    pthread_mutex_unlock(&inject.patching);
    rings_context_over(context);
}

/* --- memory --- */

static void memory_allocated(const struct san_memory *memory, bool host)
{
    struct record_pipe_message m = {.type = RECORD_PIPE_RECORD, .kind = RECORD_ALLOC};
    if (memory->flags & (SAN_MEMORY_CG_RUNTIME | SAN_MEMORY_CNP | SAN_MEMORY_PEER))
        return; /* the runtime's own, or another view of memory that has its own callback */
    m.time = clock_ns(CLOCK_REALTIME);
    m.addr = memory->address;
    m.bytes = memory->bytes;
    m.flags = memory->flags & SAN_MEMORY_MANAGED               ? RECORD_ALLOC_MANAGED
              : host || memory->flags & SAN_MEMORY_HOST_PINNED ? RECORD_ALLOC_PINNED
                                                               : RECORD_ALLOC_DEVICE;
    if (m.addr && m.bytes)
        inject_put(&m, 1);
}

static void memory_freed(const struct san_memory *memory)
{
    struct record_pipe_message m = {.type = RECORD_PIPE_FREE};
    m.time = clock_ns(CLOCK_REALTIME);
    m.addr = memory->address;
    inject_put(&m, 1);
}

/* --- callbacks --- */

static void resource(uint32_t id, const void *data)
{
    switch (id) {
    case SAN_CONTEXT_CREATED:
        context_created();
        break;
    case SAN_CONTEXT_DESTROY:
        context_over(((const struct san_context *)data)->context);
        break;
    case SAN_MODULE_LOADED:
        module_loaded(data);
        break;
    case SAN_DEVICE_ALLOC:
    case SAN_HOST_ALLOC:
    case SAN_ASYNC_ALLOC:
        memory_allocated(data, id == SAN_HOST_ALLOC);
        break;
    case SAN_DEVICE_FREE:
    case SAN_HOST_FREE:
    case SAN_ASYNC_FREE:
        memory_freed(data);
        break;
    default:
        return;
    }
    (void)inject_outbox_send(0);
}

static void node_launched(const struct san_node_launch *node)
{
    if (node->type != SAN_NODE_KERNEL)
        return;
    const struct san_launch *l = &node->launch;
    (void)inject.api.set_launch_callback_data(l->launch, l->function, l->stream_handle, NULL);
    if (inject_is_chosen(l->name))
        inject_count(RECORD_PIPE_DROP, "kernel launches inside CUDA graphs, which are not recorded", 1);
}

static void callback(void *user, uint32_t domain, uint32_t id, const void *data)
{
    (void)user;
    if (inside || !data || atomic_load(&inject.ended))
        return;
    inside = true;
    if (domain == SAN_DOMAIN_RESOURCE)
        resource(id, data);
    else if (domain == SAN_DOMAIN_LAUNCH && id == SAN_LAUNCH_BEGIN)
        launch_begin(data);
    else if (domain == SAN_DOMAIN_LAUNCH && id == SAN_LAUNCH_END)
        launch_end(data);
    else if (domain == SAN_DOMAIN_GRAPHS && id == SAN_NODE_LAUNCH_BEGIN)
        node_launched(data);
    inside = false;
}

/* --- start and end --- */

static void say_goodbye(void)
{
    inject_outbox_goodbye(FINAL_WAIT_MS);
    inject_outbox_abandon();
}

static void at_exit(void)
{
    if (getpid() != inject.owner || atomic_exchange(&inject.ended, true))
        return;
    if (inject.facts_asked)
        inject_join(inject.facts, FACTS_WAIT_S);
    launches_finish();
    say_goodbye();
}

static void in_child(void)
{
    atomic_store(&inject.ended, true);
    inject_outbox_abandon();
}

static bool subscribe(void)
{
    san_result result = inject.api.subscribe(&inject.subscriber, callback, NULL);
    if (result == SAN_MAX_LIMIT_REACHED) {
        inject_problem(RECORD_PIPE_FATAL, "another tool already uses the Sanitizer API in this process "
                                          "(compute-sanitizer?): run without it");
        return false;
    }
    if (result == SAN_NOT_INITIALIZED) {
        inject_problem(RECORD_PIPE_FATAL,
                       "the Sanitizer library does not fit this driver (%s): take that of the CUDA "
                       "toolkit that the driver is for (OFFCHIP_SANITIZER names it)",
                       result_text(result));
        return false;
    }
    static const uint32_t domains[] = {SAN_DOMAIN_RESOURCE, SAN_DOMAIN_LAUNCH, SAN_DOMAIN_GRAPHS};
    for (size_t i = 0; i < sizeof domains / sizeof *domains && result == SAN_SUCCESS; i++)
        result = inject.api.enable_domain(1, inject.subscriber, domains[i]);
    if (result == SAN_SUCCESS)
        return true;
    inject_problem(RECORD_PIPE_FATAL, "the Sanitizer library refused to start: %s (%u)", result_text(result), result);
    if (inject.subscriber)
        (void)inject.api.unsubscribe(inject.subscriber);
    return false;
}

void inject_start(void)
{
    size_t max_bytes = (size_t)inject_env(RECORD_PIPE_BUFFERS, 1 << 20, (int64_t)1 << 40, MAX_BYTES);
    const char *path = getenv(RECORD_PIPE_SOCKET);
    if (!path || inject_outbox_open(path, max_bytes))
        return;
    inject.owner = getpid();
    inject.patch = secure_getenv(RECORD_PIPE_PATCH);
    inject_process_facts();
    bool good = inject.patch && load_sanitizer(secure_getenv(RECORD_PIPE_SANITIZER)) &&
                inject_choose_by(getenv(RECORD_PIPE_KERNELS));
    launches.wish =
        (struct wish){.limit = (uint64_t)inject_env(RECORD_PIPE_LIMIT, 1, INT64_MAX, RECORD_PIPE_LIMIT_DEFAULT),
                      .every = (uint64_t)inject_env(RECORD_PIPE_EVERY, 1, INT32_MAX, 1),
                      .touches = getenv(RECORD_PIPE_WANT) && strstr(getenv(RECORD_PIPE_WANT), RECORD_PIPE_TOUCHES),
                      .ring_bytes = (uint64_t)inject_env(RECORD_PIPE_RING_BYTES, sizeof(struct access_unit),
                                                         (int64_t)1 << 36, RING_BYTES), /* fewer units than tags */
                      .ring_ticks = (uint64_t)inject_env(RECORD_PIPE_RING_TICKS, 0, (int64_t)1 << 40, RING_TICKS),
                      .turn_ms = inject_env(RECORD_PIPE_TURN_MS, 0, INT32_MAX, TURN_MS)};
    atomic_store(&launches.left, launches.wish.touches ? UINT64_MAX : launches.wish.limit);
    if (launches.wish.touches)
        inject_fact("touches", "each page's first read and first write in a launch");
    if (launches.wish.every > 1)
        inject_fact_number("sample_every", (int64_t)launches.wish.every);
    if (!good || !subscribe()) {
        atomic_store(&inject.ended, true);
        say_goodbye();
        return;
    }
    (void)pthread_atfork(NULL, NULL, in_child);
    (void)atexit(at_exit);
    (void)inject_outbox_send(0); /* the greeting: a process that dies at once is known */
}
