#include "replay/derive/recorded_program.h"

#include <stdlib.h>

#include "replay/derive/derive_space.h"
#include "trace/base/mem.h"

/* A line of an access in one word: its address; below that its sectors, whether the access begins with it, and what it
 * does; above that whether its lanes have as many bytes as its sectors, and whether the warp has jumped back to it. */
enum { SECTORS = 15, FIRST = 16, KIND_SHIFT = 5, KIND_MASK = 3 };
#define WHOLE (UINT64_C(1) << 63)
#define BACK  (UINT64_C(1) << 62)
#define FLAGS (WHOLE | BACK)

struct launch {
    struct program_launch shape;
    size_t starts; /* its warps' bodies are starts[w] .. starts[w + 1] */
};

struct recorded_program {
    struct program_alloc allocs[PROGRAM_ALLOCS]; /* the host's, then what stays on the GPU */
    size_t alloc_count;
    struct launch *launches;
    size_t launch_count, launch_cap;
    uint64_t *lines;
    size_t line_count, line_cap;
    size_t *bodies; /* where each begins in `lines`; the last one ends them */
    size_t body_count, body_cap;
    size_t *starts; /* into bodies */
    size_t start_count, start_cap;
    /* Of the launch that is read. */
    bool open;
    bool waits; /* for each load before the next */
    struct derive_launches shapes;
    struct came {
        uint64_t id, line, pc;
    } * came;
    size_t came_count, came_cap;
};

static uint32_t kind_of(uint64_t line)
{
    return line >> KIND_SHIFT & KIND_MASK;
}

/* --- reading --- */

/* Device memory as allocations; what is too much to be told apart counts as the host's neighbour, left out. */
static int take_memory(struct recorded_program *p, const struct derive_source *source, struct err *err)
{
    struct derive_memory memory = {0};
    int rc = derive_memory_open(&memory, source, err);
    p->allocs[p->alloc_count++] = (struct program_alloc){.name = "host", .bytes = 1, .host = true};
    for (size_t i = 0; rc == 0 && i < memory.device.count; i++) {
        const struct derive_range *r = &memory.device.items[i];
        if (!derive_memory_stays(&memory, r->first) || !derive_memory_stays(&memory, r->last))
            continue;
        if (p->alloc_count == PROGRAM_ALLOCS)
            rc = err_set(err, "%s has more than %d stretches of GPU memory: its loads are not simulated", source->name,
                         PROGRAM_ALLOCS - 1);
        else
            p->allocs[p->alloc_count++] =
                (struct program_alloc){.addr = r->first, .bytes = r->last - r->first + 1, .device = true};
    }
    derive_memory_release(&memory);
    return rc;
}

/* Infer the launch shape that table kernels lacks from the recorded warps. */
static int find_shape(struct recorded_program *p, struct program_launch *shape, struct err *err)
{
    uint64_t blocks = 0, warps = 0;
    for (size_t i = 0; i < p->came_count; i++) {
        const uint64_t id = p->came[i].id;
        blocks = (id >> 32) >= blocks ? (id >> 32) + 1 : blocks;
        warps = (uint32_t)id >= warps ? (uint64_t)(uint32_t)id + 1 : warps;
    }
    shape->kernel = "";
    if (!shape->blocks || !shape->threads) {
        shape->blocks = blocks ? blocks : 1;
        shape->threads = warps > 32 ? 1025 : (uint32_t)(warps ? warps : 1) * PROGRAM_LANES;
    }
    if (program_check_launch(shape, (uint32_t)p->launch_count, err))
        return -1;
    return blocks <= shape->blocks && warps <= program_warps_of_block(shape)
               ? 0
               : err_set(err, "launch %zu has accesses of block %llu, warp %llu, outside its grid", p->launch_count,
                         (unsigned long long)blocks - 1, (unsigned long long)warps - 1);
}

/* Accesses of a body that an instruction takes, its lines [at, *next); *tables: of them, those that may need addresses
 * for each lane. */
static uint32_t pieces_of(const struct recorded_program *p, size_t at, size_t end, size_t *next, uint32_t *tables)
{
    uint32_t sectors = 0;
    size_t i = at;
    do
        sectors += (uint32_t)__builtin_popcountll(p->lines[i++] & SECTORS);
    while (i < end && !(p->lines[i] & FIRST));
    *next = i;
    const uint64_t mask = p->lines[at] & SECTORS, run = mask >> __builtin_ctzll(mask);
    const uint32_t pieces = (sectors + PROGRAM_LANES - 1) / PROGRAM_LANES;
    *tables = i == at + 1 && !(run & (run + 1)) ? 0 : pieces;
    return pieces;
}

/* The bodies of a warp's lines [at, end). */
static int cut(struct recorded_program *p, size_t at, size_t end, struct err *err)
{
    uint32_t pieces = PROGRAM_ACCESSES, tables = 0;
    bool loads = false;
    for (size_t next; at < end; at = next) {
        uint32_t own_tables;
        const uint32_t own = pieces_of(p, at, end, &next, &own_tables);
        const bool load = kind_of(p->lines[at]) == RECORD_READ;
        if (pieces + own > PROGRAM_ACCESSES || tables + own_tables > PROGRAM_LANE_SETS || p->lines[at] & BACK ||
            (loads && (!load || p->waits))) {
            if (MEM_ADD(p->bodies, p->body_count, p->body_cap, err, at))
                return -1;
            pieces = tables = 0;
            loads = false;
        }
        loads |= load;
        pieces += own;
        tables += own_tables;
    }
    return 0;
}

/* Of what came, in the order in which it did, to where each warp's lines end; then those of the next begin. */
static int sort_lines(struct recorded_program *p, uint64_t each, uint64_t warps, size_t *end, struct err *err)
{
    uint64_t *pc = mem_zalloc(warps, sizeof *pc, err); /* of each warp's last access */
    if (!pc || mem_grow((void **)&p->lines, &p->line_cap, p->line_count + p->came_count, sizeof *p->lines, err)) {
        free(pc);
        return -1;
    }
    for (uint64_t w = 0; w <= warps; w++)
        end[w] = w ? 0 : p->line_count;
    for (size_t i = 0; i < p->came_count; i++)
        end[(p->came[i].id >> 32) * each + (uint32_t)p->came[i].id + 1]++;
    for (uint64_t w = 0; w < warps; w++)
        end[w + 1] += end[w];
    for (size_t i = 0; i < p->came_count; i++) {
        const struct came *c = &p->came[i];
        const uint64_t w = (c->id >> 32) * each + (uint32_t)c->id;
        p->lines[end[w]++] = c->line | (c->line & FIRST && c->pc <= pc[w] ? BACK : 0);
        pc[w] = c->pc;
    }
    p->line_count += p->came_count;
    p->came_count = 0;
    free(pc);
    return 0;
}

/* The accesses of the launch, warp by warp. */
static int close_launch(struct recorded_program *p, struct err *err)
{
    if (!p->open)
        return 0;
    struct launch *l = &p->launches[p->launch_count - 1];
    p->open = false;
    if (find_shape(p, &l->shape, err))
        return -1;
    const uint64_t warps = program_warps(&l->shape);
    size_t at = p->line_count;
    l->starts = p->start_count;
    if (mem_grow((void **)&p->starts, &p->start_cap, p->start_count + warps + 2, sizeof *p->starts, err))
        return -1;
    size_t *start = p->starts + l->starts, *end = start + 1;
    if (sort_lines(p, program_warps_of_block(&l->shape), warps, end, err))
        return -1;
    for (uint64_t w = 0; w < warps; at = end[w++]) {
        start[w] = p->body_count;
        if (cut(p, at, end[w], err))
            return -1;
    }
    start[warps] = p->body_count;
    p->start_count += warps + 1;
    return 0;
}

static int begin_launch(void *ctx, const struct record *kernel, struct err *err)
{
    struct recorded_program *p = ctx;
    struct launch l = {.starts = 0};
    if (close_launch(p, err))
        return -1;
    derive_launches_get(&p->shapes, kernel->id, &l.shape);
    p->open = true;
    return MEM_ADD(p->launches, p->launch_count, p->launch_cap, err, l);
}

static int take_op(void *ctx, const struct program_op *op, struct err *err)
{
    struct recorded_program *p = ctx;
    if (!p->open || op->access > RECORD_ATOMIC)
        return p->open ? 0 : err_set(err, "accesses come before the first launch: they are not simulated");
    for (int i = 0; i < op->lines; i++) {
        uint64_t line = (op->line[i].addr & ~FLAGS) | op->line[i].sectors | (uint64_t)op->access << KIND_SHIFT;
        line |= (i ? 0 : FIRST) | (op->bytes >= op->sectors ? WHOLE : 0);
        if (MEM_ADD(p->came, p->came_count, p->came_cap, err, (struct came){op->id, line, op->pc}))
            return -1;
    }
    return 0;
}

static int end_launch(void *ctx, uint32_t launch, struct err *err)
{
    (void)launch;
    return close_launch(ctx, err);
}

static int read_accesses(struct recorded_program *p, const struct derive_source *source, struct err *err)
{
    static const struct program_taker taker = {begin_launch, take_op, end_launch};
    const struct derive_options all = {.last = UINT64_MAX};
    if (take_memory(p, source, err) || derive_launches_open(&p->shapes, source, err) ||
        derive_walk(source, &all, &taker, p, NULL, err) || close_launch(p, err))
        return -1;
    return MEM_ADD(p->bodies, p->body_count, p->body_cap, err, p->line_count);
}

struct recorded_program *recorded_program_open(const struct derive_source *source, bool waits, struct err *err)
{
    struct recorded_program *p = mem_zalloc(1, sizeof *p, err);
    if (!p)
        return NULL;
    p->waits = waits;
    if (read_accesses(p, source, err) == 0)
        return p;
    recorded_program_close(p);
    return NULL;
}

void recorded_program_close(struct recorded_program *p)
{
    if (!p)
        return;
    derive_launches_release(&p->shapes);
    free(p->came);
    free(p->starts);
    free(p->bodies);
    free(p->lines);
    free(p->launches);
    free(p);
}

/* --- the program --- */

static const struct program_alloc *allocs(const void *state, size_t *n)
{
    const struct recorded_program *p = state;
    *n = p->alloc_count;
    return p->allocs;
}

static uint32_t launches(const void *state)
{
    return (uint32_t)((const struct recorded_program *)state)->launch_count;
}

static void launch(const void *state, uint32_t number, struct program_launch *out)
{
    *out = ((const struct recorded_program *)state)->launches[number].shape;
}

/* Which allocation a line is of. */
static unsigned alloc_at(const struct recorded_program *p, uint64_t addr)
{
    for (unsigned i = 1; i < p->alloc_count; i++)
        if (addr - p->allocs[i].addr < p->allocs[i].bytes)
            return i;
    return 0;
}

/* n sectors as an access: a lane for the half of each, or for half a sector. */
static void add_piece(const struct recorded_program *p, struct program_body *b, uint64_t line, const uint64_t *sector,
                      uint32_t n)
{
    const uint32_t each = line & WHOLE && 2 * n <= PROGRAM_LANES ? 2 : 1, step = ACCESS_SECTOR / each;
    struct program_access *a = program_load(b, p->allocs, 0, 0, 16);
    a->kind = (uint8_t)kind_of(line);
    a->use = 0;
    a->alloc = (uint8_t)alloc_at(p, sector[0]);
    a->addr = sector[0];
    a->lane_stride = step;
    a->active = program_first_lanes((uint64_t)n * each);
    uint32_t i = 1;
    while (i < n && sector[i] == sector[i - 1] + ACCESS_SECTOR)
        i++;
    uint64_t *lane = i < n ? program_scatter(b, a) : NULL;
    for (i = 0; lane && i < n * each; i++)
        lane[i] = sector[i / each] + (uint64_t)(i % each) * step;
}

uint64_t recorded_program_stored(const struct recorded_program *p)
{
    uint64_t sectors = 0;
    for (size_t i = 0; i < p->line_count; i++)
        if (kind_of(p->lines[i]) != RECORD_READ && !alloc_at(p, (p->lines[i] & ~FLAGS) / ACCESS_LINE * ACCESS_LINE))
            sectors += (uint64_t)__builtin_popcountll(p->lines[i] & SECTORS);
    return sectors * ACCESS_SECTOR;
}

static int body(void *run, uint32_t number, uint64_t warp, uint32_t index, struct program_body *out, struct err *err)
{
    const struct recorded_program *p = run;
    const size_t *start = &p->starts[p->launches[number].starts + warp], b = start[0] + index;
    uint64_t sector[PROGRAM_LANES];
    uint32_t n = 0;
    (void)err;
    if (b >= start[1])
        return 0;
    for (size_t i = p->bodies[b]; i < p->bodies[b + 1]; i++) {
        const uint64_t line = p->lines[i], addr = (line & ~FLAGS) / ACCESS_LINE * ACCESS_LINE;
        for (uint32_t s = 0; s < ACCESS_LINE / ACCESS_SECTOR; s++)
            if (line >> s & 1)
                sector[n++] = addr + s * (uint64_t)ACCESS_SECTOR;
        const bool ends = i + 1 == p->bodies[b + 1] || p->lines[i + 1] & FIRST;
        if (ends || n + ACCESS_LINE / ACCESS_SECTOR > PROGRAM_LANES) {
            add_piece(p, out, line, sector, n);
            n = 0;
        }
    }
    out->last = b + 1 == start[1];
    return 1;
}

struct program recorded_program_of(const struct recorded_program *p)
{
    static const struct program_ops ops = {.allocs = allocs, .launches = launches, .launch = launch, .body = body};
    return (struct program){.ops = &ops, .state = p, .compute_ns = -1};
}
