#include "replay/dram/dram_programs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "models/gpu/occupancy.h"
#include "replay/derive/derive_source.h"
#include "replay/dram/dram_metrics.h"
#include "replay/dram/dram_simulation.h"
#include "trace/base/mem.h"
#include "trace/program/cut.h"
#include "trace/program/prefix.h"

struct side {
    const char *name;
    struct program program;
    struct program_cut *cut;       /* of a GPU program */
    struct program_prefix *prefix; /* of a PIM program */
    struct dram_simulation_side run;
    uint32_t alone_sms;
    int64_t alone_cycles;
    double alone_rate; /* MEM requests into the controllers per DRAM cycle */
    char left_out[200];
};

struct programs {
    const struct replay_job *job;
    struct side side[DRAM_PORTS];
    uint32_t sides;
    uint64_t cut; /* requests; 0: whole */
    bool once;    /* collaborative */
    bool repeat;
};

bool dram_programs_are(const struct replay_job *job)
{
    for (size_t i = 0; i < job->input_count; i++)
        if (!job->inputs[i].workload.type || !derive_input_is(&job->inputs[i], VIEW_DRAM))
            return false;
    return true;
}

/* --- sides --- */

/* By the first access of its first warp. */
static int find_class(const struct program *program, enum dram_class *class, struct err *err)
{
    struct program_body *body = mem_zalloc(1, sizeof *body, err);
    void *run;
    if (!body || program_run_open(program, &run, err)) {
        free(body);
        return -1;
    }
    const int rc = program_body(program, run, 0, 0, 0, body, err);
    *class = rc == 1 && body->count && body->access[0].kind == PROGRAM_PIM ? DRAM_PIM : DRAM_MEM;
    program_run_close(program, run);
    free(body);
    return rc < 0 ? -1 : 0;
}

struct room {
    const struct gpu *gpu;
    uint32_t sms;
};

/* Blocks of a launch at once on all multiprocessors. */
static uint64_t resident(const void *ctx, const struct program_launch *launch)
{
    const struct room *r = ctx;
    const uint64_t blocks = occupancy_resident(r->gpu, launch, r->sms);
    return (blocks ? blocks : 1) * r->sms;
}

/* Of each warp the first accesses; its launches are those of the program so far. */
static int cut_warps(struct side *s, uint64_t accesses, struct err *err)
{
    s->prefix = program_prefix_new(s->run.program, accesses ? accesses : 1, err);
    if (!s->prefix)
        return -1;
    s->run.program = program_prefix_program(s->prefix);
    const struct program_prefix_facts f = program_prefix_facts(s->prefix);
    const size_t at = strlen(s->left_out);
    if (f.accesses < f.whole)
        (void)snprintf(s->left_out + at, sizeof s->left_out - at,
                       "%s the first %" PRIu64 " of %" PRIu64 " accesses of a warp", at ? "," : "cut to", f.accesses,
                       f.whole);
    return 0;
}

/* Whole waves of blocks; where one wave is still too much, of each warp the first accesses. */
static int cut_gpu(struct programs *p, struct side *s, struct err *err)
{
    const struct room room = {platform_section_get(p->job->platform, "gpu"), s->run.sms};
    s->cut = program_cut_new(s->run.program, p->cut, resident, &room, err);
    if (!s->cut)
        return -1;
    s->run.program = program_cut_program(s->cut);
    const struct program_cut_facts f = program_cut_facts(s->cut);
    if (f.sectors < f.whole_sectors)
        (void)snprintf(s->left_out, sizeof s->left_out,
                       "cut to %" PRIu64 " of %" PRIu64 " blocks in %" PRIu64 " of %" PRIu64
                       " launches, about %.1f %% of its sectors",
                       f.blocks, f.whole_blocks, f.launches, f.whole_launches,
                       100.0 * (double)f.sectors / (double)f.whole_sectors);
    if (f.sectors <= 2 * p->cut)
        return 0;
    struct program_prefix *whole = program_prefix_new(s->run.program, UINT64_MAX, err);
    if (!whole)
        return -1;
    const double each = (double)program_prefix_facts(whole).whole;
    program_prefix_free(whole);
    return cut_warps(s, (uint64_t)(each * (double)p->cut / (double)f.sectors), err);
}

static int cut_pim(struct programs *p, struct side *s, struct err *err)
{
    struct program_launch first;
    s->run.program->ops->launch(s->run.program->state, 0, &first);
    return cut_warps(s, p->cut / program_warps(&first), err);
}

static struct side *add_side(struct programs *p, struct err *err)
{
    if (p->sides == DRAM_PORTS) {
        err_set(err, "more than two sides: expected MEM and PIM requests, or two --mem");
        return NULL;
    }
    return &p->side[p->sides++];
}

static int take_program(struct side *s, const struct input *input, struct err *err)
{
    s->name = input->spec;
    s->run.program = &s->program;
    if (find_class(s->run.program, &s->run.class, err))
        return -1;
    const char *is = s->run.class == DRAM_PIM ? "pim" : "mem";
    if (*input->role && strcmp(input->role, is) != 0)
        return err_set(err, "--%s %s: its requests are %s's", input->role, input->spec,
                       s->run.class == DRAM_PIM ? "PIM" : "MEM");
    return 0;
}

/* The program of an input, and the one beside it if it has one. */
static int take_input(struct programs *p, const struct input *input, struct err *err)
{
    const struct workload *w = &input->workload;
    struct side *s = add_side(p, err);
    if (!s || w->type->program(w->state, &s->program, err) || take_program(s, input, err))
        return -1;
    if (!w->type->beside)
        return 0;
    p->once = true;
    s = add_side(p, err);
    return !s || w->type->beside(w->state, &s->program, err) || take_program(s, input, err) ? -1 : 0;
}

/* MEM first; not two of PIM. */
static int order_sides(struct programs *p, struct err *err)
{
    if (p->sides == 2 && p->side[0].run.class == DRAM_PIM) {
        if (p->side[1].run.class == DRAM_PIM)
            return err_set(err, "two PIM programs: expected MEM and PIM, or two --mem");
        const struct side pim = p->side[0];
        p->side[0] = p->side[1];
        p->side[1] = pim;
        for (int s = 0; s < 2; s++)
            p->side[s].run.program = &p->side[s].program;
    }
    return 0;
}

/* Multiprocessors of each side, together and alone. */
static int share_sms(struct programs *p, struct err *err)
{
    const struct dram_settings *set = p->job->settings;
    const struct gpu *gpu = platform_section_get(p->job->platform, "gpu");
    const struct dram_platform *dram = platform_section_get(p->job->platform, "dram");
    int64_t left = gpu->sms;
    for (uint32_t s = p->sides; s-- > 0;) {
        struct side *side = &p->side[s];
        int64_t own = left;
        if (side->run.class == DRAM_PIM)
            own = dram->pim_sms;
        else if (s == 1)
            own = set->mem2_sms;
        else if (set->mem_sms)
            own = set->mem_sms;
        if (own < 1 || own > left)
            return err_set(err, "side %u takes %lld multiprocessors; expected 1 to %lld of the GPU's %lld", s + 1,
                           (long long)own, (long long)left, (long long)gpu->sms);
        side->run.sms = side->alone_sms = (uint32_t)own;
        if (s == 0 && side->run.class == DRAM_MEM && !set->mem_sms)
            side->alone_sms = (uint32_t)gpu->sms;
        left -= own;
    }
    return 0;
}

/* "none", or a whole number. */
static int read_cut(const char *text, uint64_t *cut, struct err *err)
{
    char *end;
    *cut = 0;
    if (strcmp(text, "none") == 0)
        return 0;
    *cut = strtoull(text, &end, 10);
    if (*end || !*cut || *text < '0' || *text > '9' || *cut > UINT64_C(1000000000000))
        return err_set(err, "cut: found '%s'; expected none or a number of requests, 1 to 10^12", text);
    return 0;
}

static int find_sides(struct programs *p, struct err *err)
{
    const struct replay_job *job = p->job;
    const struct dram_settings *set = job->settings;
    if (read_cut(set->cut, &p->cut, err))
        return -1;
    for (size_t i = 0; i < job->input_count; i++) {
        if (take_input(p, &job->inputs[i], err))
            return -1;
    }
    if (order_sides(p, err) || share_sms(p, err))
        return -1;
    for (uint32_t s = 0; s < p->sides && p->cut && !p->once; s++)
        if ((p->side[s].run.class == DRAM_PIM ? cut_pim : cut_gpu)(p, &p->side[s], err))
            return -1;
    p->repeat = p->sides == 2 && (set->loop == 1 || (set->loop == 2 && !p->once));
    return 0;
}

static void release_sides(struct programs *p)
{
    for (int s = 0; s < DRAM_PORTS; s++) {
        program_cut_free(p->side[s].cut);
        program_prefix_free(p->side[s].prefix);
    }
}

/* --- runs --- */

/* The settings that every run shares. */
static void set_up(const struct programs *p, struct dram_simulation *run)
{
    const struct dram_settings *set = p->job->settings;
    const struct gpu *gpu = platform_section_get(p->job->platform, "gpu");
    const struct dram_platform *dram = platform_section_get(p->job->platform, "dram");
    run->platform = p->job->platform;
    run->launch_cycles = set->launch_gap >= 0
                             ? (int64_t)((double)set->launch_gap * (double)gpu->clock_hz / (double)dram->clock_hz + 0.5)
                             : dram->launch_latency;
    run->relaunch_gap = set->relaunch_gap >= 0 ? set->relaunch_gap : 0;
    run->progress = p->job->progress;
}

static int run_alone(struct programs *p, uint32_t s, struct err *err)
{
    const struct policy_head *alone = &dram_policy_alone()->head;
    struct replay_policy policy = {.head = alone, .params = mem_zalloc(1, alone->state_size, err)};
    struct dram_latency *latency = mem_zalloc(2, sizeof *latency, err);
    struct side *side = &p->side[s];
    struct dram_simulation run = {.policy = &policy, .sides = 1, .vcs = 1, .limit = INT64_MAX};
    int rc = policy.params && latency ? 0 : -1;
    if (!rc) {
        param_defaults(alone->params, policy.params);
        set_up(p, &run);
        run.side[0] = side->run;
        run.side[0].sms = side->alone_sms;
        rc = dram_simulation_run(&run, latency, err);
    }
    if (!rc && run.first_done[0] < 0)
        rc = err_set(err, "the %s side alone makes no end", side->run.class == DRAM_PIM ? "PIM" : "MEM");
    side->alone_cycles = run.first_done[0];
    if (!rc && run.cycles)
        side->alone_rate = (double)run.stats.in[DRAM_MEM] / (double)run.cycles;
    free(policy.params);
    free(latency);
    return rc ? err_at(err, "alone") : 0;
}

static int64_t limit_of(const struct programs *p)
{
    const struct dram_settings *set = p->job->settings;
    if (set->run_limit_cycles)
        return set->run_limit_cycles;
    int64_t longest = 0, limit;
    for (uint32_t s = 0; s < p->sides; s++)
        longest = p->side[s].alone_cycles > longest ? p->side[s].alone_cycles : longest;
    const bool none = !set->run_limit_factor || __builtin_mul_overflow(longest, set->run_limit_factor, &limit);
    return none ? INT64_MAX : limit;
}

/* What a run gave, in the form that all front ends report. */
static void add_up(const struct programs *p, const struct dram_simulation *run, struct dram_totals *t)
{
    t->stats = run->stats;
    t->cycles = run->cycles;
    t->channels = (uint32_t)((const struct dram_platform *)platform_section_get(run->platform, "dram"))->channels;
    t->noc_packets = (int64_t)(run->memory.packets[0] + run->memory.packets[1]);
    t->blacklists = run->blacklists;
    t->stuck = run->stuck;
    for (int k = 0; k < 2; k++) {
        t->favoured[k] = run->favoured[k];
        t->class_cycles[k] = t->alone_cycles[k] = -1;
    }
    for (uint32_t s = 0; s < run->sides; s++) {
        const int at = s == 1 || run->side[s].class == DRAM_PIM;
        t->class_cycles[at] = run->first_done[s];
        t->starved[at] = run->first_done[s] < 0;
        t->alone_cycles[at] = p->side[s].alone_cycles;
        t->requests[run->side[s].class] += run->counts[s].packets_read + run->counts[s].packets_write;
    }
    t->two_gpu_kernels = run->sides == 2 && run->side[1].class == DRAM_MEM;
    t->mem_arrival_ratio = -1;
    if (run->side[0].class == DRAM_MEM && !t->two_gpu_kernels && run->cycles && p->side[0].alone_rate > 0)
        t->mem_arrival_ratio = (double)run->stats.in[DRAM_MEM] / (double)run->cycles / p->side[0].alone_rate;
}

static int run_policy(const struct programs *p, size_t i, struct outcome *out, struct err *err)
{
    const struct dram_settings *set = p->job->settings;
    struct dram_totals t = {.core_cycles = -1};
    struct dram_simulation run = {.policy = &p->job->policies[i],
                                  .job = p->job->explain ? p->job : NULL,
                                  .sides = p->sides,
                                  .vcs = (int)set->vcs,
                                  .repeat = p->repeat,
                                  .limit = limit_of(p)};
    set_up(p, &run);
    for (uint32_t s = 0; s < p->sides; s++)
        run.side[s] = p->side[s].run;
    if (p->sides == 1)
        run.side[0].sms = p->side[0].alone_sms;
    t.latency = mem_zalloc(2, sizeof *t.latency, err);
    if (!t.latency || dram_simulation_run(&run, t.latency, err)) {
        free(t.latency);
        return err_at(err, "%s", p->job->policies[i].head->name);
    }
    add_up(p, &run, &t);
    dram_metrics_fill(out, p->job, NULL, &t);
    dram_metrics_programs(out, &run, &t);
    for (uint32_t s = 0; s < p->sides; s++)
        if (*p->side[s].left_out)
            outcome_note(out, "%s: %s (cut=none: whole)", p->side[s].name, p->side[s].left_out);
    free(t.latency);
    progress_add(p->job->progress, 1);
    return 0;
}

/* Every policy's run is one thread's. */
static int run_policies(struct programs *p, struct outcome *runs, struct err *err)
{
    const struct replay_job *job = p->job;
    int failed = 0;
#pragma omp parallel for schedule(dynamic) num_threads(job->threads) if (!job->explain && job->policy_count > 1)
    for (size_t i = 0; i < job->policy_count; i++) {
        struct err mine = {""};
        if (__atomic_load_n(&failed, __ATOMIC_RELAXED))
            continue;
        const int rc = run_policy(p, i, &runs[i], &mine);
#pragma omp critical(dram_programs)
        if (rc && !failed) {
            failed = 1;
            *err = mine;
        }
    }
    return failed ? -1 : 0;
}

static int all_alone(struct programs *p, struct err *err)
{
    int failed = 0;
#pragma omp parallel for num_threads(p->job->threads) if (p->sides > 1)
    for (uint32_t s = 0; s < p->sides; s++) {
        struct err mine = {""};
        const int rc = run_alone(p, s, &mine);
#pragma omp critical(dram_programs)
        if (rc && !failed) {
            failed = 1;
            *err = mine;
        }
    }
    return failed ? -1 : 0;
}

int dram_programs_replay(const struct replay_job *job, struct outcome *runs, struct err *err)
{
    if (job->requests)
        return err_set(err, "--requests: the packets of a program have no ids of an input's; derive dram writes the "
                            "requests of a program, which can then be replayed one by one");
    struct programs p = {.job = job};
    int rc = find_sides(&p, err);
    if (rc == 0 && job->progress)
        atomic_store(&job->progress->total, job->policy_count);
    if (rc == 0)
        rc = all_alone(&p, err);
    if (rc == 0)
        rc = run_policies(&p, runs, err);
    release_sides(&p);
    return rc;
}
