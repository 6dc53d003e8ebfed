#include "replay/dram/dram_simulation.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

/* A run while it goes on. */
struct running {
    struct dram_simulation *run;
    struct dram_memory memory;
    struct sms *sms[DRAM_PORTS];
    int64_t due[DRAM_PORTS];   /* sms_next(), as core_next() found it */
    int64_t start[DRAM_PORTS]; /* core cycle in which a side begins (again); INT64_MAX: it goes on, or never will */
    uint32_t left;             /* sides whose first pass has not ended */
    uint32_t gap[DRAM_PORTS];  /* the next of its gaps */
    struct dram_commands *commands; /* by channel; NULL without --commands */
};

/* --- multiprocessors as ports --- */

static const struct sms_packet *port_head(const void *ctx, uint32_t sm)
{
    return sms_head(ctx, sm);
}

static void port_pop(void *ctx, uint32_t sm, int64_t t)
{
    sms_pop(ctx, sm, t);
}

static void port_prefetch_reply(const void *ctx, uint32_t sm, uint32_t token)
{
    sms_prefetch_reply(ctx, sm, token);
}

static void port_reply(void *ctx, uint32_t sm, uint32_t token, int64_t t)
{
    sms_reply(ctx, sm, token, t);
}

static int attach_commands(struct running *r, struct err *err)
{
    r->commands = mem_zalloc(r->memory.channels, sizeof *r->commands, err);
    if (!r->commands)
        return -1;
    for (uint32_t c = 0; c < r->memory.channels; c++) {
        r->commands[c].channel = c;
        dram_commands_attach(&r->commands[c], r->memory.part[c].channel, r->run->job);
    }
    return 0;
}

static int set_up(struct running *r, struct err *err)
{
    struct dram_simulation *run = r->run;
    const struct gpu *gpu = platform_section_get(run->platform, "gpu");
    const struct dram_platform *dram = platform_section_get(run->platform, "dram");
    struct dram_port port[DRAM_PORTS];
    for (uint32_t s = 0; s < run->sides; s++) {
        const struct sms_options options = {.gpu = gpu,
                                            .program = run->side[s].program,
                                            .sms = run->side[s].sms,
                                            .input_room = (uint32_t)(dram->noc_queue / run->vcs),
                                            .launch_cycles = run->side[s].launch_cycles,
                                            .kept_share = run->side[s].kept_share};
        r->sms[s] = sms_new(&options, err);
        if (!r->sms[s])
            return -1;
        port[s] = (struct dram_port){.ctx = r->sms[s],
                                     .sms = run->side[s].sms,
                                     .offset = run->side[s].offset,
                                     .heads = sms_heads(r->sms[s]),
                                     .head = port_head,
                                     .pop = port_pop,
                                     .prefetch_reply = port_prefetch_reply,
                                     .reply = port_reply};
        run->first_done[s] = -1;
    }
    r->left = run->sides;
    if (dram_memory_init(&r->memory, run->platform, run->policy, run->vcs, port, run->sides, err))
        return -1;
    for (uint32_t s = 0; s < run->sides; s++)
        dram_l2_copy_in(&r->memory.l2, run->side[s].program, run->side[s].offset, gpu->l2_bytes);
    if (run->job)
        dram_explain_attach(r->memory.part[0].channel, run->job, run->policy, NULL);
    return run->job && dram_options(run->job)->commands ? attach_commands(r, err) : 0;
}

/* --- a core cycle --- */

/* Apply to L2 the work left out before this point. */
static void pass_gaps(struct running *r, uint32_t s)
{
    if (r->run->side[s].warmup) {
        uint64_t blocks, ended = sms_reached(r->sms[s], &blocks);
        l2_warmup_put(r->run->side[s].warmup, &r->gap[s], ended, blocks, &r->memory.l2);
    }
}

static int begin(struct running *r, int64_t t, struct err *err)
{
    for (uint32_t s = 0; s < r->run->sides; s++) {
        if (r->start[s] > t)
            continue;
        r->start[s] = INT64_MAX;
        if (sms_start(r->sms[s], t, err))
            return -1;
        r->due[s] = sms_next(r->sms[s]);
        r->gap[s] = 0;
        pass_gaps(r, s);
    }
    return 0;
}

/* A side whose program has ended: its first pass is noted, and it begins again if it is to. */
static int end(struct running *r, uint32_t s, struct err *err)
{
    struct dram_simulation *run = r->run;
    const struct dram_clocks *c = &r->memory.clocks;
    if (sms_failed(r->sms[s], err))
        return -1;
    if (run->first_done[s] < 0) {
        sms_counts(r->sms[s], &run->counts[s]);
        run->first_done[s] = c->dram - (int64_t)(run->counts[s].ends * c->core_period / c->dram_period);
        r->left--;
    }
    if (run->repeat && r->left)
        r->start[s] = c->core + 1;
    return 0;
}

/* The sides' steps, then the memory's cycle. */
static int core_cycle(struct running *r, struct err *err)
{
    const int64_t t = r->memory.clocks.core;
    if (begin(r, t, err))
        return -1;
    bool going[DRAM_PORTS] = {false};
    for (uint32_t s = 0; s < r->run->sides; s++) {
        going[s] = !sms_done(r->sms[s]);
        if (r->due[s] <= t) {
            sms_step(r->sms[s], t);
            dram_memory_wake(&r->memory);
        }
    }
    dram_memory_core(&r->memory);
    for (uint32_t s = 0; s < r->run->sides; s++) {
        if (going[s])
            pass_gaps(r, s);
        if (going[s] && sms_done(r->sms[s]) && end(r, s, err))
            return -1;
    }
    return 0;
}

/* The next core cycle in which anything can happen. */
static int64_t core_next(struct running *r)
{
    int64_t next = r->memory.core_next;
    for (uint32_t s = 0; s < r->run->sides; s++) {
        r->due[s] = sms_next(r->sms[s]);
        next = r->due[s] < next ? r->due[s] : next;
        next = r->start[s] < next ? r->start[s] : next;
    }
    return next;
}

static bool cancelled(const struct dram_simulation *run)
{
    return run->progress && atomic_load(&run->progress->cancelled);
}

static int simulate(struct running *r, struct err *err)
{
    struct dram_clocks *c = &r->memory.clocks;
    while (r->left && c->dram < r->run->limit) {
        const unsigned ticks = dram_clocks_tick(c);
        if (ticks & DRAM_TICK_DRAM) {
            dram_memory_dram(&r->memory);
            c->dram++;
        }
        if (!(ticks & DRAM_TICK_CORE))
            continue;
        const int64_t next = core_next(r);
        if (c->core >= next && core_cycle(r, err))
            return -1;
        if (next == INT64_MAX && r->memory.dram_next == INT64_MAX) {
            r->run->totals.stuck = true;
            break;
        }
        if ((c->core & 0xffff) == 0 && cancelled(r->run))
            return err_set(err, "cancelled");
        if (r->memory.out_of_memory)
            return err_set(err, "out of memory");
        c->core++;
    }
    return 0;
}

static void collect(struct running *r)
{
    struct dram_simulation *run = r->run;
    const struct dram_policy *rules = (const struct dram_policy *)run->policy->head;
    struct dram_totals *t = &run->totals;
    t->cycles = r->memory.clocks.dram;
    t->channels = r->memory.channels;
    run->memory = r->memory.stats;
    t->blacklists = rules->favoured_cycles != NULL;
    for (uint32_t c = 0; c < r->memory.channels; c++) {
        dram_stats_add(&t->stats, &r->memory.part[c].channel->stats);
        for (int class = 0; class < 2 && rules->favoured_cycles; class ++)
            t->favoured[class] += rules->favoured_cycles(r->memory.part[c].state, (enum dram_class) class);
    }
    for (int k = 0; k < 2; k++) {
        t->stats.answered[k] = run->memory.answered[k];
        t->stats.answer_cycles[k] = run->memory.answer_cycles[k];
    }
    for (uint32_t s = 0; s < run->sides; s++)
        if (run->first_done[s] < 0)
            sms_counts(r->sms[s], &run->counts[s]);
}

int dram_simulation_run(struct dram_simulation *run, struct err *err)
{
    struct running r = {.run = run};
    run->totals = dram_totals_new();
    int rc = set_up(&r, err);
    if (rc == 0)
        rc = simulate(&r, err);
    if (rc == 0)
        rc = dram_memory_check(&r.memory, false, err);
    if (rc == 0)
        collect(&r);
    dram_memory_release(&r.memory);
    free(r.commands);
    for (uint32_t s = 0; s < run->sides; s++)
        sms_free(r.sms[s]);
    return rc;
}
