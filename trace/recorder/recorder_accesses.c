#include "trace/recorder/recorder_events.h"

#include "trace/recorder/wire/sanitizer_abi.h"

int recorder_accesses_open(struct recorder_accesses *a, struct store *store, struct err *err)
{
    a->store = store;
    return access_open(&a->sink, store, err) || store_origin(store, "access_order", "order of arrival", err) ? -1 : 0;
}

bool recorder_accesses_wants(const struct record_pipe_message *m)
{
    return m->type == RECORD_PIPE_LAUNCH || m->type == RECORD_PIPE_ACCESS || m->type == RECORD_PIPE_LANES ||
           m->type == RECORD_PIPE_NARROW || m->type == RECORD_PIPE_LAUNCH_END;
}

static int end_launch(struct recorder_accesses *a, struct err *err)
{
    if (!a->in_launch)
        return 0;
    a->in_launch = false;
    return access_launch_end(&a->sink, err);
}

static struct store_value dimension(uint64_t value, uint64_t mask)
{
    return value & mask ? STORE_V_INT(value & mask) : STORE_V_NULL;
}

static int take_launch(struct recorder_accesses *a, const struct record_pipe_message *m, const char *name,
                       struct err *err)
{
    if (end_launch(a, err)) /* its end was lost */
        return -1;
    int64_t id = a->launches++;
    const struct store_value row[16] = {STORE_V_INT(id),
                                        STORE_V_TEXT(name),
                                        STORE_V_INT(id),
                                        STORE_V_NULL,
                                        STORE_V_NULL,
                                        dimension(m->addr, UINT32_MAX),
                                        dimension(m->addr >> 32, UINT16_MAX),
                                        dimension(m->addr >> 48, UINT16_MAX),
                                        dimension(m->bytes, UINT16_MAX),
                                        dimension(m->bytes >> 16, UINT16_MAX),
                                        dimension(m->bytes >> 32, UINT16_MAX),
                                        STORE_V_NULL,
                                        STORE_V_NULL,
                                        STORE_V_NULL,
                                        STORE_V_INT(m->flags),
                                        STORE_V_INT(m->kind)};
    a->in_launch = true;
    return store_row(a->store, "kernels", row, 16, err) || access_launch(&a->sink, id, err) ? -1 : 0;
}

/* The access is whole. */
static int add(struct recorder_accesses *a, struct err *err)
{
    return a->op.access ? access_add(&a->sink, &a->op, err) : 0;
}

static int take_access(struct recorder_accesses *a, const struct record_pipe_message *m, struct err *err)
{
    int lanes = __builtin_popcount(m->group);
    bool narrow = m->flags & RECORD_PIPE_ACCESS_NARROW;
    int each = narrow ? RECORD_PIPE_NARROW_EACH : RECORD_PIPE_LANES_EACH;
    int64_t most = (lanes + each - 2) / each;
    if (!a->in_launch || lanes == 0 || m->kind == 0 || m->kind > ACCESS_MOST_BYTES ||
        (m->duration != 0 && m->duration != most))
        return err_set(err, "an access makes no sense: %s launch, %d lanes, %u bytes per lane, %lld further messages",
                       a->in_launch ? "in a" : "outside of any", lanes, m->kind, (long long)m->duration);
    a->op = (struct access_op){.addrs = a->addrs,
                               .lanes = lanes,
                               .bytes = m->kind,
                               .access = access_of_flags(m->flags & ~RECORD_PIPE_ACCESS_NARROW),
                               .block = (uint32_t)((uint64_t)m->time >> 32),
                               .warp = (uint32_t)m->time,
                               .pc = m->id};
    a->prefetches += a->op.access == 0;
    a->narrow = narrow;
    a->addrs[0] = m->addr;
    a->filled = 1;
    a->expected = m->duration;
    if (a->expected)
        return 0;
    for (; a->filled < lanes; a->filled++)
        a->addrs[a->filled] = a->addrs[a->filled - 1] + m->extra;
    return add(a, err);
}

static int take_lanes(struct recorder_accesses *a, const struct record_pipe_message *m, struct err *err)
{
    int each = a->narrow ? RECORD_PIPE_NARROW_EACH : RECORD_PIPE_LANES_EACH;
    for (int i = 0; i < each && a->filled < a->op.lanes; i++)
        a->addrs[a->filled++] = a->narrow ? a->addrs[0] + (uint64_t)(int64_t)m->narrow[i] : m->lanes[i];
    return --a->expected == 0 ? add(a, err) : 0;
}

int recorder_accesses_take(struct recorder_accesses *a, const struct record_pipe_message *m, const char *name,
                           struct err *err)
{
    uint32_t further = a->narrow ? RECORD_PIPE_NARROW : RECORD_PIPE_LANES;
    bool is_further = m->type == RECORD_PIPE_LANES || m->type == RECORD_PIPE_NARROW;
    if (a->expected > 0 ? m->type != further : is_further)
        return err_set(err, "%lld messages with addresses are expected, and one of type %u came",
                       (long long)a->expected, m->type);
    switch (m->type) {
    case RECORD_PIPE_LAUNCH:
        return take_launch(a, m, name, err);
    case RECORD_PIPE_ACCESS:
        return take_access(a, m, err);
    case RECORD_PIPE_LANES:
    case RECORD_PIPE_NARROW:
        return take_lanes(a, m, err);
    default:
        return end_launch(a, err);
    }
}

int recorder_accesses_alloc(struct recorder_accesses *a, const struct record *record, struct err *err)
{
    struct record r = *record;
    const int64_t extra[ACCESS_EXTRAS] = {a->sink.accesses, 0};
    r.time = 0; /* the stream has none; table allocations has */
    return writer_add(&a->sink.writer, &r, extra, err);
}

int recorder_accesses_finish(struct recorder_accesses *a, struct err *err)
{
    if (end_launch(a, err) || access_flush(&a->sink, err))
        return -1;
    return a->prefetches ? store_skip(a->store, "prefetch instructions", a->prefetches, err) : 0;
}

void recorder_accesses_release(struct recorder_accesses *a)
{
    if (a->store)
        access_close(&a->sink);
}
