#include <stdlib.h>
#include <string.h>

#include "models/gpu/sm.h"
#include "trace/base/mem.h"

/* A stretch longer than this is as good as endless. */
#define LONGEST (UINT64_C(1) << 48)

static int keep_table(struct sm_body *out, struct sm_access *to, const struct program_access *a, size_t number,
                      struct err *err)
{
    if (mem_grow((void **)&out->table, &out->table_cap, number, sizeof *out->table, err))
        return -1;
    memcpy(out->table[number - 1], a->lane, sizeof *out->table);
    to->table = (uint8_t)number;
    to->addr = 0;
    return 0;
}

static void keep_access(struct sm_access *to, const struct program_access *a, uint32_t pos, bool atomics_stall)
{
    *to = (struct sm_access){.addr = a->addr,
                             .turn_stride = a->turn_stride,
                             .lane_stride = a->lane_stride,
                             .active = a->active,
                             .pos = pos,
                             .need = a->use ? pos + a->use : UINT32_MAX,
                             .bytes = a->bytes,
                             .kind = a->kind};
    if (a->kind == RECORD_ATOMIC && atomics_stall)
        to->need = pos + 1;
}

int sm_body_keep(struct sm_body *out, const struct program_body *body, bool atomics_stall, struct err *err)
{
    uint32_t pos = 0;
    size_t tables = 0;
    out->count = 0;
    if (mem_grow((void **)&out->access, &out->access_cap, body->count, sizeof *out->access, err))
        return -1;
    for (uint32_t i = 0; i < body->count; i++, pos++) {
        const struct program_access *a = &body->access[i];
        pos += a->before;
        if (!a->active && a->kind != PROGRAM_BARRIER)
            continue;
        struct sm_access *to = &out->access[out->count++];
        keep_access(to, a, pos, atomics_stall);
        if (a->lane && a->kind != PROGRAM_BARRIER && keep_table(out, to, a, ++tables, err))
            return -1;
    }
    out->length = (uint64_t)pos + body->after;
    out->turns = body->turns;
    if (!out->count) {
        out->length = out->length && out->turns > LONGEST / out->length ? LONGEST : out->length * out->turns;
        out->turns = 1;
    }
    return 0;
}

void sm_body_release(struct sm_body *body)
{
    free(body->access);
    free(body->table);
}

int sm_body_sectors(const struct sm_body *body, uint32_t i, uint64_t turn, struct sectors_line line[SECTORS_LINES])
{
    const struct sm_access *a = &body->access[i];
    struct sectors_of of = {.first = a->addr + turn * (uint64_t)a->turn_stride,
                            .stride = a->lane_stride,
                            .lane = a->table ? body->table[a->table - 1] : NULL,
                            .active = a->active,
                            .bytes = a->bytes,
                            .covers = a->kind == RECORD_WRITE || a->kind == PROGRAM_PIM};
    return sectors_of(&of, line);
}
