#include "replay/dram/dram.h"

#include <stdlib.h>
#include <string.h>

#include "replay/derive/derive.h"
#include "trace/base/mem.h"
#include "trace/base/sorted.h"
#include "trace/event/dram_map.h"
#include "trace/workloads/workload.h"

enum { ATOMS_MAX = 4, CHANNELS_MAX = 4096 };
static const int64_t latest_cycle = (INT64_C(1) << 56) - 1;
static const uint64_t request_kinds = UINT64_C(1) << RECORD_DRAM_READ | UINT64_C(1) << RECORD_DRAM_WRITE |
                                      UINT64_C(1) << RECORD_DRAM_WRITEBACK | UINT64_C(1) << RECORD_PIM;

/* What one input needs while it is read. */
struct load {
    struct dram_stream *stream;
    const struct dram_platform *dram;
    const struct gpu *gpu;
    struct progress *progress;
    struct dram_map map;
    bool packed;     /* addresses */
    int64_t from_hz; /* clock of the arrivals, 0: the DRAM's */
    bool untimed;
    uint64_t expected; /* records of the stream, 0: unknown */
};

/* The cycle of an arrival, up to latest_cycle + 1 for what comes later: latencies are added to it. */
static int64_t scale(const struct load *load, int64_t time)
{
    if (load->untimed || time < 0)
        return 0;
    const bool as_is = !load->from_hz || load->from_hz == load->dram->clock_hz;
    const __int128 cycle = as_is ? time : (__int128)time * load->dram->clock_hz / load->from_hz;
    return cycle > latest_cycle ? latest_cycle + 1 : (int64_t)cycle;
}

static int channel_of(struct dram_stream *stream, uint32_t channel, struct err *err)
{
    if (channel < stream->channels)
        return 0;
    if (channel >= CHANNELS_MAX)
        return err_set(err, "channel %u; expected at most %d", channel, CHANNELS_MAX - 1);
    size_t cap = stream->channels;
    const size_t had = stream->channels;
    if (mem_grow((void **)&stream->channel, &cap, channel + 1, sizeof *stream->channel, err))
        return -1;
    memset(stream->channel + had, 0, (channel + 1 - had) * sizeof *stream->channel);
    stream->channels = channel + 1;
    return 0;
}

/* The first growth goes to what the input may hold at once, if that is not too much. */
static int room_for_one(struct dram_stream_channel *c, uint64_t expected, struct err *err)
{
    enum { AT_ONCE = 1 << 24 };
    const size_t need = c->cap || expected > AT_ONCE ? c->count + 1 : (size_t)(expected ? expected : 1);
    return mem_grow((void **)&c->requests, &c->cap, need, sizeof *c->requests, err);
}

/* Ids are kept from the first one on that is not the request's position. */
static int keep_id(struct dram_stream_channel *c, uint64_t id, struct err *err)
{
    if (c->ids_cap < c->cap) {
        const bool first = !c->ids;
        if (mem_grow((void **)&c->ids, &c->ids_cap, c->cap, sizeof *c->ids, err))
            return -1;
        for (size_t i = 0; first && i < c->count; i++)
            c->ids[i] = i;
    }
    c->ids[c->count] = id;
    return 0;
}

static int add(struct load *load, const struct record *r, uint8_t flags, struct err *err)
{
    const struct dram_addr a = load->packed ? dram_addr_unpack(r->addr) : dram_map_decode(&load->map, r->addr);
    const uint64_t atoms =
        r->bytes ? (r->bytes + (uint64_t)load->dram->atom_bytes - 1) / (uint64_t)load->dram->atom_bytes : 1;
    if (a.bank >= (uint32_t)load->dram->banks)
        return err_set(err, "request %llu is for bank %u; the platform has %lld banks", (unsigned long long)r->id,
                       a.bank, (long long)load->dram->banks);
    if (atoms > ATOMS_MAX && !(flags & DRAM_IS_PIM))
        return err_set(err, "request %llu moves %llu bytes; expected at most %lld", (unsigned long long)r->id,
                       (unsigned long long)r->bytes, (long long)load->dram->atom_bytes * ATOMS_MAX);
    const int64_t arrival = scale(load, r->time);
    if (arrival > latest_cycle)
        return err_set(err, "request %llu arrives at %lld; expected a time before cycle 2^56",
                       (unsigned long long)r->id, (long long)r->time);
    if (channel_of(load->stream, a.channel, err))
        return err_at(err, "request %llu", (unsigned long long)r->id);
    struct dram_stream_channel *c = &load->stream->channel[a.channel];
    if (c->count >= UINT32_MAX - 1)
        return err_set(err, "more than %u requests for channel %u", UINT32_MAX - 1, a.channel);
    if (c->count == c->cap && room_for_one(c, load->expected, err))
        return -1;
    if ((c->ids || r->id != c->count) && keep_id(c, r->id, err))
        return -1;
    const bool pim = flags & DRAM_IS_PIM;
    flags |= (uint8_t)(pim ? 1 : atoms);
    if (r->flags & STREAM_L2_HIT)
        flags |= DRAM_L2_HIT;
    c->requests[c->count++] = (struct dram_request){arrival, a.row, (uint16_t)a.column, (uint8_t)a.bank, flags};
    c->class_count[pim]++;
    load->stream->class_count[pim]++;
    load->stream->count++;
    return 0;
}

/* A mark of one channel (flags 1: in addr), or of all. */
static void end_launch(struct dram_stream *stream, const struct record *r)
{
    const uint32_t only = r->flags & 1 ? dram_addr_unpack(r->addr).channel : UINT32_MAX;
    for (uint32_t i = 0; i < stream->channels; i++)
        if (stream->channel[i].count && (only == UINT32_MAX || only == i))
            stream->channel[i].requests[stream->channel[i].count - 1].flags |= DRAM_LAUNCH_END;
}

static int add_batch(struct load *load, const struct record *records, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct record *r = &records[i];
        int rc = 0;
        if (r->kind == RECORD_DRAM_READ)
            rc = add(load, r, 0, err);
        else if (r->kind == RECORD_DRAM_WRITE)
            rc = add(load, r, DRAM_IS_WRITE, err);
        else if (r->kind == RECORD_DRAM_WRITEBACK)
            rc = add(load, r, DRAM_IS_WRITE | DRAM_IS_POSTED, err);
        else if (r->kind == RECORD_PIM)
            rc = add(load, r, DRAM_IS_WRITE | DRAM_IS_PIM, err);
        else if (r->kind == RECORD_KERNEL_END)
            end_launch(load->stream, r);
        if (rc)
            return -1;
    }
    return 0;
}

/* --- programs --- */

bool dram_stream_stored(const struct store *store)
{
    for (int i = 0; i < store_stream_count(store); i++)
        if (store_stream(store, i)->kinds & request_kinds)
            return true;
    return false;
}

bool dram_stream_derives(const struct input *input)
{
    if (input->workload.type)
        return !input->workload.type->next || input->workload.type->produces != WORKLOAD_REQUESTS;
    return !dram_stream_stored(input->store) && store_stream_find(input->store, "accesses") >= 0;
}

static bool is_cancelled(const struct load *load)
{
    return load->progress && atomic_load(&load->progress->cancelled);
}

static int take_derived(void *ctx, const struct record *record, struct err *err)
{
    struct load *load = ctx;
    return is_cancelled(load) ? err_set(err, "cancelled") : add_batch(load, record, 1, err);
}

static int load_program(struct load *load, const struct input *input, struct err *err)
{
    const struct derive_options options = {
        .last = UINT64_MAX, .l2_bytes = load->gpu->l2_bytes, .l2_ways = load->gpu->l2_ways, .gpu = load->gpu};
    struct derive_input in;
    load->packed = false;
    load->untimed = load->stream->untimed = true;
    load->expected = 0;
    return derive_input_open(&in, input, VIEW_DRAM, err) ||
                   derive_dram_records(&in.source, &options, take_derived, load, NULL, err)
               ? -1
               : 0;
}

/* --- streams of requests --- */

static int load_workload(struct load *load, const struct input *input, struct err *err)
{
    const struct workload_type *type = input->workload.type;
    load->packed = true;
    load->untimed = false;
    load->from_hz = 0; /* in DRAM cycles */
    /* A workload's state is used up by next(): read a fresh one, so that an input can be read more than once. */
    void *state = type->open(input->workload.params, err);
    if (!state)
        return -1;
    struct record *records = mem_zalloc(STORE_BATCH, sizeof *records, err);
    int rc = records ? 0 : -1;
    for (size_t n = 1; !rc && n;) {
        rc = type->next(state, records, STORE_BATCH, &n, err);
        if (!rc)
            rc = add_batch(load, records, n, err);
        if (is_cancelled(load))
            rc = err_set(err, "cancelled");
    }
    free(records);
    type->close(state);
    return rc;
}

static void choose_clock(struct load *load, const struct stream *stream)
{
    load->from_hz = 0;
    load->untimed = stream->unit == TIME_NONE;
    if (stream->unit == TIME_NS)
        load->from_hz = 1000000000;
    else if (stream->unit == TIME_CYCLES && stream->clock_hz)
        load->from_hz = stream->clock_hz;
    else if (stream->unit == TIME_CYCLES && strcmp(stream->clock, "core") == 0)
        load->from_hz = load->gpu->clock_hz;
}

static int load_store(struct load *load, const struct input *input, struct err *err)
{
    for (int i = 0; i < store_stream_count(input->store); i++) {
        const struct stream *stream = store_stream(input->store, i);
        struct store_walk w = {0};
        load->packed = stream->space == ADDR_DRAM_PACKED;
        load->expected = stream->records;
        choose_clock(load, stream);
        while (store_walk_next(&w, input->store, i, err))
            w.failed = add_batch(load, w.r, 1, err) || (w.at == 0 && is_cancelled(load));
        if (store_walk_end(&w))
            return -1;
        load->stream->untimed |= load->untimed && stream->kinds & request_kinds;
    }
    return 0;
}

/* --- order --- */

struct sortable {
    struct dram_request request;
    uint64_t id;
    uint32_t at;
};

static int by_arrival(const void *a, const void *b)
{
    const struct sortable *x = a, *y = b;
    return ORDER_OF(x->request.arrival, y->request.arrival)
               ?: ORDER_OF(x->request.flags & DRAM_IS_PIM, y->request.flags & DRAM_IS_PIM) ?: ORDER_OF(x->at, y->at);
}

/* Of one input the file's order counts where arrivals ascend; several inputs are merged, MEM first in ties. */
static int sort_channel(struct dram_stream_channel *c, bool merge, struct err *err)
{
    bool sorted = true;
    for (size_t i = 1; i < c->count && sorted; i++)
        sorted = c->requests[i].arrival >= c->requests[i - 1].arrival;
    if (sorted && !merge)
        return 0;
    struct sortable *s = mem_zalloc(c->count, sizeof *s, err);
    if (!s)
        return -1;
    for (size_t i = 0; i < c->count; i++)
        s[i] = (struct sortable){c->requests[i], c->ids ? c->ids[i] : i, (uint32_t)i};
    sort_items(s, c->count, sizeof *s, by_arrival);
    if (!c->ids && mem_grow((void **)&c->ids, &c->ids_cap, c->count, sizeof *c->ids, err)) {
        free(s);
        return -1;
    }
    for (size_t i = 0; i < c->count; i++) {
        c->requests[i] = s[i].request;
        c->ids[i] = s[i].id;
    }
    free(s);
    return 0;
}

int dram_check_pim(const struct platform *platform, struct err *err)
{
    const struct dram_platform *dram = platform_section_get(platform, "dram");
    if (dram->pim_sms && dram->banks == DRAM_NARROW)
        return 0;
    return err_set(err,
                   "platform %s takes no PIM requests: its [dram] has pim_sms %lld and %lld banks; expected PIM units "
                   "in 16 banks, as gv100 has",
                   platform->name, (long long)dram->pim_sms, (long long)dram->banks);
}

int dram_stream_load(struct dram_stream *stream, const struct input *inputs, size_t count, uint64_t take,
                     const struct platform *platform, struct progress *progress, struct err *err)
{
    memset(stream, 0, sizeof *stream);
    struct load load = {.stream = stream,
                        .dram = platform_section_get(platform, "dram"),
                        .gpu = platform_section_get(platform, "gpu"),
                        .progress = progress};
    if (dram_map_init(&load.map, load.dram->map, err))
        return err_at(err, "[dram]");
    size_t taken = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(take >> i & 1))
            continue;
        taken++;
        if ((dram_stream_derives(&inputs[i]) ? load_program
             : inputs[i].store               ? load_store
                                             : load_workload)(&load, &inputs[i], err)) {
            dram_stream_release(stream);
            return err_at(err, "%s", inputs[i].spec);
        }
    }
    int rc = stream->class_count[DRAM_PIM] ? dram_check_pim(platform, err) : 0;
    for (uint32_t i = 0; i < stream->channels && !rc; i++)
        rc = sort_channel(&stream->channel[i], taken > 1, err);
    if (rc)
        dram_stream_release(stream);
    return rc;
}

int dram_stream_split(struct dram_stream *stream, struct err *err)
{
    for (uint32_t i = 0; i < stream->channels; i++) {
        struct dram_stream_channel *c = &stream->channel[i];
        size_t n[2] = {0, 0};
        for (int k = 0; k < 2 && !c->class_ids[k]; k++)
            if (!(c->class_ids[k] = mem_zalloc(c->class_count[k] + 1, sizeof **c->class_ids, err)))
                return -1;
        for (size_t r = 0; r < c->count; r++) {
            const int k = (c->requests[r].flags & DRAM_IS_PIM) != 0;
            c->class_ids[k][n[k]++] = (uint32_t)r;
        }
    }
    return 0;
}

void dram_stream_release(struct dram_stream *stream)
{
    for (uint32_t i = 0; i < stream->channels; i++) {
        free(stream->channel[i].requests);
        free(stream->channel[i].ids);
        free(stream->channel[i].class_ids[0]);
        free(stream->channel[i].class_ids[1]);
    }
    free(stream->channel);
    memset(stream, 0, sizeof *stream);
}
