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
    uint32_t at = 1;
    for (; at < n; m->duration++) {
        struct record_pipe_message *lanes = &messages[1 + m->duration];
        *lanes = (struct record_pipe_message){.type = RECORD_PIPE_LANES};
        for (int i = 0; i < RECORD_PIPE_LANES_EACH && at < n; i++)
            lanes->lanes[i] = addrs[at++];
    }
    return 1 + (size_t)m->duration;
}

size_t sanitizer_touch_messages(const struct touch_entry *entry, struct record_pipe_message *m)
{
    const uint64_t flags = entry->page & ((1u << TOUCH_PAGE_BITS) - 1);
    if (entry->page == 0)
        return 0;
    *m = (struct record_pipe_message){.type = RECORD_PIPE_ACCESS, .kind = 1};
    m->time = (int64_t)entry->who;
    m->addr = entry->page - flags;
    m->group = 1;
    m->flags = (uint32_t)flags;
    return 1;
}
