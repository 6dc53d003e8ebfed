#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "trace/recorder/inject/sanitizer_inject.h"

/* Blocks of the table of touches: half full with 64 GiB, 9 MB. */
enum { TOUCH_BLOCKS = 1 << 16, LEAST_TOUCH_BLOCKS = 64 };
enum { BUFFERS = 16, STREAMS = 1024, CHUNK_SLOTS = 2048, LEAST_SLOTS = 64 };

/* Reasons in table dropped. */
static const char past_limit[] = "warp accesses past --limit",
                  past_buffer[] = "warp accesses for which the buffer on the device had no room",
                  past_ring[] = "warp accesses for which the ring had no room in time",
                  not_over[] = "kernel launches that had not come back when the program ended",
                  past_table[] = "touches of pages for whose blocks the table on the device had no room",
                  not_sampled[] = "thread blocks that --every left out",
                  not_recorded[] = "kernel launches that could not be recorded",
                  not_sent[] = "kernel launches that were over while another one ran on for too long",
                  not_read[] = "kernel launches whose accesses could not be read back",
                  not_chosen[] = "kernel launches not chosen by --kernel";

/* A buffer on the device, with memory of the host to read it through. Launches that overlap have one each. */
struct buffer {
    void *context;
    void *device;           /* struct access_buffer and `slots` slots; NULL: this place is free */
    void *host;             /* pinned: struct access_buffer and CHUNK_SLOTS slots */
    uint64_t slots, blocks; /* blocks: of touches */
    uint64_t phase;         /* of sampled blocks */
    bool busy;
    uint64_t capacity; /* of the launch that has it: slots, or less where the limit is nearer */
    bool limited;      /* the limit is nearer */
    struct record_pipe_message launch;
};

static struct {
    struct san_api api;
    pthread_mutex_t lock; /* of what follows */
    uint64_t limit, left, bytes, every;
    bool touches;
    struct buffer buffers[BUFFERS];
    const void *streams[STREAMS];
    uint32_t stream_count;
    uint64_t cost;          /* accesses past the limit */
    uint64_t ring_cost;     /* of them, those that came out of rings, not yet counted as dropped */
    uint64_t taken, passed; /* launches, chosen and not */
    char first_passed[200]; /* name of a kernel */
} launches = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Of the launch that this thread has begun: one of them, or none. */
static _Thread_local struct buffer *mine;
static _Thread_local struct sanitizer_ring *my_ring;

void sanitizer_launch_start(const struct san_api *api, const struct sanitizer_wish *wish)
{
    launches.api = *api;
    launches.limit = launches.left = wish->touches ? UINT64_MAX : wish->limit;
    launches.bytes = wish->bytes;
    launches.every = wish->every;
    launches.touches = wish->touches;
    sanitizer_send_start(wish->touches, wish->turn_ms);
    sanitizer_ring_start(&launches.api, wish->touches ? 0 : wish->ring_bytes, wish->ring_ticks);
}

static uint32_t stream_number(const void *stream)
{
    uint32_t i = 0;
    while (i < launches.stream_count && launches.streams[i] != stream)
        i++;
    if (i == launches.stream_count && i < STREAMS)
        launches.streams[launches.stream_count++] = stream;
    return i;
}

/* --- buffers; the lock is held while they are made and got --- */

static uint64_t slot_bytes(void)
{
    return launches.touches ? sizeof(struct touch_entry) : sizeof(struct access_slot);
}

/* Where the slots begin. */
static uint64_t head_bytes(const struct buffer *b)
{
    return launches.touches ? touch_buffer_bytes(b->blocks, 0) : sizeof(struct access_buffer);
}

/* Ask for less: slots first, then a smaller table of blocks. False: less is of no use. */
static bool buffer_halve(struct buffer *b)
{
    if (b->slots > LEAST_SLOTS)
        b->slots = b->slots / 2 < LEAST_SLOTS ? LEAST_SLOTS : b->slots / 2;
    else if (launches.touches && b->blocks > LEAST_TOUCH_BLOCKS)
        b->blocks /= 2;
    else
        return false;
    return true;
}

static bool buffer_make(struct buffer *b, void *context)
{
    *b = (struct buffer){.context = context, .blocks = TOUCH_BLOCKS};
    while (launches.touches && b->blocks > LEAST_TOUCH_BLOCKS && head_bytes(b) > launches.bytes / 2)
        b->blocks /= 2;
    uint64_t most = (launches.bytes - head_bytes(b)) / slot_bytes();
    b->slots = launches.limit < most ? launches.limit : most;
    b->slots = b->slots < LEAST_SLOTS ? LEAST_SLOTS : b->slots;
    /* Less than asked for is better than nothing: the program needs the device's memory too. */
    while (launches.api.alloc(context, &b->device, head_bytes(b) + b->slots * slot_bytes()) != SAN_SUCCESS) {
        b->device = NULL;
        if (!buffer_halve(b))
            return false;
    }
    if (launches.api.alloc_host(context, &b->host, sizeof(struct access_buffer) + CHUNK_SLOTS * slot_bytes()) !=
        SAN_SUCCESS) {
        (void)launches.api.free(context, b->device);
        *b = (struct buffer){0};
        return false;
    }
    return true;
}

static struct buffer *buffer_get(void *context)
{
    struct buffer *place = NULL;
    for (int i = 0; i < BUFFERS; i++) {
        struct buffer *b = &launches.buffers[i];
        if (b->device && !b->busy && b->context == context)
            return b;
        if (!b->device && !place)
            place = b;
    }
    return place && buffer_make(place, context) ? place : NULL;
}

static void buffer_give_back(struct buffer *b)
{
    pthread_mutex_lock(&launches.lock);
    b->busy = false;
    pthread_mutex_unlock(&launches.lock);
}

/* --- a launch begins --- */

/* An access out of a ring. */
static void take_slot(const struct access_slot *slot)
{
    pthread_mutex_lock(&launches.lock);
    const bool kept = launches.left > 0;
    launches.left -= kept;
    launches.cost += !kept;
    launches.ring_cost += !kept;
    pthread_mutex_unlock(&launches.lock);
    if (kept)
        sanitizer_send_slot(slot);
}

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
    uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2], every = launches.every;
    if (every < 2 || launches.touches)
        return 0;
    uint64_t first = (every - phase % every) % every;
    return blocks - (blocks > first ? (blocks - first - 1) / every + 1 : 0);
}

/* A buffer that is empty; NULL: the launch cannot be recorded. Launches that overlap may all get what is left of the
 * limit: the first to end keep it. */
static struct buffer *launch_prepare(const struct san_launch *l)
{
    pthread_mutex_lock(&launches.lock);
    struct buffer *b = buffer_get(l->context);
    if (b) {
        b->busy = true;
        b->limited = launches.left <= b->slots;
        b->capacity = b->limited ? launches.left : b->slots;
        b->phase = launches.taken;
        b->launch = launch_message(l, stream_number(l->stream_handle));
    }
    pthread_mutex_unlock(&launches.lock);
    if (!b)
        return NULL;
    /* Past the limit accesses are still counted: an empty buffer has no slot but counts all the same. */
    struct access_buffer empty = {.capacity = b->capacity, .every = launches.every, .phase = b->phase};
    struct touch_buffer none = {.capacity = b->capacity, .blocks = b->blocks};
    void *head = launches.touches ? (void *)&none : &empty;
    bool clear = !launches.touches || launches.api.memset(b->device, 0, head_bytes(b) + b->capacity * slot_bytes(),
                                                          l->stream_handle) == SAN_SUCCESS;
    if (clear && launches.api.memcpy_host_to_device(b->device, head, sizeof empty, l->stream_handle) == SAN_SUCCESS &&
        launches.api.set_launch_callback_data(l->launch, l->function, l->stream_handle, b->device) == SAN_SUCCESS)
        return b;
    buffer_give_back(b);
    return NULL;
}

static bool choose(const struct san_launch *l)
{
    bool chosen = sanitizer_chosen(l->name);
    pthread_mutex_lock(&launches.lock);
    launches.taken += chosen;
    if (!chosen && launches.passed++ == 0 && l->name)
        (void)snprintf(launches.first_passed, sizeof launches.first_passed, "%s", l->name);
    pthread_mutex_unlock(&launches.lock);
    return chosen;
}

/* The launch before, if it has had no end. */
static void failed_launch(void)
{
    if (mine)
        buffer_give_back(mine);
    if (my_ring)
        sanitizer_ring_give_back(my_ring);
    mine = NULL;
    my_ring = NULL;
}

/* The context's ring, if it has one that is free. */
static bool ring_prepare(const struct san_launch *l)
{
    pthread_mutex_lock(&launches.lock);
    const struct record_pipe_message message = launch_message(l, stream_number(l->stream_handle));
    const struct access_buffer wish = {.capacity = launches.left, .every = launches.every, .phase = launches.taken};
    pthread_mutex_unlock(&launches.lock);
    my_ring = launches.touches ? NULL : sanitizer_ring_begin(l, &wish, &message, take_slot);
    if (my_ring)
        inject_count(RECORD_PIPE_DROP, not_sampled, left_out(l, wish.phase));
    return my_ring != NULL;
}

void sanitizer_launch_begin(const struct san_launch *l)
{
    failed_launch();
    bool chosen = choose(l);
    if (chosen && ring_prepare(l))
        return;
    if (chosen)
        mine = launch_prepare(l);
    if (mine) {
        inject_count(RECORD_PIPE_DROP, not_sampled, left_out(l, mine->phase));
        return;
    }
    (void)launches.api.set_launch_callback_data(l->launch, l->function, l->stream_handle, NULL);
    inject_count(chosen ? RECORD_PIPE_DROP : RECORD_PIPE_SKIP, chosen ? not_recorded : not_chosen, 1);
}

/* --- a launch ends --- */

/* Read and send the slots; false: the device did not give them. */
static bool send_slots(const struct buffer *b, uint64_t slots, void *stream)
{
    for (uint64_t done = 0; done < slots;) {
        uint64_t n = slots - done < CHUNK_SLOTS ? slots - done : CHUNK_SLOTS;
        char *device = (char *)b->device + head_bytes(b) + done * slot_bytes();
        if (launches.api.memcpy_device_to_host(b->host, device, n * slot_bytes(), stream) != SAN_SUCCESS)
            return false;
        for (uint64_t i = 0; i < n; i++)
            sanitizer_send_slot((const char *)b->host + i * slot_bytes());
        done += n;
    }
    return true;
}

/* How many of the slots the limit still allows; they are taken from it. */
static uint64_t take_from_limit(uint64_t slots, uint64_t past)
{
    pthread_mutex_lock(&launches.lock);
    uint64_t kept = slots < launches.left ? slots : launches.left;
    launches.left -= kept;
    launches.cost += past + slots - kept;
    pthread_mutex_unlock(&launches.lock);
    return kept;
}

/* The launch with its accesses, whole and not mixed with another's. `taken` is what the device counted. False: the
 * device did not give them. */
static bool send_launch(struct buffer *b, uint64_t taken, void *stream)
{
    uint64_t slots = taken < b->capacity ? taken : b->capacity, past = b->limited ? taken - slots : 0;
    if (!sanitizer_send_begin(&b->launch, true)) {
        inject_count(RECORD_PIPE_DROP, not_sent, 1);
        return true;
    }
    uint64_t kept = take_from_limit(slots, past);
    bool read = send_slots(b, kept, stream);
    sanitizer_send_end();
    inject_count(RECORD_PIPE_DROP, past_limit, past + slots - kept);
    inject_count(RECORD_PIPE_DROP, past_buffer, taken - slots - past);
    return read;
}

static void ring_end(const struct san_launch *l)
{
    const struct sanitizer_ring_totals totals = sanitizer_ring_end(my_ring, l);
    my_ring = NULL;
    const uint64_t past = totals.taken > totals.capacity ? totals.taken - totals.capacity : 0;
    pthread_mutex_lock(&launches.lock);
    launches.cost += past;
    const uint64_t cost = past + launches.ring_cost; /* or the next launch's, which has the ring by now */
    launches.ring_cost = 0;
    pthread_mutex_unlock(&launches.lock);
    inject_count(RECORD_PIPE_DROP, not_sent, !totals.sent);
    inject_count(RECORD_PIPE_DROP, past_limit, cost);
    inject_count(RECORD_PIPE_DROP, past_ring, totals.lost);
    inject_count(RECORD_PIPE_DROP, not_read, !totals.read);
}

void sanitizer_launch_end(const struct san_launch *l)
{
    struct buffer *b = mine;
    mine = NULL;
    if (my_ring)
        ring_end(l);
    if (!b)
        return;
    struct touch_buffer head = {0}; /* or a struct access_buffer, which begins alike */
    bool read = launches.api.stream_synchronize(l->stream_handle) == SAN_SUCCESS &&
                launches.api.memcpy_device_to_host(b->host, b->device, sizeof head, l->stream_handle) == SAN_SUCCESS;
    if (read)
        memcpy(&head, b->host, sizeof head);
    read = read && send_launch(b, head.taken, l->stream_handle);
    inject_count(RECORD_PIPE_DROP, not_read, !read);
    inject_count(RECORD_PIPE_DROP, past_table, launches.touches ? head.full : 0);
    buffer_give_back(b);
    (void)inject_outbox_send(0);
}

void sanitizer_launch_context_over(const void *context)
{
    pthread_mutex_lock(&launches.lock);
    for (int i = 0; i < BUFFERS; i++)
        if (launches.buffers[i].context == context && !launches.buffers[i].busy)
            launches.buffers[i] = (struct buffer){0};
    pthread_mutex_unlock(&launches.lock);
    sanitizer_ring_context_over(context);
}

void sanitizer_launch_finish(void)
{
    uint64_t busy = sanitizer_ring_finish();
    pthread_mutex_lock(&launches.lock);
    for (int i = 0; i < BUFFERS; i++)
        busy += launches.buffers[i].busy;
    uint64_t limit = launches.limit, cost = launches.cost, passed = launches.taken ? 0 : launches.passed;
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
