#include "trace/program/program.h"

void program_place(struct program_alloc *allocs, size_t n, uint64_t base, uint64_t align)
{
    if (align == 0) {
        align = PROGRAM_BLOCK_BYTES;
        base = PROGRAM_BASE;
    }
    for (size_t i = 0; i < n; i++) {
        base = (base + align - 1) / align * align;
        allocs[i].addr = base;
        base += allocs[i].bytes;
    }
}

void program_barrier(struct program_body *body)
{
    body->access[body->count++] = (struct program_access){.kind = PROGRAM_BARRIER};
}

uint64_t *program_scatter(struct program_body *body, struct program_access *access)
{
    uint64_t *lane = body->lanes[PROGRAM_LANE_SETS - ++body->lane_sets];
    access->lane = lane;
    access->lane_stride = 0;
    return lane;
}

uint32_t program_instructions(const struct program_body *body)
{
    uint32_t n = body->after + body->count;
    for (uint32_t i = 0; i < body->count; i++)
        n += body->access[i].before;
    return n;
}

uint64_t program_stalls(const struct program_body *body)
{
    uint64_t stalls = 0;
    uint32_t position = 0, needed = UINT32_MAX; /* the first instruction that needs a value still under way */
    for (uint32_t i = 0; i < body->count; i++) {
        const struct program_access *a = &body->access[i];
        position += a->before;
        if (needed <= position) {
            stalls |= 1ull << i;
            needed = UINT32_MAX;
        }
        if (program_loads(a) && a->use && a->active && position + a->use < needed)
            needed = position + a->use;
        position++;
    }
    return stalls;
}

static int ask(const struct program *program, void *run, uint32_t launch, uint64_t warp, uint32_t index,
               struct program_body *body, struct err *err)
{
    body->count = body->after = body->lane_sets = 0;
    body->turns = 1;
    body->last = false;
    return program->ops->body(run, launch, warp, index, body, err);
}

int program_body(const struct program *program, void *run, uint32_t launch, uint64_t warp, uint32_t index,
                 struct program_body *body, struct err *err)
{
    body->brief = body->rows = false;
    return ask(program, run, launch, warp, index, body, err);
}

int program_body_brief(const struct program *program, void *run, uint32_t launch, uint64_t warp, uint32_t index,
                       struct program_body *body, struct err *err)
{
    body->brief = body->rows = true;
    return ask(program, run, launch, warp, index, body, err);
}

int program_body_rows(const struct program *program, void *run, uint32_t launch, uint64_t warp, uint32_t index,
                      struct program_body *body, struct err *err)
{
    body->brief = false;
    body->rows = true;
    return ask(program, run, launch, warp, index, body, err);
}

int program_run_open(const struct program *program, void **run, struct err *err)
{
    *run = program->ops->run_open ? program->ops->run_open(program->state, err) : (void *)program->state;
    return *run ? 0 : -1;
}

void program_run_close(const struct program *program, void *run)
{
    if (program->ops->run_close && run)
        program->ops->run_close(run);
}

int program_check_launch(const struct program_launch *l, uint32_t number, struct err *err)
{
    if (l->blocks == 0)
        return err_set(err, "launch %u has no thread block", number);
    if (l->threads == 0 || l->threads > 1024)
        return err_set(err, "launch %u has blocks of %u threads; expected 1 to 1,024", number, l->threads);
    if (l->blocks > UINT64_C(0x100000000) || program_warps(l) > UINT32_MAX - 1)
        return err_set(err, "launch %u has %llu blocks of %u threads; expected at most 2^32 - 2 warps", number,
                       (unsigned long long)l->blocks, l->threads);
    return 0;
}
