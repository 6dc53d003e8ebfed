#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/gpu/occupancy.h"
#include "replay/compare/compare_rows.h"
#include "replay/zerocopy/zerocopy.h"
#include "trace/base/mem.h"
#include "trace/base/sorted.h"
#include "trace/derived/limits.h"

/* --- the first blocks of launches --- */

/* Waves of blocks that a launch has; 0: it is the CPU's. */
double compare_waves(const struct program_launch *launch, const struct gpu *gpu, uint64_t *wave)
{
    *wave = launch->cpu ? 0 : (uint64_t)occupancy_resident(gpu, launch, (uint32_t)gpu->sms) * (uint64_t)gpu->sms;
    return *wave ? (double)launch->blocks / (double)*wave : 0;
}

uint64_t *compare_cut_blocks(const struct compare_cut *cut, const struct program *program, const struct gpu *gpu,
                             double *kept, struct err *err)
{
    const uint32_t launches = program->ops->launches(program->state);
    uint64_t *blocks = mem_zalloc(launches + 1, sizeof *blocks, err), wave;
    *kept = 0;
    for (uint32_t l = 0; blocks && l < launches; l++) {
        const struct program_launch shape = program_launch_of(program, l);
        const double waves = compare_waves(&shape, gpu, &wave);
        blocks[l] = shape.blocks;
        if (waves * cut->least > 1 - 1e-9)
            blocks[l] = wave * (uint64_t)fmax(1, round(waves * cut->share));
        *kept += (double)(blocks[l] * program_warps_of_block(&shape));
    }
    return blocks;
}

static int take_first(struct compare_program *f, struct err *err)
{
    const struct program whole = f->touching.program;
    double kept;
    f->blocks = compare_cut_blocks(&f->request->cut, &whole, platform_section_get(f->platform, "gpu"), &kept, err);
    actor_input_close(&f->touching);
    if (f->blocks)
        program_first_init(&f->cut, &whole, f->blocks);
    return f->blocks ? actor_input_program(&f->touching, &f->cut.adapter.program, err) : -1;
}

static int find_touched(struct compare_program *f, struct uvm_later *later, struct err *err)
{
    const uint32_t launches = f->ops->launches(f->actors);
    struct actor_launch shape;
    struct actor_step step;
    int rc = 0;
    for (uint32_t l = 0; l < launches; l++) {
        f->ops->launch(f->actors, l, &shape);
        for (uint32_t a = 0; f->ops->like(f->actors, l) == l && a < shape.actors; a++) {
            struct actor_at at = {0};
            while ((rc = f->ops->step((void *)f->actors, l, a, &at, &step, err)) == 1)
                for (uint32_t i = 0; i < step.count + step.stores; i++) {
                    const uint16_t page = step.page[i] % ACTOR_BLOCK_PAGES;
                    struct uvm_later *b = &later[step.page[i] / ACTOR_BLOCK_PAGES];
                    b->first = b->end && b->first < page ? b->first : page;
                    b->end = b->end > page ? b->end : (uint16_t)(page + 1);
                }
        }
    }
    return rc;
}

/* Memory that the first blocks do not touch was brought by the other blocks before a later launch, so mark it as on the
 * GPU. */
static void leave_alone(struct compare_program *f)
{
    const uint64_t blocks = actor_space_pages(f->allocs, f->alloc_count) / ACTOR_BLOCK_PAGES;
    f->later = mem_zalloc(blocks, sizeof *f->later, NULL);
    if (f->later)
        (void)find_touched(f, f->later, NULL); /* kept steps do not fail */
    for (uint64_t b = 0; f->later && b < blocks; b++)
        f->reached += f->later[b].end - f->later[b].first;
}

/* --- what is counted --- */

/* All rows take the same steps: work them out once, if there is room, and count what they touch meanwhile. */
static void keep_steps(struct compare_program *f)
{
    struct err why;
    f->ops = f->touching.ops;
    f->actors = f->touching.state;
    if (!f->touching.program.ops || !platform_has(f->platform, "uvm"))
        return;
    const int threads = f->request->threads;
    const struct gpu *gpu = platform_section_get(f->platform, "gpu");
    const struct pcie *link = platform_section_get(f->platform, "pcie");
    if (link && link->load_ns > 0) /* reads over it may be simulated */
        f->weights = launch_weights_open(&f->touching.program, (uint32_t)gpu->sms, &why);
    f->watch = totals_watch_open(f->touching.pages, gpu, f->weights, &why);
    if (f->watch)
        f->tracks = actor_tracks_open(&totals_watch_ops, f->watch, actor_tracks_room(threads), threads);
    if (!f->tracks) {
        launch_weights_close(f->weights);
        f->weights = NULL;
        return;
    }
    totals_watch_end(f->watch, &f->totals);
    f->ops = &actor_tracks_ops;
    f->actors = f->tracks;
    if (f->request->cut.input)
        leave_alone(f);
}

static int count(struct compare_program *f, struct err *err)
{
    const struct gpu *gpu = platform_section_get(f->platform, "gpu");
    const struct program *program = &f->touching.program;
    if (!program->ops)
        return err_set(err, "the input says which pages are touched, not what kernels write");
    if (!f->tracks && program_totals_init(&f->totals, program, gpu, err)) {
        program_totals_release(&f->totals);
        return -1;
    }
    program_copies_count(&f->copies, &f->totals);
    for (size_t i = 0; i < f->totals.alloc_count; i++)
        f->device_bytes += f->totals.allocs[i].device ? f->totals.allocs[i].bytes : 0;
    return 0;
}

/* Bytes for the memory in question, by the rule of uvm_managed.h. Less than a block is refused by managed rows alone.
 */
static int take_memory(struct compare_program *f, struct err *err)
{
    const struct uvm_managed_settings *set = &f->set->managed;
    const struct uvm_managed asked = {.platform = f->platform, .settings = set};
    if (!set->gpu_memory_bytes && uvm_managed_check(&asked, err))
        return -1;
    f->memory = set->oversubscription_pct && !set->gpu_memory_bytes
                    ? f->footprint * 100 / (uint64_t)set->oversubscription_pct
                    : (uint64_t)uvm_managed_memory(&asked, f->footprint);
    return 0;
}

/* --- launches that are replaced by others --- */

static void spared_free(struct compare_spared *spared)
{
    if (spared)
        free(spared->amounts);
    free(spared);
}

/* Where rows may stop, a few launches stand for all. */
static int spare_launches(struct compare_program *f, struct err *err)
{
    const struct workload *w = &f->input->workload;
    if (!compare_stops(f) || !w->type || !w->type->spare)
        return 0;
    struct compare_spared *s = mem_zalloc(1, sizeof *s, err);
    if (s)
        s->amounts = mem_zalloc(f->touching.ops->launches(f->touching.state) + 1, sizeof *s->amounts, err);
    if (s && s->amounts && w->type->spare(w->state, s->amounts)) {
        f->spared = s;
        return 0;
    }
    const bool failed = !s || !s->amounts;
    spared_free(s);
    return failed ? -1 : 0;
}

/* What a launch of one amount takes, and how far from the line of those next to it. */
struct spared_point {
    double amount, ns, off;
    double launches;
};

static int more_first(const void *a, const void *b)
{
    return ORDER_OF(((const struct spared_point *)b)->amount, ((const struct spared_point *)a)->amount);
}

/* A line between two that are half as far apart is a quarter as far off, always to the same side; but what lies off it
 * by chance, as where the longest list is read or not, stands for all that become it: chance adds up by squares. */
static double off_by(struct spared_point *p, size_t n)
{
    double off = 0, squares = 0, all = 0;
    sort_items(p, n, sizeof *p, more_first);
    for (size_t i = 1; i + 1 < n; i++) {
        const double by = (p[i].amount - p[i + 1].amount) / (p[i - 1].amount - p[i + 1].amount);
        p[i].off = fabs(p[i].ns - p[i + 1].ns - by * (p[i - 1].ns - p[i + 1].ns));
    }
    for (size_t i = 0; i < n; i++) {
        const double most = p[i].launches * fmax(p[i].off, fmax(i ? p[i - 1].off : 0, i + 1 < n ? p[i + 1].off : 0));
        off += most / 4;
        squares += most * most;
        all += p[i].launches * p[i].ns;
    }
    return all > 0 ? fmax(off, sqrt(squares)) / all : 0;
}

double compare_spared_off(const struct compare_program *f, double (*ns)(const void *ctx, uint32_t launch),
                          const void *ctx)
{
    const struct program *program = &f->touching.program;
    const uint32_t launches = f->spared ? program->ops->launches(program->state) : 0;
    struct spared_point *points = mem_zalloc(launches + 1, sizeof *points, NULL);
    size_t n = 0;
    for (uint32_t l = 0; points && l < launches; l++) {
        size_t i = 0;
        while (i < n && points[i].amount != f->spared->amounts[l])
            i++;
        points[i].amount = f->spared->amounts[l];
        points[i].ns = ns(ctx, program_like(program, l));
        points[i].launches++;
        n += i == n;
    }
    const double off = points ? off_by(points, n) : 0;
    free(points);
    return off;
}

static double took_ns(const void *took, uint32_t launch)
{
    return ((const struct zerocopy_took *)took)->of[launch].time_ns;
}

/* Of a row, by what its launches took. */
static double row_off(const struct compare_program *f, const struct compare_row *row)
{
    if (row->mechanism != COMPARE_ZEROCOPY)
        return f->spared->off;
    for (int i = 0; i < ZEROCOPY_TOOK && f->took[i].of; i++)
        if (strcmp(f->took[i].pattern, row->policy) == 0)
            return compare_spared_off(f, took_ns, &f->took[i]);
    return 0;
}

int compare_spared_say(const struct compare_program *f, struct compare_result *result, struct err *err)
{
    enum { NEAR_PCT = 3 };
    const struct program *program = &f->touching.program;
    const uint32_t launches = program->ops->launches(program->state);
    uint32_t own = 0;
    double most = 0;
    char text[256];
    for (uint32_t l = 0; l < launches; l++)
        own += program_like(program, l) == l;
    for (size_t i = 0; i < result->count; i++) {
        const double off = row_off(f, &result->rows[i]);
        if (off * 100 > NEAR_PCT)
            outcome_unbound(&result->rows[i].outcome, "time_ns");
        most = fmax(most, off);
    }
    (void)snprintf(text, sizeof text,
                   LIMITS_BEGIN
                   "%u of %u launches are simulated, the others as one that reads nearly as much; times may "
                   "be off by %.1f %% for that (--whole: all)",
                   own, launches, most * 100);
    result->limits = json_pack("[s]", text);
    result->in_part = true;
    for (size_t i = 0; i < result->count && result->limits; i++)
        outcome_note_all(&result->rows[i].outcome, result->limits);
    return result->limits ? 0 : err_set(err, "out of memory");
}

int compare_program_open(struct compare_program *f, const struct compare_request *request, const struct input *input,
                         const struct platform *platform, const struct compare_set *set, struct err *err)
{
    *f = (struct compare_program){
        .request = request, .input = input, .platform = platform, .set = set, .threads = request->threads};
    if (!actor_input_is(input)) {
        err_set(&f->uncounted, "the input does not say what is touched");
        return 0;
    }
    if (actor_input_open(&f->touching, input, err))
        return -1;
    if (request->cut.input && take_first(f, err)) {
        free(f->blocks);
        return -1;
    }
    f->touches = true;
    f->allocs = f->touching.ops->allocs(f->touching.state, &f->alloc_count);
    for (size_t i = 0; i < f->alloc_count; i++)
        f->footprint += f->allocs[i].bytes;
    int rc = take_memory(f, err);
    compare_recorded_time(f);
    rc = rc ? rc : spare_launches(f, err);
    if (rc == 0)
        return 0;
    compare_program_close(f);
    return -1;
}

int compare_program_count(struct compare_program *f, struct err *err)
{
    if (!f->touches)
        return 0;
    keep_steps(f);
    if (f->touching.kind == UVM_INPUT_ACCESSES && f->recorded_ns <= 0 && platform_has(f->platform, "gpu") &&
        compare_used_count(f, err))
        return -1;
    f->counted = count(f, &f->uncounted) == 0;
    return f->counted || !err_pass_memory(&f->uncounted, err) ? 0 : -1;
}

void compare_program_close(struct compare_program *f)
{
    if (f->counted)
        program_totals_release(&f->totals);
    actor_tracks_close(f->tracks);
    totals_watch_close(f->watch);
    launch_weights_close(f->weights);
    if (f->touches)
        actor_input_close(&f->touching);
    free(f->later);
    free(f->used);
    spared_free(f->spared);
    free(f->blocks);
}

bool compare_next_policy(const char **list, char *policy, size_t size)
{
    size_t n = strcspn(*list, ",");
    (void)snprintf(policy, size, "%.*s", (int)n, *list);
    *list += n + ((*list)[n] == ',');
    return n > 0;
}

struct compare_row *compare_find(const struct compare_result *result, enum compare_mechanism mechanism,
                                 const char *policy)
{
    for (size_t i = 0; i < result->count; i++)
        if (result->rows[i].mechanism == mechanism && strcmp(result->rows[i].policy, policy) == 0)
            return &result->rows[i];
    return NULL;
}

bool compare_wanted(const struct compare_program *f, enum compare_mechanism mechanism, const char *policy)
{
    const bool part = !f->only && f->request->wanted && mechanism == COMPARE_MANAGED;
    const struct compare_row *only = part ? f->request->wanted : f->only;
    if (!only)
        return !compare_file_has(f->keep, mechanism, policy);
    for (size_t i = 0; i < (part ? f->request->wanted_count : f->only_count); i++)
        if (only[i].mechanism == mechanism && (!policy || strcmp(only[i].policy, policy) == 0))
            return true;
    return false;
}
