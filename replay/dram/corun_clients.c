#include "replay/dram/corun_clients.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "models/base/sections.h"
#include "models/gpu/occupancy.h"
#include "replay/run/sweep_cache.h"
#include "trace/base/mem.h"

/* Whether a trace that a workload was written into has requests in it that are not the workload's own. */
static bool holds_others(const struct store *store, const struct workload_type *type)
{
    const uint64_t requests = UINT64_C(1) << RECORD_DRAM_READ | UINT64_C(1) << RECORD_DRAM_WRITE |
                              UINT64_C(1) << RECORD_DRAM_WRITEBACK | UINT64_C(1) << RECORD_PIM;
    for (int i = 0; i < store_stream_count(store) && !type->next; i++)
        if (store_stream(store, i)->kinds & requests)
            return true;
    return false;
}

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
    if (has_view(made->type) && !holds_others(input->store, made->type))
        return made;
    workload_close(made);
    memset(made, 0, sizeof *made);
    return NULL;
}

int corun_clients_are(const struct replay_job *job, struct err *err)
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
static int keep_shares(struct corun_client *s, struct err *err)
{
    uint32_t n, k = 0;
    const struct program_cut_launch *launch = program_cut_launches(s->cut, &n);
    s->run.kept = s->kept = mem_zalloc(n + (size_t)1, sizeof *s->kept, err);
    for (uint32_t i = 0; s->kept && i < n; i++)
        if (launch[i].blocks_kept)
            s->kept[k++] = (double)launch[i].blocks_kept / (double)launch[i].blocks;
    return s->kept ? 0 : -1;
}

/* Of each warp a stretch in its middle. Around it as much is walked as what a gap's end has, of each kept wave. */
static int cut_warps(const struct corun_clients *p, struct corun_client *s, uint64_t sectors, struct err *err)
{
    const struct gpu *gpu = platform_section_get(p->job->platform, "gpu");
    uint32_t n;
    uint64_t waves = 0;
    const struct program_cut_launch *launch = program_cut_launches(s->cut, &n);
    for (uint32_t i = 0; i < n; i++)
        waves += launch[i].waves_kept;
    s->middle = warp_slice_new(s->run.program, (double)s->budget / (double)sectors,
                               (double)l2_warmup_sectors(gpu->l2_bytes) * (double)waves / (double)sectors, err);
    if (!s->middle)
        return -1;
    s->run.program = warp_slice_program(s->middle);
    const struct warp_slice_facts f = warp_slice_facts(s->middle);
    const double share = f.whole ? (double)f.accesses / (double)f.whole : 1;
    const size_t at = strlen(s->left_out);
    s->keeps *= share;
    if (share < 1)
        (void)snprintf(s->left_out + at, sizeof s->left_out - at, "%s the middle of each warp, %.1f %% of the accesses",
                       at ? "," : "cut to", 100 * share);
    return 0;
}

/* Whole waves of blocks; where one wave is still too much, of each warp its middle. */
static int cut_gpu(struct corun_clients *p, struct corun_client *s, struct err *err)
{
    const struct room room = {platform_section_get(p->job->platform, "gpu"), s->run.sms};
    s->cut = program_cut_new(s->run.program, s->budget, resident, &room, err);
    if (!s->cut)
        return -1;
    if (keep_shares(s, err))
        return -1;
    s->run.program = program_cut_program(s->cut);
    const struct program_cut_facts f = program_cut_facts(s->cut);
    const double launches = f.launches ? (double)f.whole_launches / (double)f.launches : 1;
    s->keeps = f.whole_sectors ? (double)f.sectors / (double)f.whole_sectors * launches : 1;
    if (f.sectors < f.whole_sectors)
        (void)snprintf(s->left_out, sizeof s->left_out,
                       "cut to %" PRIu64 " of %" PRIu64 " blocks in %" PRIu64 " of %" PRIu64
                       " launches, about %.1f %% of its sectors",
                       f.blocks, f.whole_blocks, f.launches, f.whole_launches,
                       100.0 * (double)f.sectors / (double)f.whole_sectors);
    if (f.sectors <= 2 * s->budget)
        return 0;
    return cut_warps(p, s, f.sectors, err);
}

/* Of each warp the first accesses. */
static int cut_pim(struct corun_clients *p, struct corun_client *s, struct err *err)
{
    (void)p;
    struct program_launch first;
    s->run.program->ops->launch(s->run.program->state, 0, &first);
    const uint64_t accesses = s->budget / program_warps(&first);
    s->prefix = program_prefix_new(s->run.program, accesses ? accesses : 1, err);
    if (!s->prefix)
        return -1;
    s->run.program = program_prefix_program(s->prefix);
    const struct program_prefix_facts f = program_prefix_facts(s->prefix);
    s->keeps *= f.whole ? (double)f.accesses / (double)f.whole : 1;
    if (f.accesses < f.whole)
        (void)snprintf(s->left_out, sizeof s->left_out,
                       "cut to the first %" PRIu64 " of %" PRIu64 " accesses of a warp", f.accesses, f.whole);
    return 0;
}

static struct corun_client *add_side(struct corun_clients *p, struct err *err)
{
    if (p->sides == DRAM_PORTS) {
        err_set(err, "more than two sides: expected MEM and PIM requests, or two --mem");
        return NULL;
    }
    p->side[p->sides].keeps = 1;
    return &p->side[p->sides++];
}

static int take_program(struct corun_client *s, const struct input *input, const struct workload *w, struct err *err)
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
static int take_input(struct corun_clients *p, const struct input *input, struct err *err)
{
    struct corun_client *s = add_side(p, err);
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
static int order_sides(struct corun_clients *p, struct err *err)
{
    if (p->sides == 2 && p->side[0].run.class == DRAM_PIM) {
        if (p->side[1].run.class == DRAM_PIM)
            return err_set(err, "two PIM programs: expected MEM and PIM, or two --mem");
        const struct corun_client pim = p->side[0];
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
static void set_apart(struct corun_clients *p)
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
static int64_t asked_sms(const struct corun_clients *p, uint32_t s)
{
    const struct dram_settings *set = p->job->settings;
    const struct gpu *gpu = platform_section_get(p->job->platform, "gpu");
    const struct dram_platform *dram = platform_section_get(p->job->platform, "dram");
    if (p->side[s].run.class == DRAM_PIM)
        return dram->pim_sms;
    const int64_t wish = p->side[s].wish.sms ? p->side[s].wish.sms : s == 1 ? set->mem2_sms : set->mem_sms;
    return wish == gpu->sms && s == 0 ? 0 : wish;
}

/* The launch latency is cut as the work of a launch is: what one is to the other stays. */
static void set_latency(const struct corun_clients *p, struct corun_client *side)
{
    const struct dram_settings *set = p->job->settings;
    const struct gpu *gpu = platform_section_get(p->job->platform, "gpu");
    const struct dram_platform *dram = platform_section_get(p->job->platform, "dram");
    const double core = set->launch_gap >= 0 ? (double)set->launch_gap * (double)gpu->clock_hz / (double)dram->clock_hz
                                             : (double)dram->launch_latency * side->keeps;
    side->run.launch_cycles = (int64_t)(core + 0.5);
}

/* Multiprocessors of each side, together and alone. */
static int share_sms(struct corun_clients *p, struct err *err)
{
    const struct gpu *gpu = platform_section_get(p->job->platform, "gpu");
    int64_t left = gpu->sms;
    for (uint32_t s = p->sides; s-- > 0;) {
        struct corun_client *side = &p->side[s];
        if (side->run.class == DRAM_PIM && dram_without_pim(p->job->platform, err))
            return -1;
        const int64_t asked = asked_sms(p, s), own = asked ? asked : left;
        if (own < 1 || own > left)
            return err_set(err, "side %u takes %lld multiprocessors; expected 1 to %lld of the GPU's %lld", s + 1,
                           (long long)own, (long long)left, (long long)gpu->sms);
        side->run.sms = (uint32_t)own;
        side->alone_sms = (uint32_t)(asked ? own : gpu->sms);
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

char *corun_clients_text(const struct corun_clients *p, uint32_t s, const char *what)
{
    static const char *const sections[] = {"gpu", "dram"};
    static const struct param *const tables[] = {gpu_params, dram_params};
    const struct corun_client *side = &p->side[s];
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

static void release_remains(void *remains)
{
    l2_warmup_free(remains);
}

static struct l2_warmup *make_remains(const struct corun_clients *p, const struct corun_client *s, struct err *err)
{
    const struct gpu *gpu = platform_section_get(p->job->platform, "gpu");
    const struct room room = {gpu, s->run.sms};
    struct program_rest *rest =
        program_rest_new(&s->program, s->cut, l2_warmup_sectors(gpu->l2_bytes), s->middle, p->repeat, err);
    struct l2_warmup *remains = NULL;
    struct dram_l2 l2 = {0};
    if (rest && dram_l2_init(&l2, platform_section_get(p->job->platform, "dram"), gpu, err) == 0)
        remains = l2_warmup_new(rest, &l2, s->run.offset, resident, &room, err);
    dram_l2_release(&l2);
    program_rest_free(rest);
    return remains;
}

/* Of a GPU program of which something is left out; once for all points of a sweep. */
static int find_remains(struct corun_clients *p, uint32_t i, struct err *err)
{
    struct corun_client *s = &p->side[i];
    const struct gpu *gpu = platform_section_get(p->job->platform, "gpu");
    if (!s->cut || !*s->left_out || !gpu->l2_bytes)
        return 0;
    char *name = p->job->shared ? corun_clients_text(p, i, p->repeat ? "remains of" : "remains within") : NULL;
    struct l2_warmup *kept = name ? sweep_cache_object(p->job->shared, name) : NULL;
    if (!kept) {
        s->remains = make_remains(p, s, err);
        if (s->remains && name && (kept = sweep_cache_keep(p->job->shared, name, s->remains, release_remains)))
            s->remains = NULL;
    }
    free(name);
    s->run.remains = kept ? kept : s->remains;
    return s->run.remains ? 0 : -1;
}

int corun_clients_find(struct corun_clients *p, struct err *err)
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
        struct corun_client *s = &p->side[i];
        s->budget = s->wish.requests ? s->wish.requests : p->cut;
        if (s->budget && (s->run.class == DRAM_PIM ? cut_pim : cut_gpu)(p, s, err))
            return -1;
    }
    for (uint32_t i = 0; i < p->sides; i++)
        set_latency(p, &p->side[i]);
    if (p->sides == 2 && p->side[1].run.class == DRAM_MEM)
        set_apart(p);
    p->repeat = p->sides == 2 && (set->loop == 1 || (set->loop == 2 && !p->once));
    for (uint32_t i = 0; i < p->sides; i++)
        if (find_remains(p, i, err))
            return -1;
    return 0;
}

void corun_clients_release(struct corun_clients *p)
{
    for (int s = 0; s < DRAM_PORTS; s++) {
        program_cut_free(p->side[s].cut);
        free(p->side[s].kept);
        program_prefix_free(p->side[s].prefix);
        warp_slice_free(p->side[s].middle);
        l2_warmup_free(p->side[s].remains);
    }
    for (uint32_t i = 0; i < p->made_count; i++)
        workload_close(&p->made[i]);
}
