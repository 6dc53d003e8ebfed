#include "trace/workloads/pim/gpu_source.h"

#include <string.h>

#include "trace/workloads/stream.h"

enum { BANKS = 16, ROWS = 4095, COLUMNS = 64, ATOM = 32 };

static void jump(struct gpu_source *s, struct dram_addr *a)
{
    a->bank = random_below(&s->random, BANKS);
    a->row = 1 + random_below(&s->random, ROWS);
    a->column = random_below(&s->random, COLUMNS);
}

void gpu_source_init(struct gpu_source *s, const struct gpu_character *c, uint64_t seed, uint32_t channel,
                     uint64_t requests, int64_t launch_gap)
{
    memset(s, 0, sizeof *s);
    s->character = *c;
    s->random.state = seed * UINT64_C(0x9e3779b97f4a7c15) + channel;
    (void)random_next(&s->random);
    s->left = requests;
    s->launch_gap = launch_gap;
    for (int i = 0; i < c->walkers; i++) {
        s->walker[i].channel = s->dirty[i].channel = channel;
        jump(s, &s->walker[i]);
        jump(s, &s->dirty[i]);
    }
    /* w = p b / (p b + 32): bytes written back and read per miss. */
    s->p_writeback = ATOM * c->write_share / ((1 - c->write_share) * c->writeback_bytes);
}

static void walk(struct gpu_source *s, struct dram_addr *a, uint32_t step)
{
    if (random_chance(&s->random, 1 - step / s->character.columns))
        a->column = (a->column + step) % COLUMNS;
    else
        jump(s, a);
}

/* Cycles from one request to the next. */
static void pass_time(struct gpu_source *s)
{
    const struct gpu_character *c = &s->character;
    const double rate = c->launch ? c->launch_rate : c->rate;
    if (c->burst > 1) {
        if (++s->in_burst < c->burst) {
            s->time++;
            return;
        }
        s->in_burst = 0;
        s->time += (int64_t)(c->burst / rate) - c->burst + 1;
        return;
    }
    do
        s->time++;
    while (!random_chance(&s->random, rate));
}

static void writeback(struct gpu_source *s, struct record *r)
{
    const uint32_t atoms = (uint32_t)s->character.writeback_bytes / ATOM;
    struct dram_addr *a = &s->dirty[random_below(&s->random, (uint32_t)s->character.walkers)];
    walk(s, a, atoms < s->character.columns ? atoms : 1);
    *r = (struct record){.kind = RECORD_DRAM_WRITEBACK,
                         .time = s->time,
                         .addr = dram_addr_pack(*a),
                         .bytes = (uint64_t)s->character.writeback_bytes,
                         .group = s->launches};
}

bool gpu_source_next(struct gpu_source *s, struct record *r)
{
    const struct gpu_character *c = &s->character;
    if (s->pending_writeback) {
        s->pending_writeback = false;
        writeback(s, r);
        pass_time(s);
        return true;
    }
    if (s->pending_end) {
        s->pending_end = false;
        *r = (struct record){.kind = RECORD_KERNEL_END, .time = s->time, .group = s->launches++};
        s->time += s->launch_gap;
        return true;
    }
    if (!s->left)
        return false;
    struct dram_addr *a = &s->walker[random_below(&s->random, (uint32_t)c->walkers)];
    const bool miss = random_chance(&s->random, c->miss);
    if (miss)
        walk(s, a, 1);
    *r = (struct record){.kind = RECORD_DRAM_READ,
                         .time = s->time,
                         .addr = dram_addr_pack(*a),
                         .bytes = ATOM,
                         .group = s->launches,
                         .flags = miss ? 0 : STREAM_L2_HIT};
    s->left--;
    s->pending_end = (c->launch && ++s->in_launch == c->launch) || !s->left;
    if (s->in_launch == c->launch)
        s->in_launch = 0;
    s->pending_writeback = miss && random_chance(&s->random, s->p_writeback);
    if (!s->pending_writeback)
        pass_time(s);
    return true;
}
