#include "trace/derived/recording.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "trace/base/mem.h"

/* Whose the record is; RECORDING_ANY where it does not say. */
static struct recording owner(const struct recording_walk *w)
{
    struct recording o = {RECORDING_ANY, RECORDING_ANY};
    const uint32_t kind = w->at.r->kind;
    if (store_walk_extra(&w->at, w->process) != 0)
        o.process = store_walk_extra(&w->at, w->process);
    int side = kind == RECORD_MIGRATE_H2D ? w->dst : kind == RECORD_MIGRATE_D2H || kind == RECORD_FAULT ? w->src : -1;
    if (side >= 0)
        o.gpu = store_walk_extra(&w->at, side);
    return o;
}

static bool fits(int64_t mine, int64_t wanted)
{
    return mine == RECORDING_ANY || wanted == RECORDING_ANY || mine == wanted;
}

static bool is_in(struct recording mine, struct recording wanted)
{
    return fits(mine.process, wanted.process) && fits(mine.gpu, wanted.gpu);
}

bool recording_walk_next(struct recording_walk *w, struct store *store, struct recording recording, struct err *err)
{
    for (; w->stream < store_stream_count(store); w->stream++) {
        const struct stream *stream = store_stream(store, w->stream);
        if (stream->unit != TIME_NS)
            continue;
        if (!w->at.cursor) {
            w->process = store_extra(stream, "process_id");
            w->src = store_extra(stream, "src_id");
            w->dst = store_extra(stream, "dst_id");
        }
        while (store_walk_next(&w->at, store, w->stream, err))
            if (is_in(owner(w), recording))
                return true;
        if (store_walk_end(&w->at))
            return false;
        w->at = (struct store_walk){0};
    }
    return false;
}

static int note(struct recordings *r, size_t *last, struct recording o, struct err *err)
{
    if (*last < r->count && r->items[*last].process == o.process && r->items[*last].gpu == o.gpu)
        return 0;
    for (*last = 0; *last < r->count; ++*last)
        if (r->items[*last].process == o.process && r->items[*last].gpu == o.gpu)
            return 0;
    if (r->count == RECORDINGS_MAX)
        return err_set(err, "records of more than %d processes and GPUs", RECORDINGS_MAX);
    r->items[r->count++] = o;
    return 0;
}

/* Records of an unknown process go with every process, so they make no recording beside known ones. */
static void forget_unknown(struct recordings *r)
{
    size_t known = 0;
    for (size_t i = 0; i < r->count; i++)
        if (r->items[i].process != RECORDING_ANY)
            r->items[known++] = r->items[i];
    r->count = known ? known : r->count;
}

int recordings_find(struct recordings *r, struct store *store, struct err *err)
{
    const struct recording any = {RECORDING_ANY, RECORDING_ANY};
    struct recording_walk w = {0};
    size_t last = 0;
    r->count = 0;
    while (recording_walk_next(&w, store, any, err)) {
        struct recording o = owner(&w);
        w.at.failed = o.gpu != RECORDING_ANY && note(r, &last, o, err);
    }
    forget_unknown(r);
    return store_walk_end(&w.at) ? err_at(err, "%s", store_path(store)) : 0;
}

const char *recordings_list(const struct recordings *r, char *text, size_t size)
{
    text[0] = 0;
    for (size_t i = 0; i < r->count && i < 8; i++)
        (void)mem_add_text(text, size,
                           r->items[i].process == RECORDING_ANY ? "%sGPU %" PRId64
                                                                : "%sGPU %" PRId64 " of process %" PRId64,
                           i ? "; " : "", r->items[i].gpu, r->items[i].process);
    if (r->count > 8)
        (void)mem_add_text(text, size, "; and %zu more", r->count - 8);
    return text;
}

int recording_choose(struct recording *chosen, struct recording wanted, struct store *store, struct err *err)
{
    struct recordings r;
    int rc = recordings_find(&r, store, err);
    size_t fitting = 0;
    *chosen = wanted;
    for (size_t i = 0; rc == 0 && i < r.count; i++)
        if (is_in(r.items[i], wanted)) {
            *chosen = r.items[i];
            fitting++;
        }
    if (rc == 0 && r.count > 0 && fitting != 1) {
        char text[512];
        rc = err_set(err, "%s holds %s: %s; choose by process and GPU", store_path(store),
                     fitting ? "several recordings" : "no such recording", recordings_list(&r, text, sizeof text));
    }
    return rc;
}
