#include "trace/recorder/inject/sanitizer_inject.h"

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

size_t sanitizer_slot_messages(const struct access_slot *slot,
                               struct record_pipe_message messages[SANITIZER_SLOT_MESSAGES])
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
