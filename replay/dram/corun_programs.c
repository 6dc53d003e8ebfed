/* Front end `corun` of programs: a GPU program beside a PIM program, or another GPU program, each also alone; all
 * channels, multiprocessors and L2 in one simulation (replay/dram/dram_simulation.h).
 *
 * A PIM program has pim_sms multiprocessors, a second GPU program mem2_sms, the first GPU program those that are left;
 * alone it has all of them. Times alone are those under f3fs with its default caps and one virtual channel. Both repeat
 * until each is done once (`loop=`). Programs are cut to about `cut` requests: GPU programs by whole waves of blocks
 * (trace/program/cut.h), and where one is more than twice too much by the middle of each warp
 * (trace/program/warp_slice.h); PIM programs by the first operations of each warp (trace/program/program_adapter.h).
 * Collaborative work, two programs of one input, is done once and not cut: that would change what one side is to the
 * other. Times are DRAM cycles; nothing depends on how many threads run the policies. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/base/sections.h"
#include "models/gpu/occupancy.h"
#include "replay/dram/dram_simulation.h"
#include "replay/results/runs.h"
#include "replay/run/sweep_cache.h"
#include "trace/base/mem.h"
#include "trace/base/param_value.h"
#include "trace/program/cut.h"
#include "trace/program/program_adapter.h"
#include "trace/program/warp_slice.h"

/* A program of a co-run: of which class it is, on how many multiprocessors it runs, how it is cut. */
struct client {
    const char *name;
    struct program program;
    struct program_cut *cut;       /* of a GPU program */
    double *kept_share;            /* run.kept_share */
    struct program_prefix *prefix; /* of a PIM program */
    struct warp_slice *slice;      /* of a GPU program of which a wave is too much */
    struct l2_warmup *warmup;      /* run.warmup, if it is not shared */
    struct dram_simulation_side run;
    struct workload_wish wish;
    uint32_t alone_sms;
    int64_t alone_cycles;
    double alone_rate; /* MEM requests into the controllers per DRAM cycle */
    uint64_t budget;   /* requests that it is cut to; 0: whole */
    double keeps;      /* of the launch latency, so that all of it keeps its share of the work */
    double simulated;  /* share of its work */
    char left_out[200];
};

struct corun {
    const struct replay_job *job;
    struct workload made[DRAM_PORTS]; /* opened for traces that a workload was written into */
    uint32_t made_count;
    struct client side[DRAM_PORTS];
    uint32_t sides;
    uint64_t cut;  /* requests; 0: whole */
    uint64_t part; /* 2: of half the cut */
    bool once;     /* collaborative */
    bool repeat;
};

/* --- inputs --- */

static bool has_view(const struct workload_type *type)
{
    return type->program && type->views & VIEW_DRAM;
}

/* The workload of an input: its own, or of a trace that says which workload it was made by (opened in *made, which the
 * caller closes). NULL: it is no program, or *err is set. */
static const struct workload *workload_of(const struct input *input, struct workload *made, struct err *err)
{
    struct err why;
    memset(made, 0, sizeof *made);
    if (input->workload.type)
        return has_view(input->workload.type) ? &input->workload : NULL;
    const char *spec = input->store ? store_origin_get(input->store, "workload.spec") : NULL;
    if (!spec)
        return NULL;
    if (workload_open(made, spec, &why)) {
        (void)err_pass_memory(&why, err);
        return NULL;
    }
    if (has_view(made->type) && (made->type->next || !dram_stream_stored(input->store))) /* no requests of others */
        return made;
    workload_close(made);
    return NULL;
}

int dram_inputs_are_programs(const struct replay_job *job, struct err *err)
{
    for (size_t i = 0; i < job->input_count; i++) {
        struct workload made;
        struct err why = {""};
        const bool is = workload_of(&job->inputs[i], &made, &why) != NULL;
        if (made.type)
            workload_close(&made);
        if (!is)
            return why.msg[0] ? err_set(err, "%s", why.msg) : 0;
    }
    return 1;
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

/* Of each launch that is kept, its share of the blocks. */
static int keep_shares(struct client *s, struct err *err)
{
    uint32_t n = s->cut->launches, k = 0;
    const struct program_cut_launch *launch = s->cut->launch;
    s->run.kept_share = s->kept_share = mem_zalloc(n + (size_t)1, sizeof *s->kept_share, err);
    for (uint32_t i = 0; s->kept_share && i < n; i++)
        if (launch[i].blocks_kept)
            s->kept_share[k++] = (double)launch[i].blocks_kept / (double)launch[i].blocks;
    return s->kept_share ? 0 : -1;
}

/* Cut each warp to a stretch in its middle. Around it, of each kept wave, as much is walked as at a gap's end. */
static int cut_warps(const struct corun *p, struct client *s, uint64_t sectors, struct err *err)
{
    const struct gpu *gpu = platform_section_get(p->job->platform, "gpu");
    uint64_t waves = 0;
    for (uint32_t i = 0; i < s->cut->launches; i++)
        waves += s->cut->launch[i].waves_kept;
    s->slice = warp_slice_new(s->run.program, (double)s->budget / (double)sectors,
                              (double)l2_warmup_sectors(gpu->l2_bytes) * (double)waves / (double)sectors, err);
    if (!s->slice)
        return -1;
    s->run.program = &s->slice->adapter.program;
    const double share = s->slice->whole ? (double)s->slice->accesses / (double)s->slice->whole : 1;
    s->keeps *= share;
    s->simulated *= share;
    if (share < 1)
        (void)mem_add_text(s->left_out, sizeof s->left_out, "%s the middle of each warp, %.1f %% of the accesses",
                           *s->left_out ? "," : "cut to", 100 * share);
    return 0;
}

/* Whole waves of blocks; where one wave is still too much, of each warp its middle. */
static int cut_gpu(struct corun *p, struct client *s, struct err *err)
{
    const struct room room = {platform_section_get(p->job->platform, "gpu"), s->run.sms};
    s->cut = program_cut_new(s->run.program, s->budget, resident, &room, err);
    if (!s->cut || keep_shares(s, err))
        return -1;
    s->run.program = &s->cut->adapter.program;
    const struct program_cut_facts f = s->cut->facts;
    const double launches = f.launches ? (double)f.whole_launches / (double)f.launches : 1;
    s->simulated = f.whole_sectors ? (double)f.sectors / (double)f.whole_sectors : 1;
    s->keeps = f.whole_sectors ? s->simulated * launches : 1;
    if (f.sectors < f.whole_sectors)
        (void)snprintf(s->left_out, sizeof s->left_out,
                       "cut to %" PRIu64 " of %" PRIu64 " blocks in %" PRIu64 " of %" PRIu64
                       " launches, about %.1f %% of its sectors",
                       f.blocks, f.whole_blocks, f.launches, f.whole_launches,
                       100.0 * (double)f.sectors / (double)f.whole_sectors);
    return f.sectors <= 2 * s->budget ? 0 : cut_warps(p, s, f.sectors, err);
}

/* Of each warp the first accesses. */
static int cut_pim(struct corun *p, struct client *s, struct err *err)
{
    (void)p;
    struct program_launch first;
    s->run.program->ops->launch(s->run.program->state, 0, &first);
    const uint64_t accesses = s->budget / program_warps(&first);
    s->prefix = program_prefix_new(s->run.program, accesses ? accesses : 1, err);
    if (!s->prefix)
        return -1;
    s->run.program = &s->prefix->adapter.program;
    const uint64_t kept = s->prefix->accesses, whole = s->prefix->whole;
    s->simulated = whole ? (double)kept / (double)whole : 1;
    s->keeps *= s->simulated;
    if (kept < whole)
        (void)snprintf(s->left_out, sizeof s->left_out,
                       "cut to the first %" PRIu64 " of %" PRIu64 " accesses of a warp", kept, whole);
    return 0;
}

static struct client *add_side(struct corun *p, struct err *err)
{
    if (p->sides == DRAM_PORTS) {
        err_set(err, "more than two sides: expected MEM and PIM requests, or two --mem");
        return NULL;
    }
    p->side[p->sides].keeps = p->side[p->sides].simulated = 1;
    return &p->side[p->sides++];
}

static int take_program(struct client *s, const struct input *input, const struct workload *w, struct err *err)
{
    s->name = input->spec;
    if (w->type->wish)
        w->type->wish(w->state, &s->wish);
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
static int take_input(struct corun *p, const struct input *input, struct err *err)
{
    struct client *s = add_side(p, err);
    if (!s)
        return -1;
    struct err why = {""};
    const struct workload *w = workload_of(input, &p->made[p->made_count], &why);
    p->made_count += p->made[p->made_count].type != NULL;
    if (!w)
        return why.msg[0] ? err_set(err, "%s", why.msg) : err_set(err, "%s is no program", input->spec);
    if (w->type->program(w->state, &s->program, err) || take_program(s, input, w, err))
        return -1;
    if (!w->type->beside)
        return 0;
    p->once = true;
    s = add_side(p, err);
    return !s || w->type->beside(w->state, &s->program, err) || take_program(s, input, w, err) ? -1 : 0;
}

/* MEM first; not two of PIM. */
static int order_sides(struct corun *p, struct err *err)
{
    if (p->sides == 2 && p->side[0].run.class == DRAM_PIM) {
        if (p->side[1].run.class == DRAM_PIM)
            return err_set(err, "two PIM programs: expected MEM and PIM, or two --mem");
        const struct client pim = p->side[0];
        p->side[0] = p->side[1];
        p->side[1] = pim;
        for (int s = 0; s < 2; s++)
            p->side[s].run.program = &p->side[s].program;
    }
    return 0;
}

/* The first and the last byte of a program's memory. */
static void extent(const struct program *program, uint64_t *first, uint64_t *last)
{
    size_t n;
    const struct program_alloc *a = program->ops->allocs(program->state, &n);
    *first = UINT64_MAX;
    *last = 0;
    for (size_t i = 0; i < n; i++) {
        *first = a[i].addr < *first ? a[i].addr : *first;
        *last = a[i].addr + a[i].bytes - 1 > *last ? a[i].addr + a[i].bytes - 1 : *last;
    }
}

/* Two programs that would use the same addresses: the second's memory begins behind the first's. */
static void set_apart(struct corun *p)
{
    uint64_t first[2], last[2];
    for (int s = 0; s < 2; s++)
        extent(&p->side[s].program, &first[s], &last[s]);
    if (first[0] > last[1] || first[1] > last[0])
        return;
    const uint64_t block = PROGRAM_BLOCK_BYTES, from = first[1] / block * block;
    p->side[1].run.offset = (last[0] / block + 1) * block - from;
}

/* Multiprocessors that side s asks for; 0: all, or those that are left. */
static int64_t asked_sms(const struct corun *p, uint32_t s)
{
    const struct dram_settings *set = p->job->settings;
    const struct gpu *gpu = platform_section_get(p->job->platform, "gpu");
    const struct dram_platform *dram = platform_section_get(p->job->platform, "dram");
    if (p->side[s].run.class == DRAM_PIM)
        return dram->pim_sms;
    const int64_t wish = p->side[s].wish.sms ? p->side[s].wish.sms : s == 1 ? set->mem2_sms : 0;
    return wish == gpu->sms && s == 0 ? 0 : wish;
}

/* The launch latency is cut as the work of a launch is: what one is to the other stays. */
static void set_latency(const struct corun *p, struct client *side)
{
    const struct dram_settings *set = p->job->settings;
    const struct gpu *gpu = platform_section_get(p->job->platform, "gpu");
    const struct dram_platform *dram = platform_section_get(p->job->platform, "dram");
    const double core = set->launch_gap >= 0 ? (double)set->launch_gap * (double)gpu->clock_hz / (double)dram->clock_hz
                                             : (double)dram->launch_latency * side->keeps;
    side->run.launch_cycles = (int64_t)(core + 0.5);
}

/* Multiprocessors of each side, together and alone. */
static int share_sms(struct corun *p, struct err *err)
{
    const struct gpu *gpu = platform_section_get(p->job->platform, "gpu");
    const struct dram_platform *dram = platform_section_get(p->job->platform, "dram");
    const int64_t most = (int64_t)fmax(1, round((double)gpu->sms * dram->mem_share));
    int64_t left = gpu->sms;
    for (uint32_t s = p->sides; s-- > 0;) {
        struct client *side = &p->side[s];
        if (side->run.class == DRAM_PIM && dram_check_pim(p->job->platform, err))
            return -1;
        const int64_t asked = asked_sms(p, s), own = asked ? asked : most < left ? most : left;
        if (own < 1 || own > left)
            return err_set(err, "side %u takes %lld multiprocessors; expected 1 to %lld of the GPU's %lld", s + 1,
                           (long long)own, (long long)left, (long long)gpu->sms);
        side->run.sms = (uint32_t)own;
        side->alone_sms = (uint32_t)(asked ? own : most);
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

/* --- what is left out --- */

/* "`what`", and everything that a run of side s alone depends on; NULL: no memory. Freed by the caller. */
static char *client_text(const struct corun *p, uint32_t s, const char *what)
{
    static const char *const sections[] = {"gpu", "dram"};
    static const struct param *const tables[] = {gpu_params, dram_params};
    const struct client *side = &p->side[s];
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    (void)fprintf(f, "dram, %s %s, side %u, class %d, cut %" PRIu64 " once %d on %u, alone %u, launch %" PRId64, what,
                  side->name, s, side->run.class, side->budget, p->once, side->run.sms, side->alone_sms,
                  side->run.launch_cycles);
    (void)fprintf(f, ", from %" PRIu64, side->run.offset);
    bool bad = false;
    for (int i = 0; i < 2; i++) {
        json_t *numbers = replay_params_json(tables[i], platform_section_get(p->job->platform, sections[i]));
        bad |= !numbers || json_dumpf(numbers, f, JSON_COMPACT | JSON_SORT_KEYS);
        json_decref(numbers);
    }
    if (fclose(f) == 0 && !bad)
        return text;
    free(text);
    return NULL;
}

static void release_warmup(void *warmup)
{
    l2_warmup_free(warmup);
}

static struct l2_warmup *make_warmup(const struct corun *p, const struct client *s, struct err *err)
{
    const struct gpu *gpu = platform_section_get(p->job->platform, "gpu");
    const struct room room = {gpu, s->run.sms};
    struct program_rest *rest =
        program_rest_new(&s->program, s->cut, l2_warmup_sectors(gpu->l2_bytes), s->slice, p->repeat, err);
    struct l2_warmup *warmup = NULL;
    struct dram_l2 l2 = {0};
    if (rest && dram_l2_init(&l2, platform_section_get(p->job->platform, "dram"), gpu, err) == 0)
        warmup = l2_warmup_new(rest, &l2, s->run.offset, resident, &room, err);
    dram_l2_release(&l2);
    program_rest_free(rest);
    return warmup;
}

/* Of a GPU program of which something is left out; once for all points of a sweep. */
static int find_warmup(struct corun *p, uint32_t i, struct err *err)
{
    struct client *s = &p->side[i];
    const struct gpu *gpu = platform_section_get(p->job->platform, "gpu");
    if (!s->cut || !*s->left_out || !gpu->l2_bytes)
        return 0;
    char *name = p->job->sweep_cache ? client_text(p, i, p->repeat ? "warmup of" : "warmup within") : NULL;
    struct l2_warmup *kept = name ? sweep_cache_object(p->job->sweep_cache, name) : NULL;
    if (!kept) {
        s->warmup = make_warmup(p, s, err);
        if (s->warmup && name && (kept = sweep_cache_keep(p->job->sweep_cache, name, s->warmup, release_warmup)))
            s->warmup = NULL;
    }
    free(name);
    s->run.warmup = kept ? kept : s->warmup;
    return s->run.warmup ? 0 : -1;
}

/* From p->job; all else is zeroed. Released after failure too. */
static int find_clients(struct corun *p, struct err *err)
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
    for (uint32_t i = 0; i < p->sides && !p->once; i++) {
        struct client *s = &p->side[i];
        s->budget = s->wish.requests ? s->wish.requests : p->cut;
        s->budget = s->budget / p->part + s->budget % p->part;
        if (s->budget && (s->run.class == DRAM_PIM ? cut_pim : cut_gpu)(p, s, err))
            return -1;
    }
    for (uint32_t i = 0; i < p->sides; i++)
        set_latency(p, &p->side[i]);
    if (p->sides == 2 && p->side[1].run.class == DRAM_MEM)
        set_apart(p);
    p->repeat = p->sides == 2 && (set->loop == 1 || (set->loop == 2 && !p->once));
    return 0;
}

static void release_clients(struct corun *p)
{
    for (int s = 0; s < DRAM_PORTS; s++) {
        program_cut_free(p->side[s].cut);
        free(p->side[s].kept_share);
        program_prefix_free(p->side[s].prefix);
        warp_slice_free(p->side[s].slice);
        l2_warmup_free(p->side[s].warmup);
    }
    for (uint32_t i = 0; i < p->made_count; i++)
        workload_close(&p->made[i]);
}

/* --- runs --- */

/* The side by itself; *run has the policy, virtual channels and limit. */
static int simulate_side(const struct corun *p, const struct client *side, uint32_t sms, struct dram_simulation *run,
                         struct err *err)
{
    run->platform = p->job->platform;
    run->progress = p->job->progress;
    run->sides = 1;
    run->side[0] = side->run;
    run->side[0].sms = sms;
    if (dram_simulation_run(run, err))
        return -1;
    if (run->first_done[0] < 0)
        return err_set(err, "the %s side does not finish, even alone", side->run.class == DRAM_PIM ? "PIM" : "MEM");
    return 0;
}

static int simulate_alone(struct corun *p, uint32_t s, struct err *err)
{
    const struct policy_head *alone = &dram_policy_alone_baseline()->head;
    struct replay_policy policy = {.head = alone, .params = mem_zalloc(1, alone->state_size, err)};
    struct client *side = &p->side[s];
    struct dram_simulation run = {.policy = &policy, .vcs = 1, .limit = INT64_MAX};
    int rc = policy.params ? 0 : -1;
    if (!rc) {
        param_defaults(alone->params, policy.params);
        rc = simulate_side(p, side, side->alone_sms, &run, err);
    }
    side->alone_cycles = run.first_done[0];
    if (!rc && run.totals.cycles)
        side->alone_rate = (double)run.totals.stats.in[DRAM_MEM] / (double)run.totals.cycles;
    free(policy.params);
    return rc ? err_at(err, "alone") : 0;
}

/* Once for all points of a sweep. */
static int run_alone(struct corun *p, uint32_t s, struct err *err)
{
    struct client *side = &p->side[s];
    char *name = p->job->sweep_cache ? client_text(p, s, "alone") : NULL;
    struct sweep_cache_value value;
    int rc = 0;
    if (name && sweep_cache_get(p->job->sweep_cache, name, &value)) {
        side->alone_cycles = value.whole;
        side->alone_rate = value.real;
    } else {
        rc = simulate_alone(p, s, err);
        if (name && !rc)
            sweep_cache_put(p->job->sweep_cache, name,
                            (struct sweep_cache_value){side->alone_cycles, side->alone_rate});
    }
    free(name);
    return rc;
}

static bool is_cut(const struct corun *p)
{
    return *p->side[0].left_out || *p->side[1].left_out;
}

/* Warn of the sides that were done sooner than alone. */
static int note_faster(const struct corun *p, const struct dram_simulation *run, struct outcome *out, struct err *err)
{
    char how[240], label[160];
    for (uint32_t s = 0; s < p->sides; s++) {
        const struct client *side = &p->side[s];
        const char *name = side->run.class == DRAM_PIM ? "PIM" : s ? "second MEM" : "MEM";
        struct dram_simulation control = {.policy = run->policy, .vcs = run->vcs, .limit = run->limit};
        if (run->first_done[s] < 0 || run->first_done[s] >= side->alone_cycles)
            continue;
        if (simulate_side(p, side, run->side[s].sms, &control, err))
            return -1;
        (void)snprintf(how, sizeof how, "under %s with vcs=%d, on %u",
                       replay_policy_label(run->policy, label, sizeof label), run->vcs, run->side[s].sms);
        dram_note_faster(out, name, run->first_done[s], side->alone_cycles, control.first_done[0], how);
    }
    return 0;
}

/* Add up the sides' counts, as all front ends report them. */
static void add_up(const struct corun *p, struct dram_simulation *run)
{
    struct dram_totals *t = &run->totals;
    for (uint32_t s = 0; s < run->sides; s++) {
        const int at = s == 1 || run->side[s].class == DRAM_PIM;
        t->class_cycles[at] = run->first_done[s];
        t->starved[at] = run->first_done[s] < 0;
        t->alone_cycles[at] = p->side[s].alone_cycles;
        t->simulated[at] = is_cut(p) ? p->side[s].simulated : -1;
        t->requests[run->side[s].class] += run->counts[s].packets_read + run->counts[s].packets_write;
    }
    t->two_gpu_kernels = run->sides == 2 && run->side[1].class == DRAM_MEM;
    if (run->side[0].class == DRAM_MEM && !t->two_gpu_kernels && t->cycles && p->side[0].alone_rate > 0)
        t->mem_arrival_ratio = (double)t->stats.in[DRAM_MEM] / (double)t->cycles / p->side[0].alone_rate;
}

static int run_policy(const struct corun *p, size_t i, struct outcome *out, struct err *err)
{
    const struct dram_settings *set = p->job->settings;
    struct dram_simulation run = {.platform = p->job->platform,
                                  .policy = &p->job->policies[i],
                                  .job = p->job,
                                  .progress = p->job->progress,
                                  .sides = p->sides,
                                  .vcs = (int)set->vcs,
                                  .repeat = p->repeat};
    int64_t longest = 0;
    for (uint32_t s = 0; s < p->sides; s++) {
        run.side[s] = p->side[s].run;
        longest = p->side[s].alone_cycles > longest ? p->side[s].alone_cycles : longest;
    }
    run.limit = dram_run_limit(set, longest);
    if (p->sides == 1)
        run.side[0].sms = p->side[0].alone_sms;
    if (dram_simulation_run(&run, err))
        return err_at(err, "%s", p->job->policies[i].head->name);
    add_up(p, &run);
    dram_metrics_fill(out, p->job, NULL, &run, &run.totals);
    if (p->part == 1 && !p->job->drawn && note_faster(p, &run, out, err)) /* else nobody reads the note */
        return err_at(err, "%s", p->job->policies[i].head->name);
    for (uint32_t s = 0; s < p->sides; s++)
        if (*p->side[s].left_out)
            outcome_note(out, "%s: %s (cut=none: whole)", p->side[s].name, p->side[s].left_out);
    progress_add(p->job->progress, 1);
    return 0;
}

/* Every policy's run is one thread's. */
static int run_policies(struct corun *p, struct outcome *runs, struct err *err)
{
    const struct replay_job *job = p->job;
    int failed = 0;
#pragma omp parallel for schedule(dynamic)                                                                             \
    num_threads(job->threads) if (!dram_options(job)->explain && job->policy_count > 1)
    for (size_t i = 0; i < job->policy_count; i++) {
        struct err mine = {""};
        if (__atomic_load_n(&failed, __ATOMIC_RELAXED))
            continue;
        const int rc = run_policy(p, i, &runs[i], &mine);
#pragma omp critical(dram_programs)
        if (rc && !failed++)
            *err = mine;
    }
    return failed ? -1 : 0;
}

static int all_alone(struct corun *p, struct err *err)
{
    int failed = 0;
#pragma omp parallel for num_threads(p->job->threads) if (p->sides > 1)
    for (uint32_t s = 0; s < p->sides; s++) {
        struct err mine = {""};
        const int rc = run_alone(p, s, &mine);
#pragma omp critical(dram_programs)
        if (rc && !failed++)
            *err = mine;
    }
    return failed ? -1 : 0;
}

/* Every policy of the job. */
static int replay_part(struct corun *p, struct outcome *runs, struct err *err)
{
    for (uint32_t i = 0; i < p->sides; i++)
        if (find_warmup(p, i, err))
            return -1;
    return all_alone(p, err) || run_policies(p, runs, err) ? -1 : 0;
}

/* --- whether the winner is one of the cut --- */

static double value_of(const struct outcome *run, const char *metric)
{
    const struct metric_value *v = outcome_get(run, metric);
    return v && v->known ? v->real : NAN;
}

/* By how much policy a leads b, and by how much half the cut moves the two. The lead must be more than that, and more
 * than what whole programs were seen to differ by where halves did not (docs/dram-engine.md, Cut): fairness, a ratio of
 * two speed-ups, moves further than their sum. */
struct lead {
    size_t a, b;
    double here, moved, rest;
};

static double near(const char *metric)
{
    return strcmp(metric, "fairness_index") == 0 ? 0.11 : 0.03;
}

static struct lead lead_of(const struct outcome *runs, const struct outcome *halves, size_t a, size_t b,
                           const char *metric)
{
    const double x = value_of(&runs[a], metric), y = value_of(&runs[b], metric);
    struct lead l = {.a = a, .b = b, .here = x - y};
    l.moved = fabs(x - value_of(&halves[a], metric)) + fabs(y - value_of(&halves[b], metric));
    l.rest = isnan(l.moved) ? -INFINITY : l.here - fmax(l.moved, near(metric) * x);
    return l;
}

/* Metrics by which another cut may have another winner, and why. */
struct doubt {
    char by[100], why[1400];
};

#define ADD(text, ...) (void)snprintf((text) + strlen(text), sizeof(text) - strlen(text), __VA_ARGS__)

/* The policy with most of a metric: in doubt if another may have more, or with `any`. */
static void judge(const struct replay_job *job, const struct outcome *runs, const struct outcome *halves,
                  const char *metric, bool any, struct doubt *d)
{
    char first[160], second[160], half[64];
    size_t best = 0;
    for (size_t i = 1; i < job->policy_count; i++)
        if (isnan(value_of(&runs[best], metric)) || value_of(&runs[i], metric) > value_of(&runs[best], metric))
            best = i;
    struct lead worst = {.rest = INFINITY};
    for (size_t i = 0; i < job->policy_count; i++) {
        const struct lead l = lead_of(runs, halves, best, i, metric);
        if (i != best && !isnan(l.here) && l.rest < worst.rest)
            worst = l;
    }
    if (isnan(value_of(&runs[best], metric)) || (worst.rest > 0 && !any))
        return;
    ADD(d->by, "%s%s", *d->by ? " and " : "", metric);
    if (any)
        return;
    (void)snprintf(half, sizeof half, isnan(worst.moved) ? "lets one make no end" : "moves the two by %.3g",
                   worst.moved);
    ADD(d->why, "; by %s %s leads %s by %.3g, and half the cut %s", metric,
        replay_policy_label(&job->policies[worst.a], first, sizeof first),
        replay_policy_label(&job->policies[worst.b], second, sizeof second), worst.here, half);
}

/* Of a side of which half the cut keeps nearly as much, a wave or an access of each warp, nothing is found out. */
static void judge_shares(const struct corun *p, const struct corun *half, struct doubt *d)
{
    static const char *const names[] = {"mem", "mem2"};
    for (uint32_t s = 0; s < p->sides; s++) {
        const double share = half->side[s].simulated;
        if (p->side[s].simulated < 1 && share > 0.75 * p->side[s].simulated)
            ADD(d->why, "; half the cut simulates as much, %.2g %%, so it proves nothing (%s_simulated_ratio)",
                100 * share, p->side[s].run.class == DRAM_PIM ? "pim" : names[s]);
    }
}

/* Run all again at half the cut, unless that is in doubt already. */
static int settle(struct corun *half, struct outcome *runs, struct doubt *doubt, struct err *err)
{
    static const char *const metrics[2][2] = {{"mem_speedup_ratio", "pim_speedup_ratio"}, /* of one side */
                                              {"system_throughput", "fairness_index"}};
    const struct replay_job *job = half->job;
    const bool any = *doubt->why;
    struct outcome *halves = mem_zalloc(job->policy_count, sizeof *halves, err);
    int rc = halves ? 0 : -1;
    for (size_t i = 0; i < job->policy_count && !rc; i++)
        rc = outcome_init(&halves[i], dram_metrics, err);
    if (!rc && !any)
        rc = replay_part(half, halves, err);
    const size_t of = !isnan(value_of(&runs[0], "fairness_index"));
    for (size_t i = 0; i < 2 && !rc; i++)
        judge(job, runs, halves, metrics[of][i], any, doubt);
    for (size_t i = 0; i < job->policy_count && *doubt->by; i++)
        outcome_note(&runs[i], RUN_WARNING RUN_UNSETTLED "%s may not be the same at another cut:%s", doubt->by,
                     doubt->why + 1);
    for (size_t i = 0; halves && i < job->policy_count; i++)
        outcome_release(&halves[i]);
    free(halves);
    return rc;
}

int dram_corun_programs_replay(const struct replay_job *job, struct outcome *runs, struct err *err)
{
    struct replay_job again = *job;
    struct corun p = {.job = job, .part = 1}, half = {.job = &again, .part = 2};
    struct doubt doubt = {"", ""};
    if (job->requests)
        return err_set(err, "--requests takes a stream of requests, not a program: 'offchip derive dram' writes a "
                            "program's requests as such a stream");
    again.engine_options = NULL;
    int rc = find_clients(&p, err);
    /* Draws of --robust say by themselves how sure a winner is. */
    const bool compared = !rc && is_cut(&p) && job->policy_count > 1 && !job->drawn;
    if (compared)
        rc = find_clients(&half, err);
    if (compared && !rc)
        judge_shares(&p, &half, &doubt);
    if (job->progress)
        atomic_store(&job->progress->total, job->policy_count * (compared && !*doubt.why ? 2 : 1));
    if (!rc)
        rc = replay_part(&p, runs, err);
    if (!rc && compared)
        rc = settle(&half, runs, &doubt, err);
    release_clients(&p);
    release_clients(&half);
    return rc;
}
