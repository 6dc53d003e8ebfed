/* The part of uvm_recorded that answers a job: every policy of it, and what is said of the recording whatever the
 * policy. */
#include <stdlib.h>

#include "replay/uvm/recording/uvm_gain.h"
#include "replay/uvm/uvm_beside.h"
#include "replay/uvm/uvm_recorded.h"
#include "trace/base/mem.h"

/* --- the job --- */

/* A speed-up against a time without a bound has none either. */
static void say_baseline(const struct replay_job *job, struct outcome *runs, bool exact_base, size_t i, bool exact)
{
    const struct metric_value *time = outcome_get(&runs[i], "time_ns");
    if (i != job->baseline && exact && !exact_base && time->known)
        outcome_note(&runs[i], UVM_NO_BOUND "speedup_ratio: the baseline's time has none");
}

/* The value of a setting of the job's engine. */
static int64_t setting(const struct replay_job *job, const struct param *table, const char *name)
{
    const struct param *row = param_find(table, name);
    return row && job->settings ? param_int(row, job->settings) : 0;
}

int uvm_recorded_is(struct store *store, struct err *err)
{
    bool migrations = false, touches = false;
    for (int s = 0; s < store_stream_count(store) && !touches; s++) {
        struct store_cursor *cursor = store_cursor_open(store, s, err);
        if (!cursor)
            return -1;
        const struct record *records;
        size_t n;
        int more;
        while (!touches && (more = store_cursor_next(cursor, &records, NULL, &n, err)) > 0)
            for (size_t i = 0; i < n; i++) {
                migrations |= records[i].kind == RECORD_MIGRATE_H2D;
                touches |= records[i].kind == RECORD_TOUCH;
            }
        store_cursor_close(cursor);
        if (!touches && more < 0)
            return -1;
    }
    return migrations && !touches;
}

int uvm_recorded_replay(const struct replay_job *job, struct outcome *runs, struct err *err)
{
    const struct engine *engine = engine_find("uvm");
    const struct param *table = engine ? engine->settings : NULL;
    struct store *store = job->inputs[0].store;
    struct uvm_recording recording;
    const struct recording wanted = {setting(job, table, "process"), setting(job, table, "gpu")};
    if (uvm_recording_load(&recording, store, wanted, err))
        return -1;
    struct uvm_recorded_parts parts = {0};
    struct uvm_known known = {0};
    bool *exact = mem_zalloc(job->policy_count, sizeof *exact, err);
    int rc = !exact                  ? -1
             : recording.visit_count ? 0
                                     : err_set(err, "%s holds no migration to the GPU", store_path(store));
    if (rc == 0)
        rc = uvm_recorded_parts_init(&parts, &recording, store, err);
    if (rc == 0)
        rc = uvm_known_init(&known, &recording, err);
    const struct input *touches = uvm_beside_input(job);
    char share[256];
    const struct uvm_gain gain = uvm_gain_of(&recording);
    (void)uvm_gain_say(&gain, share, sizeof share);
    if (rc == 0 && touches)
        rc = uvm_beside_narrow(&known, touches, runs, job->policy_count, err);
    for (size_t i = 0; rc == 0 && i < job->policy_count; i++) {
        char label[256];
        struct uvm_recorded_run run = {.recording = &recording,
                                       .known = &known,
                                       .label = replay_policy_label(&job->policies[i], label, sizeof label),
                                       .policy = uvm_policy_of(job->policies[i].head),
                                       .params = job->policies[i].params,
                                       .evict = job->policies[i].second ? uvm_evict_of(job->policies[i].second) : NULL,
                                       .platform = platform_section_get(job->platform, "uvm"),
                                       .oversubscription_pct = setting(job, table, "oversubscription_pct"),
                                       .gpu_memory_bytes = setting(job, table, "gpu_memory_bytes"),
                                       .traced = setting(job, table, "traced") != 0,
                                       .progress = job->progress,
                                       .parts = &parts};
        enum uvm_answer answer;
        rc = uvm_recorded_run(&run, &runs[i], &answer, err);
        exact[i] = rc == 0 && answer == UVM_EXACT;
        if (*share)
            outcome_note(&runs[i], "%s", share);
        if (rc == 0 && !store_complete(store))
            outcome_note(&runs[i], "the recording is incomplete: it ends before its writer was done");
    }
    for (size_t i = 0; rc == 0 && i < job->policy_count; i++)
        say_baseline(job, runs, exact[job->baseline], i, exact[i]);
    free(exact);
    uvm_recorded_parts_release(&parts);
    uvm_known_release(&known);
    uvm_recording_release(&recording);
    return rc;
}
