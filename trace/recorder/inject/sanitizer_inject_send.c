#include <pthread.h>
#include <time.h>

#include "trace/recorder/inject/sanitizer_inject.h"

enum { BATCH = 1024, SEND_WAIT_MS = 2000, NAP_US = 500 };
enum { SLOT_MESSAGES = 1 + (32 - 1 + RECORD_PIPE_LANES_EACH - 1) / RECORD_PIPE_LANES_EACH };

/* Reasons in table dropped. */
static const char not_delivered[] = "warp accesses that the recorder did not take in time",
                  not_filled[] = "slots of the ring that were not filled";

/* One launch at a time: its thread, and the helper that drains its ring, in turn. */
static struct {
    pthread_mutex_t lock; /* of `taken` and `endless` */
    bool taken;
    bool endless; /* whose turn it is was waited for in vain */
    int64_t turn_ms;
    bool stuck; /* the recorder did not read for SEND_WAIT_MS: do not wait for it any more */
    size_t n;
    uint64_t accesses, lost, unfilled; /* in the messages; of the launch */
    struct record_pipe_message messages[BATCH + SLOT_MESSAGES];
} sending = {.lock = PTHREAD_MUTEX_INITIALIZER};

void sanitizer_send_start(int64_t turn_ms)
{
    sending.turn_ms = turn_ms;
}

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

bool sanitizer_send_begin(const struct record_pipe_message *launch, bool wait)
{
    const struct timespec nap = {0, NAP_US * 1000};
    const int64_t naps = wait ? sending.turn_ms * 1000 / NAP_US : 0;
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

void sanitizer_send_flush(void)
{
    int wait_ms = sending.stuck ? 0 : SEND_WAIT_MS;
    if (sending.n == 0)
        return;
    if (!inject_offer(sending.messages, sending.n)) {
        (void)inject_outbox_send(wait_ms);
        if (!inject_offer(sending.messages, sending.n))
            sending.lost += sending.accesses;
    }
    /* What is sent takes no memory of the program; the recorder sets the pace. */
    sending.stuck |= inject_outbox_send(wait_ms) != 0;
    sending.n = 0;
    sending.accesses = 0;
}

/* The addresses of the active lanes, in lane order; how many. */
static uint32_t active_addresses(const struct access_slot *slot, uint64_t addrs[32])
{
    uint32_t n = 0;
    for (uint32_t lane = 0; lane < 32; lane++)
        if (slot->mask >> lane & 1)
            addrs[n++] = slot->addrs[lane];
    return n;
}

/* Whether all addresses lie within 2 GiB of the first, as those of one array mostly do: half the messages then. */
static bool is_narrow(const uint64_t *addrs, uint32_t n)
{
    bool narrow = true;
    for (uint32_t i = 1; i < n; i++)
        narrow &= (int64_t)(addrs[i] - addrs[0]) == (int32_t)(addrs[i] - addrs[0]);
    return narrow;
}

/* A message with lanes from `at` on; how many. */
static uint32_t further_lanes(struct record_pipe_message *m, const uint64_t *addrs, uint32_t at, uint32_t n,
                              bool narrow)
{
    uint32_t most = narrow ? RECORD_PIPE_NARROW_EACH : RECORD_PIPE_LANES_EACH, i = 0;
    *m = (struct record_pipe_message){.type = narrow ? RECORD_PIPE_NARROW : RECORD_PIPE_LANES};
    for (; i < most && at + i < n; i++)
        if (narrow)
            m->narrow[i] = (int32_t)(addrs[at + i] - addrs[0]);
        else
            m->lanes[i] = addrs[at + i];
    return i;
}

/* The messages of an access; their number, 0 if the slot was not filled. */
static size_t slot_messages(const struct access_slot *slot, struct record_pipe_message messages[SLOT_MESSAGES])
{
    uint64_t addrs[32];
    uint32_t n = active_addresses(slot, addrs);
    if (n == 0 || slot->bytes == 0)
        return 0;
    uint64_t stride = n > 1 ? addrs[1] - addrs[0] : 0;
    bool regular = true;
    for (uint32_t i = 1; i < n; i++)
        regular &= addrs[i] - addrs[i - 1] == stride;
    struct record_pipe_message *m = &messages[0];
    *m = (struct record_pipe_message){.type = RECORD_PIPE_ACCESS, .kind = slot->bytes, .id = slot->pc};
    m->time = (int64_t)((uint64_t)slot->block << 32 | slot->warp);
    m->addr = addrs[0];
    m->group = slot->mask;
    m->flags = slot->flags;
    if (regular) {
        m->extra = stride;
        return 1;
    }
    if (is_narrow(addrs, n))
        m->flags |= RECORD_PIPE_ACCESS_NARROW;
    for (uint32_t at = 1; at < n; m->duration++)
        at += further_lanes(&messages[1 + m->duration], addrs, at, n, m->flags & RECORD_PIPE_ACCESS_NARROW);
    return 1 + (size_t)m->duration;
}

void sanitizer_send_slot(const struct access_slot *slot)
{
    size_t n = slot_messages(slot, sending.messages + sending.n);
    sending.unfilled += n == 0;
    sending.accesses += n > 0;
    sending.n += n;
    if (sending.n >= BATCH)
        sanitizer_send_flush();
}

void sanitizer_send_unfilled(uint64_t slots)
{
    sending.unfilled += slots;
}

void sanitizer_send_end(void)
{
    sending.messages[sending.n++] = (struct record_pipe_message){.type = RECORD_PIPE_LAUNCH_END};
    sanitizer_send_flush();
    inject_count(RECORD_PIPE_DROP, not_delivered, sending.lost);
    inject_count(RECORD_PIPE_DROP, not_filled, sending.unfilled);
    pthread_mutex_lock(&sending.lock);
    sending.taken = sending.endless = false;
    pthread_mutex_unlock(&sending.lock);
}
