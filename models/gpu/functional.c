#include "models/gpu/functional.h"

#include <stdlib.h>
#include <string.h>

#include "models/gpu/occupancy.h"
#include "models/gpu/sm.h"
#include "trace/base/mem.h"

/* A warp on its way through its bodies. */
struct walker {
    uint64_t number, turn;
    uint32_t index, access;
    bool done, held;
    struct sm_body body;
};

/* A multiprocessor: places of blocks, each of so many walkers. */
struct place {
    uint32_t left; /* warps not done; 0: free */
};

struct run {
    const struct functional *how;
    void *program;
    struct l2 *l2;
    struct l1 **l1;
    uint64_t *reads; /* of DRAM by channel, in this stretch */
    uint32_t channels;
    uint64_t in_stretch, busiest, all; /* of the stretches before */
    struct walker *walker;
    struct place *place;
    struct program_launch shape;
    uint32_t launch, warps, places; /* warps of a block; places of a multiprocessor */
    uint64_t next;                  /* block */
    struct functional_counts counts;
    struct program_body body;
};

/* --- L2 and DRAM --- */

/* The bits of a number under a mask, side by side. */
static uint32_t gather(uint64_t value, uint64_t mask)
{
    uint32_t out = 0;
    for (uint32_t i = 0; mask; mask &= mask - 1, i++)
        out |= (uint32_t)(value >> __builtin_ctzll(mask) & 1) << i;
    return out;
}

static int ask_l2(struct run *r, uint64_t addr, uint8_t kind, bool whole, struct err *err)
{
    struct l2_question q = {.addr = addr,
                            .slice = gather(addr, r->how->l2->slice_bits),
                            .room = 64,
                            .reads = kind != RECORD_WRITE,
                            .writes = kind != RECORD_READ,
                            .whole = whole};
    struct l2_result result = {0};
    uint32_t miss;
    const uint32_t *waiters;
    enum l2_answer answer = l2_take(r->l2, &q, &result, &miss);
    if (answer == L2_WAIT || answer == L2_MERGED)
        return err_set(err, "the L2 keeps waiting with nothing on its way");
    r->counts.lines_back += result.write_back != 0;
    r->counts.sectors_back += (uint32_t)__builtin_popcount(result.write_back);
    r->counts.read_hits += q.reads && answer == L2_HIT;
    if (answer != L2_FETCH)
        return 0;
    r->counts.dram_reads++;
    r->reads[gather(addr, r->how->channel_bits)]++;
    l2_fill(r->l2, q.slice, miss, &waiters);
    return 0;
}

/* What copies leave: the last bytes of the allocations in their order, as many as there are lines, twice over. */
static void copy_in(struct run *r)
{
    size_t n;
    const struct program_alloc *a = r->how->program->ops->allocs(r->how->program->state, &n);
    uint64_t total = 0, keep = 2 * (uint64_t)r->how->l2->bytes;
    for (size_t i = 0; i < n; i++)
        total += a[i].host ? a[i].bytes : 0;
    for (size_t i = 0; i < n; i++) {
        if (!a[i].host)
            continue;
        uint64_t skip = total > keep ? total - keep : 0;
        skip = skip < a[i].bytes ? skip : a[i].bytes;
        total -= a[i].bytes;
        for (uint64_t at = (a[i].addr + skip) & ~UINT64_C(127); at < a[i].addr + a[i].bytes; at += L2_LINE)
            l2_put(r->l2, gather(at, r->how->l2->slice_bits), at, L2_WHOLE, 0);
    }
}

static void end_stretch(struct run *r)
{
    uint64_t most = 0, sum = 0;
    for (uint32_t i = 0; i < r->channels; i++) {
        most = r->reads[i] > most ? r->reads[i] : most;
        sum += r->reads[i];
    }
    memset(r->reads, 0, r->channels * sizeof *r->reads);
    r->in_stretch = 0;
    r->busiest += most;
    r->all += sum;
}

/* --- L1 --- */

static int load_line(struct run *r, struct l1 *l1, const struct sectors_line *l, struct err *err)
{
    struct l1_found found = l1_look(l1, l->line, l->sectors);
    uint32_t asks = l->sectors & ~found.there;
    r->counts.hits += (uint32_t)__builtin_popcount(found.there);
    if (!asks)
        return 0;
    uint32_t token = l1_ask(l1, l->line, found.entry, asks, 0);
    if (token == L1_NONE)
        return err_set(err, "out of memory: misses in flight");
    for (uint32_t s = L1_SECTORS; s-- > 0;) {
        if (!(asks >> s & 1))
            continue;
        r->counts.reads++;
        if (ask_l2(r, l->line * L1_LINE + s * L2_SECTOR, RECORD_READ, false, err))
            return -1;
        l1_take(l1, token + s);
    }
    return 0;
}

static int send_line(struct run *r, struct l1 *l1, const struct sectors_line *l, uint8_t kind, struct err *err)
{
    if (kind == RECORD_WRITE)
        l1_write(l1, l->line, l->sectors);
    for (uint32_t s = L1_SECTORS; s-- > 0;)
        if (l->sectors >> s & 1) {
            *(kind == RECORD_WRITE ? &r->counts.writes : &r->counts.atomics) += 1;
            if (ask_l2(r, l->line * L1_LINE + s * L2_SECTOR, kind, l->whole >> s & 1, err))
                return -1;
        }
    return 0;
}

static int access_(struct run *r, struct l1 *l1, const struct walker *w, struct err *err)
{
    struct sectors_line line[SECTORS_LINES];
    int n = sm_body_sectors(&w->body, w->access, w->turn, line), rc = 0;
    uint8_t kind = w->body.access[w->access].kind;
    r->counts.instructions++;
    r->counts.loads += kind == RECORD_READ;
    for (int i = 0; i < n && !rc; i++) {
        r->counts.load_sectors += kind == RECORD_READ ? (uint32_t)__builtin_popcount(line[i].sectors) : 0;
        rc = kind == RECORD_READ ? load_line(r, l1, &line[i], err) : send_line(r, l1, &line[i], kind, err);
    }
    if (++r->in_stretch == r->how->stretch)
        end_stretch(r);
    return rc;
}

/* --- warps --- */

/* Bring the warp to its next access, or to its end. */
static int arrive(struct run *r, struct walker *w, struct err *err)
{
    while (w->access >= w->body.count) {
        w->access = 0;
        if (w->body.count && ++w->turn < w->body.turns)
            return 0;
        w->turn = 0;
        int rc = program_body(r->how->program, r->program, r->launch, w->number, w->index++, &r->body, err);
        if (rc > 0)
            rc = sm_body_keep(&w->body, &r->body, false, err) ? -1 : 1;
        w->done = rc <= 0;
        if (rc <= 0)
            return rc;
    }
    return 0;
}

/* One memory instruction, or the barrier. */
static int advance(struct run *r, struct l1 *l1, struct walker *w, struct err *err)
{
    if (w->body.access[w->access].kind == PROGRAM_BARRIER)
        w->held = true;
    else if (access_(r, l1, w, err))
        return -1;
    w->access++;
    return arrive(r, w, err);
}

static int start_block(struct run *r, struct place *place, struct walker *w, struct err *err)
{
    place->left = 0;
    for (uint32_t i = 0; i < r->warps; i++) {
        struct sm_body body = w[i].body;
        body.count = 0;
        w[i] = (struct walker){.number = r->next * r->warps + i, .body = body};
        if (arrive(r, &w[i], err))
            return -1;
        place->left += !w[i].done;
    }
    r->next++;
    return 0;
}

/* A turn of a block's warps; a barrier that all have reached lets them go. */
static int turn_block(struct run *r, struct l1 *l1, struct place *place, struct walker *w, struct err *err)
{
    uint32_t held = 0;
    for (uint32_t i = 0; i < r->warps; i++) {
        if (w[i].done)
            continue;
        do
            if (!w[i].held && advance(r, l1, &w[i], err))
                return -1;
        while (r->how->to_the_end && !w[i].done && !w[i].held);
        place->left -= w[i].done;
        held += w[i].held && !w[i].done;
    }
    for (uint32_t i = 0; i < r->warps && held == place->left; i++)
        w[i].held = false;
    return 0;
}

/* --- launches --- */

/* Blocks for every free place, one to each multiprocessor in turn. Empty ones end at once. */
static int fill_places(struct run *r, struct err *err)
{
    for (uint32_t p = 0; p < r->places; p++)
        for (uint32_t sm = 0; sm < r->how->sms; sm++) {
            uint32_t at = sm * r->places + p;
            while (!r->place[at].left && r->next < r->shape.blocks)
                if (start_block(r, &r->place[at], &r->walker[at * r->warps], err))
                    return -1;
        }
    return 0;
}

static int turn_all(struct run *r, bool *any, struct err *err)
{
    *any = false;
    for (uint32_t sm = 0; sm < r->how->sms; sm++)
        for (uint32_t p = 0; p < r->places; p++) {
            uint32_t at = sm * r->places + p;
            struct walker *w = &r->walker[at * r->warps];
            if (r->place[at].left && turn_block(r, r->l1[sm], &r->place[at], w, err))
                return -1;
            while (!r->how->in_turn && !r->place[at].left && r->next < r->shape.blocks)
                if (start_block(r, &r->place[at], w, err))
                    return -1;
            *any |= r->place[at].left > 0;
        }
    *any |= r->next < r->shape.blocks;
    return r->how->in_turn ? fill_places(r, err) : 0;
}

static void release_walkers(struct run *r)
{
    for (size_t i = 0; r->walker && i < (size_t)r->how->sms * r->places * r->warps; i++)
        sm_body_release(&r->walker[i].body);
    free(r->walker);
    free(r->place);
    r->walker = NULL;
    r->place = NULL;
}

static int run_launch(struct run *r, struct err *err)
{
    const struct functional *how = r->how;
    memset(&r->shape, 0, sizeof r->shape);
    how->program->ops->launch(how->program->state, r->launch, &r->shape);
    if (program_check_launch(&r->shape, r->launch, err))
        return -1;
    r->warps = program_warps_of_block(&r->shape);
    r->places = occupancy_resident(how->gpu, &r->shape, how->sms);
    int64_t l1 = occupancy_l1(how->gpu, (uint64_t)r->places * r->shape.shared, err);
    if (l1 < 0)
        return -1;
    if (!r->places)
        return occupancy_refuse(r->launch, r->shape.threads, r->shape.registers, r->shape.shared, err);
    for (uint32_t i = 0; i < how->sms; i++)
        l1_resize(r->l1[i], (uint32_t)(l1 / L1_LINE));
    r->next = 0;
    r->walker = mem_zalloc((size_t)how->sms * r->places * r->warps, sizeof *r->walker, err);
    r->place = r->walker ? mem_zalloc((size_t)how->sms * r->places, sizeof *r->place, err) : NULL;
    int rc = r->place ? fill_places(r, err) : -1;
    for (bool any = true; !rc && any;)
        rc = turn_all(r, &any, err);
    release_walkers(r);
    return rc;
}

static int run_launches(struct run *r, struct err *err)
{
    const struct functional *how = r->how;
    uint32_t n = how->program->ops->launches(how->program->state);
    for (r->launch = 0; r->launch < n && (!how->launches || r->launch < how->launches); r->launch++) {
        r->counts = (struct functional_counts){0};
        r->busiest = r->all = 0;
        if (run_launch(r, err))
            return -1;
        end_stretch(r);
        r->counts.camp = r->all ? (double)r->busiest * r->channels / (double)r->all : 0;
        if (how->launch(how->ctx, r->launch, &r->shape, &r->counts, err))
            return -1;
    }
    return 0;
}

static int open_run(struct run *r, struct err *err)
{
    const struct functional *how = r->how;
    struct l1_shape shape = {.lines = (uint32_t)(how->gpu->l1_bytes / L1_LINE),
                             .ways = (uint32_t)how->gpu->l1_ways,
                             .replacement = (enum l1_replacement)how->gpu->l1_replacement,
                             .allocate = (enum l1_allocate)how->gpu->l1_allocate};
    r->channels = 1u << __builtin_popcountll(how->channel_bits);
    r->reads = mem_zalloc(r->channels, sizeof *r->reads, err);
    r->l2 = r->reads ? l2_open(how->l2, err) : NULL;
    r->l1 = r->l2 ? mem_zalloc(how->sms, sizeof *r->l1, err) : NULL;
    if (!r->l1)
        return -1;
    for (uint32_t i = 0; i < how->sms; i++) {
        shape.seed = i;
        if (!(r->l1[i] = l1_new(&shape, err)))
            return -1;
    }
    copy_in(r);
    return program_run_open(how->program, &r->program, err);
}

int functional_run(const struct functional *how, struct err *err)
{
    struct run *r = mem_zalloc(1, sizeof *r, err);
    if (!r)
        return -1;
    r->how = how;
    int rc = open_run(r, err);
    if (!rc)
        rc = run_launches(r, err);
    if (r->program)
        program_run_close(how->program, r->program);
    for (uint32_t i = 0; r->l1 && i < how->sms; i++)
        l1_free(r->l1[i]);
    free(r->l1);
    l2_free(r->l2);
    free(r->reads);
    free(r);
    return rc;
}
