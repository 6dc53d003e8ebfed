/* offchip sweep: policies x parameters x inputs on all cores, resumable. */
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/console/progress_line.h"
#include "replay/derive/derive.h"
#include "replay/run/save.h"
#include "replay/run/sweep.h"
#include "trace/base/mem.h"
#include "trace/store/dbfile.h"
#include "trace/store/output.h"

/* Points of a sweep that are all looked at before the first is run. */
enum { CHECKED_POINTS = 1000 };

static const char *policy, *platform, *baseline, *output, *shard;
static struct opt_list sets, mems, pims, grids;
static int64_t draws, jobs;
static bool all, force;
static char *aside;     /* --force: what is filled until it takes the place of RESULTS; else NULL */
static int format = -1; /* not asked for: nothing is printed */

static const struct opt options[] = {
    OPT_GROUP("What runs"),
    OPT("policy", 'p', OPT_JOIN, "LIST", &policy, "policies, as for replay"),
    OPT("grid", 'g', OPT_LIST, "KEY=VALUES", &grids, "an axis: lo:hi:step, lo:hi:xFACTOR or a|b|c; repeatable"),
    OPT("baseline", 'b', OPT_TEXT, "POLICY", &baseline, "what speed-ups are relative to (default: the first policy)"),
    OPT("mem", 0, OPT_LIST, "INPUT", &mems, "dram: GPU memory streams; all pairs with --pim, or with each other"),
    OPT("pim", 0, OPT_LIST, "INPUT", &pims, "dram: PIM streams"),
    OPT_ROBUST(&draws),
    OPT("shard", 0, OPT_TEXT, "I/N", &shard, "run only the I-th of N parts of the points, I from 1"),
    {"jobs", 'j', OPT_INT, "N", &jobs, "points at once, of the last ones policies (default: all processors)", 1, 4096},
    OPT_GROUP("Machine"),
    OPT("platform", 'P', OPT_TEXT, "NAME|FILE.ini", &platform,
        "hardware numbers (default: of the GPU that a recording names, else the engine's)"),
    OPT("set", 's', OPT_LIST, "KEY=VALUE", &sets, "a setting for all points; repeatable"),
    OPT_GROUP("Output"),
    OPT("output", 'o', OPT_TEXT, "RESULTS", &output, "results file (needed); a finished point in it is not run again"),
    OPT("format", 0, OPT_CHOICE, "table|csv|json", &format, "also print all runs of RESULTS, as 'offchip report' does"),
    OPT("all", 'a', OPT_FLAG, NULL, &all, "with --format: every metric, those that are n/a too"),
    OPT("force", 'f', OPT_FLAG, NULL, &force,
        "replace RESULTS when all points are there; until then fill RESULTS.part"),
    {0}};

/* What the workers share. */
struct work {
    const struct sweep *sweep;
    size_t total, part, parts;
    size_t points, threads; /* of this part; of all points together */
    atomic_size_t written;  /* points on the disk, by this sweep */
    int each;               /* threads of what a point does not share out itself */
    atomic_size_t next;
    struct progress progress;
    struct sweep_cache *answers;
    atomic_size_t ran, found; /* points */
    atomic_size_t runs;       /* of those that ran, one for each policy */
    atomic_size_t resized;    /* run with arrays of another size than asked for */
    atomic_bool unnamed;      /* the platform of some is the engine's default */
    char id[33];
    int own;              /* descriptor of `aside`, which nobody else may fill; -1: none */
    pthread_mutex_t lock; /* of everything below */
    struct results *results;
    struct save_queue *queue; /* NULL: no point has run yet, and the file is not touched */
    bool failed, usage;
    struct err err;
};

static void fail(struct work *s, bool usage, const struct err *err)
{
    (void)pthread_mutex_lock(&s->lock);
    if (!s->failed) {
        s->failed = true;
        s->usage = usage;
        s->err = *err;
    }
    (void)pthread_mutex_unlock(&s->lock);
}

static const char *filled(void)
{
    return aside ? aside : output;
}

/* What is there when a sweep is cut off: points that this one wrote, and those it found. */
static void say_kept_at_signal(void *arg, size_t wrote)
{
    struct work *s = arg;
    const size_t kept = atomic_fetch_add(&s->written, wrote) + wrote + atomic_load(&s->found);
    cmd_on_signal_say("offchip: %zu of %zu points are kept in %s; the same command goes on from there\n", kept,
                      s->points, filled());
}

/* A signal comes before the file is there, or when it can be named. */
static int open_file(struct work *s, struct err *err)
{
    output_hold();
    s->results = results_open(filled(), RESULTS_APPEND, err);
    if (s->results)
        cmd_on_signal_say("offchip: %s keeps the points that were written; the same command goes on from there\n",
                          filled());
    output_release();
    if (s->results && aside && s->own < 0) { /* opened anew: before it is ours it may become RESULTS of another sweep */
        results_close(s->results);
        s->own = output_lock(aside, 0, err);
        s->results = s->own < 0 ? NULL : results_open(aside, RESULTS_APPEND, err);
    }
    if (!s->results || (aside && s->own < 0))
        return -1;
    s->queue = save_queue_open(s->results, s->id, (int64_t)s->total, err);
    if (s->queue)
        save_queue_tell(s->queue, say_kept_at_signal, s);
    return s->queue ? 0 : -1;
}

/* The way to the file, which is made for the first point that was run. NULL with *err set. */
static struct save_queue *queue_of(struct work *s, struct err *err)
{
    (void)pthread_mutex_lock(&s->lock);
    if (!s->results && open_file(s, err)) {
        results_close(s->results);
        s->results = NULL;
    }
    struct save_queue *queue = s->queue;
    (void)pthread_mutex_unlock(&s->lock);
    return queue;
}

/* One prepared point: looked up, run, saved. */
static void run_point(struct work *s, size_t index, const struct replay_request *request)
{
    struct replay_result result;
    struct err err = {""};
    if (replay_prepare(request, &result, &err)) {
        fail(s, true, &err);
        return;
    }
    if (result.choice.how == PLATFORM_CHOICE_DEFAULT)
        atomic_store(&s->unnamed, true);
    struct save_queue *queue = access(filled(), F_OK) == 0 ? queue_of(s, &err) : NULL;
    int there = queue ? save_queue_has(queue, request, &result, &err) : err.msg[0] ? -1 : 0;
    size_t runs = result.policy_count + result.extra_baseline;
    if (there < 0) {
        fail(s, false, &err);
    } else if (there == 0) {
        if (replay_execute(request, &result, &err)) {
            (void)err_at(&err, "point %zu of %zu", index + 1, s->total);
            fail(s, false, &err);
            return;
        }
        struct save_point point;
        queue = queue ? queue : queue_of(s, &err);
        if (!queue || save_point_init(&point, request, &result, (int64_t)(index * runs), &err) ||
            save_queue_add(queue, &point, &err))
            fail(s, false, &err);
        else {
            (void)atomic_fetch_add(&s->ran, 1);
            (void)atomic_fetch_add(&s->runs, runs);
        }
        char note[200];
        bool resized = false;
        for (size_t i = 0; i < request->input_count; i++)
            resized |= workload_size_note(&request->inputs[i].workload, note, sizeof note) != NULL;
        (void)atomic_fetch_add(&s->resized, resized);
        progress_add(&s->progress, 1);
    } else {
        (void)atomic_fetch_add(&s->found, 1);
        (void)atomic_fetch_sub(&s->progress.total, 1); /* no time was spent on it: the estimate is of the others */
    }
    replay_release(&result);
}

static struct replay_request request_of(const struct sweep *sweep, const struct sweep_job *job)
{
    return (struct replay_request){.engine = sweep->engine,
                                   .platform = job->platform,
                                   .policy_list = job->policy_list,
                                   .baseline = sweep->baseline,
                                   .sets = (const char *const *)job->sets,
                                   .set_count = job->set_count,
                                   .grid_count = job->set_count - sweep->set_count,
                                   .draws = sweep->draws};
}

/* A point has the threads to itself that no other one is left for: policies and draws share them. */
static void run_job(struct work *s, size_t index, int threads)
{
    struct sweep_job job;
    struct err err = {""};
    if (sweep_job_init(&job, s->sweep, index, &err)) {
        fail(s, true, &err);
        return;
    }
    struct input inputs[2];
    size_t opened = 0;
    for (size_t i = 0; i < job.spec_count; i++)
        if (input_check(job.specs[i], &err)) {
            fail(s, true, &err);
            sweep_job_release(&job);
            return;
        }
    while (opened < job.spec_count &&
           input_open(&inputs[opened], job.specs[opened], job.roles[opened], s->sweep->engine->plain_files, &err) == 0)
        opened++;
    if (opened < job.spec_count) {
        fail(s, false, &err);
    } else {
        struct replay_request request = request_of(s->sweep, &job);
        request.inputs = inputs;
        request.input_count = opened;
        request.threads = threads;
        request.sweep_cache = s->answers;
        run_point(s, index, &request);
    }
    while (opened-- > 0)
        input_close(&inputs[opened]);
    sweep_job_release(&job);
}

static void *worker(void *arg)
{
    struct work *s = arg;
    omp_set_num_threads(s->each); /* what main() set is of its own thread */
    for (;;) {
        size_t taken = atomic_fetch_add(&s->next, 1), i = taken * s->parts + s->part;
        (void)pthread_mutex_lock(&s->lock);
        bool stop = s->failed;
        (void)pthread_mutex_unlock(&s->lock);
        if (stop || i >= s->total)
            return NULL;
        size_t left = s->points - taken;
        run_job(s, i, (int)(left < s->threads ? s->threads / left : 1));
    }
}

static void run_all(struct work *s)
{
    pthread_t ids[256];
    size_t started = 0, threads = s->threads > 256 ? 256 : s->threads;
    while (started + 1 < threads && pthread_create(&ids[started], NULL, worker, s) == 0)
        started++;
    (void)worker(s);
    while (started-- > 0)
        (void)pthread_join(ids[started], NULL);
}

static int parse_shard(size_t *part, size_t *parts)
{
    *part = 0;
    *parts = 1;
    if (!shard)
        return EXIT_DONE;
    char *end;
    errno = 0;
    unsigned long i = strtoul(shard, &end, 10), n = 0;
    if (*end == '/' && end[1] >= '0' && end[1] <= '9')
        n = strtoul(end + 1, &end, 10);
    if (errno || *end || *shard < '0' || *shard > '9' || i < 1 || i > n)
        return cmd_usage("--shard is '%s'; expected I/N with 1 <= I <= N", shard);
    *part = i - 1;
    *parts = n;
    return EXIT_DONE;
}

/* A point as a request, without its inputs. */
static int check_point(const struct sweep *sweep, size_t index, struct err *err)
{
    struct sweep_job job;
    if (sweep_job_init(&job, sweep, index, err))
        return -1;
    int rc = 0;
    for (size_t i = 0; i < job.spec_count && !rc; i++)
        rc = input_check(job.specs[i], err);
    struct replay_request request = request_of(sweep, &job);
    struct replay_result result;
    if (!rc && (rc = replay_prepare(&request, &result, err)) == 0)
        replay_release(&result);
    sweep_job_release(&job);
    return rc;
}

/* Find misspellings before making a file. A large sweep checks each input and each value of a grid, not their
 * combinations. */
static int check_points(const struct sweep *sweep, size_t total, struct err *err)
{
    size_t step = sweep_inputs(sweep);
    const size_t first = total <= CHECKED_POINTS ? total : step;
    for (size_t i = 0; i < first; i++)
        if (check_point(sweep, i, err))
            return -1;
    for (size_t a = 0; a < sweep->axis_count && first < total; step *= sweep->axes[a++].count)
        for (size_t v = 1; v < sweep->axes[a].count; v++)
            if (check_point(sweep, v * step, err))
                return -1;
    return 0;
}

/* Files that are no inputs for the engine, before one point is run. */
static int check_inputs(const struct sweep *sweep, struct err *err)
{
    const char *const *const groups[] = {sweep->inputs, sweep->mems, sweep->pims};
    const size_t counts[] = {sweep->input_count, sweep->mem_count, sweep->pim_count};
    for (size_t g = 0; g < 3; g++)
        for (size_t i = 0; i < counts[g]; i++) {
            struct input input;
            const bool generated = strncmp(groups[g][i], "synth:", 6) == 0;
            if (generated && derive_view_check(groups[g][i] + 6, sweep->engine->view, err))
                return -1;
            if (generated)
                continue;
            if (input_open(&input, groups[g][i], "", sweep->engine->plain_files, err))
                return -1;
            cmd_say_notes(input.limits);
            const bool plain = !input.store;
            input_close(&input);
            if (plain && sweep->engine->check_plain(groups[g][i], err))
                return -1;
        }
    return 0;
}

/* Check that RESULTS can be added to or replaced, and is what it should be. */
static int check_output(struct work *s)
{
    const struct sweep *sweep = s->sweep;
    struct err err = {""};
    cmd_reads_all(sweep->inputs, sweep->input_count);
    cmd_reads_all(sweep->mems, sweep->mem_count);
    cmd_reads_all(sweep->pims, sweep->pim_count);
    cmd_reads_all(sweep->sets, sweep->set_count);
    cmd_reads_all(grids.items, grids.count);
    cmd_reads(platform);
    int status = cmd_writes(output, true);
    if (!status && aside)
        status = cmd_writes(aside, true);
    if (status || access(filled(), F_OK))
        return status;
    if (aside && (s->own = output_lock(aside, 0, &err)) < 0)
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    struct results_counts counts;
    struct results *results = results_open(filled(), RESULTS_APPEND, &err);
    int ours = results && !results_check(results, &counts, &err) ? results_sweeping(results, s->id, &err) : -1;
    results_close(results);
    if (ours < 0)
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    if (aside && !ours) {
        dbfile_remove(aside);
        (void)close(s->own);
        s->own = -1;
        cmd_say("'%s' was of another sweep: begun anew", aside);
    }
    return EXIT_DONE;
}

/* All points are there. */
static int finish_file(struct work *s, struct err *err)
{
    if (results_sweep_end(s->results, s->id, err))
        return -1;
    results_settle(s->results);
    results_close(s->results);
    s->results = NULL;
    char *target = aside ? output_resolve(output, err) : NULL;
    int failed = aside && (!target || dbfile_replace(aside, target, err)) ? -1 : 0;
    free(target);
    return failed;
}

/* Say what a failed or unfinished sweep leaves. */
static void say_kept(struct work *s)
{
    struct err err = {""};
    bool none = s->results && results_count(s->results, &err) == 0;
    if (aside && none)
        dbfile_remove(aside);
    else if (access(filled(), F_OK) == 0)
        cmd_say("%s keeps the points that were written; the same command goes on from there", filled());
}

static int execute(const struct sweep *sweep)
{
    struct work s = {.sweep = sweep, .own = -1};
    int status = parse_shard(&s.part, &s.parts);
    if (status != EXIT_DONE)
        return status;
    struct err err = {""};
    s.total = sweep_jobs(sweep, &err);
    if (!s.total || check_points(sweep, s.total, &err))
        return cmd_usage("%s", err.msg);
    sweep_id(sweep, shard, s.id);
    if ((status = check_output(&s)))
        return status;
    if (check_inputs(sweep, &err))
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    if (!(s.answers = sweep_cache_new(&err)))
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    (void)pthread_mutex_init(&s.lock, NULL);
    s.points = (s.total + s.parts - 1 - s.part) / s.parts;
    s.threads = (size_t)cmd_threads(jobs);
    s.each = omp_get_max_threads();
    atomic_store(&s.progress.total, s.points);
    struct progress_line *meter = progress_line_start(&s.progress, "sweep");
    run_all(&s);
    progress_line_stop(meter);
    sweep_cache_free(s.answers);
    if (!s.failed && !queue_of(&s, &err)) /* a shard may have no point */
        fail(&s, false, &err);
    if (save_queue_close(s.queue, &err) || (!s.failed && finish_file(&s, &err)))
        fail(&s, false, &err);
    if (s.failed) {
        status = s.usage ? cmd_usage("%s", s.err.msg) : cmd_fail(EXIT_DATA, "%s", s.err.msg);
        say_kept(&s);
    }
    results_close(s.results);
    (void)pthread_mutex_destroy(&s.lock);
    if (status)
        return status;
    cmd_on_signal_say("%s", "");
    cmd_say("%zu points run (%zu runs), %zu found finished in %s", atomic_load(&s.ran), atomic_load(&s.runs),
            atomic_load(&s.found), output);
    if (atomic_load(&s.unnamed))
        cmd_say("no --platform: on %s, default of %s", sweep->engine->default_platform, sweep->engine->name);
    if (atomic_load(&s.resized))
        cmd_say("of %zu of these points the arrays are not as large as bytes says: their sizes come in steps",
                atomic_load(&s.resized));
    return format < 0 ? EXIT_DONE : cmd_report_print(output, (enum opt_format)format, all);
}

/* Name the temporary file in the folder of the file itself, if its name is a link. */
static int name_aside(struct err *err)
{
    struct stat st;
    bool link = lstat(output, &st) == 0 && S_ISLNK(st.st_mode);
    char *target = link ? output_resolve(output, err) : mem_strdup(output, err);
    int failed = !target || asprintf(&aside, "%s.part", target) < 0 ? err_set(err, "out of memory") : 0;
    free(target);
    return failed;
}

static int run(int argc, char **argv)
{
    if (argc < 1)
        return cmd_usage("an engine is needed: offchip sweep ENGINE INPUT... -o RESULTS");
    const struct engine *engine = engine_find(argv[0]);
    if (!engine)
        return cmd_no_such("engine", argv[0]);
    if (!output)
        return cmd_usage("-o RESULTS is needed");
    if ((mems.count || pims.count) && !engine->roles)
        return cmd_usage("engine %s has no --mem and --pim inputs", engine->name);
    struct sweep sweep = {.engine = engine,
                          .inputs = (const char *const *)argv + 1,
                          .input_count = (size_t)argc - 1,
                          .mems = mems.items,
                          .mem_count = mems.count,
                          .pims = pims.items,
                          .pim_count = pims.count,
                          .policy_list = policy,
                          .baseline = baseline,
                          .platform = platform,
                          .sets = sets.items,
                          .set_count = sets.count,
                          .draws = (uint32_t)draws};
    struct err err = {""};
    int status = EXIT_DONE;
    if (force && name_aside(&err))
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    for (size_t i = 0; i < grids.count && status == EXIT_DONE; i++)
        if (sweep_add_axis(&sweep, grids.items[i], &err))
            status = cmd_usage("%s", err.msg);
    if (status == EXIT_DONE)
        status = execute(&sweep);
    sweep_release(&sweep);
    free(aside);
    return status;
}

const struct command cmd_sweep = {
    .name = "sweep",
    .summary = "run policies x parameters x inputs on all cores; goes on where it was stopped",
    .usage = "ENGINE INPUT... --policy LIST --grid KEY=VALUES... -o RESULTS [OPTIONS]",
    .details = "A grid's key is a setting of the engine, 'platform', POLICY.PARAMETER, a key of synth:PROGRAM, or a "
               "number of the platform.",
    .examples = "  offchip sweep uvm synth:bicg,bytes=1GiB --policy tree,fixed,adaptive --grid "
                "oversubscription_pct=100:200:25 -o s.db\n"
                "  offchip sweep dram --mem synth:gpu-g1 --mem synth:gpu-g2 --pim synth:pim-add --policy frfcfs,f3fs "
                "--grid 'vcs=1|2' -o d.db",
    .options = options,
    .run = run,
};
