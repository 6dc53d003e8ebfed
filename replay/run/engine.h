/* engine: the mechanism that turns records or actors into outcomes on a platform, asking policies where a decision is
 * due; and the run loop that every engine shares (policy lists, baseline, speed-up, checks, JSON). */
#pragma once

#include <stdio.h>

#include "models/base/platform.h"
#include "models/base/policy.h"
#include "replay/results/run_case.h"
#include "replay/run/input.h"
#include "replay/run/outcome.h"
#include "replay/run/platform_use.h"
#include "replay/run/sweep_cache.h"
#include "trace/base/mem.h"

/* One policy of the list, with its parameters; of two axes both, as "tree+random" names them. */
struct replay_policy {
    const struct policy_head *head;
    void *params; /* head->state_size bytes, zeroed, params stored; the engine copies it for each run */
    const struct policy_head *second; /* of the engine's second axis; NULL: none was named */
    void *second_params;              /* as params; NULL without a second */
    const char *second_key;           /* "evict": before the names of its parameters, "evict.seed" */
};

struct replay_job {
    const struct input *inputs; /* at least one; opened */
    size_t input_count;
    const struct platform *platform;
    bool assumed;                         /* nobody named it, nor do the inputs */
    const struct replay_policy *policies; /* the listed ones; then the extra baseline, if any */
    size_t policy_count;
    size_t listed_count;        /* of them, those that the user listed */
    size_t baseline;            /* of them, what speed-ups are relative to */
    const void *settings;       /* the engine's settings struct (--set), checked */
    FILE *requests;             /* --requests: per-request CSV, NULL: none; whoever opened it finds what failed */
    const void *engine_options; /* of this engine alone: struct dram_options, zerocopy_options or uvm_recording_output;
                                   NULL: none */
    bool drawn;                 /* of a draw of --robust: what is said of the numbers themselves is not asked for */
    int threads;                /* at most this many */
    struct progress *progress;  /* may be NULL */
    struct sweep_cache *sweep_cache; /* shared with the other points of a sweep; may be NULL */
};

struct engine {
    const char *name;
    const char *summary;
    const char *default_platform;
    enum workload_view view;                   /* what a workload must have to be its input */
    const char *default_policies;              /* the list used without --policy */
    const struct policy_head *const *policies; /* ends with NULL; baselines stand in it too */
    const struct policy_head *const *second;   /* policies of a second axis, joined by '+'; NULL: there is none */
    const char *second_key;                    /* what it decides, "evict" */
    enum policy_interface plugin_interface, second_plugin_interface; /* of policies from files; POLICY_ANY: none */
    const struct param *settings;                                    /* --set */
    size_t settings_size;
    const struct metric *metrics;
    const char *headline;    /* metrics that people are shown unless they ask for all: "time_ns,speedup_ratio" */
    const char *ranks;       /* metrics by which policies rank, the usual one first; '-': less is better, '+': more */
    const char *measured_of; /* of its policies, where others have only the error of that; NULL: all are alike */
    const char *measured;    /* the mechanism whose measured error the first of them has (measured.h); NULL: none has */
    const char *const *roles; /* roles an input may have besides none ("mem", "pim"), NULL-ended; NULL: none */
    /* The sections of the platform that this job reads, ends with NULL; they are whole when it runs. */
    const char *const *(*sections)(const struct replay_job *job);
    /* Single numbers of other sections that it may read, "pcie.lanes", ends with NULL. NULL: none. */
    const char *const *(*besides)(const struct replay_job *job);
    bool recordings;  /* its runs can be recorded (--recording), its recordings completed (--touches) */
    bool controllers; /* its runs have memory controllers (--explain, --commands) */
    bool plain_files; /* inputs may be files that are no traces; the engine reads input->spec itself */
    /* With plain_files: whether such a file can be read and what it names can be had, before any work. */
    int (*check_plain)(const char *path, struct err *err);
    /* Run every policy of the job; runs[i] belongs to policies[i] and is initialised. An input the engine cannot
     * answer honestly for one policy is no failure: leave its metrics unknown and say why in a note. */
    int (*replay)(const struct replay_job *job, struct outcome *runs, struct err *err);
};

extern const struct engine *const engines[]; /* ends with NULL */
/* Engines that have runs in results but replay nothing: replay is NULL. Ends with NULL. */
extern const struct engine *const engines_results_only[];

const struct engine *engine_find(const char *name);

/* Returns the engine of runs in results: one of either list. */
const struct engine *engine_of_results(const char *name);

/* The policy of an engine, by both names; NULL: this program has none such, or it is joined, "tree+random". */
const struct policy_head *engine_policy(const char *engine, const char *policy);

/* The place of a policy's label among the engine's policies, where simple ones come first; with an eviction of its own,
 * "tree+random", behind all without. */
unsigned engine_simplicity(const struct engine *engine, const char *policy);
/* Whether the measured error that a policy has, hints or not ("tree, prefetched"), is that of another one. */
bool engine_unlike(const struct engine *engine, const char *policy);

/* The metric called `name` in the table of the engine of that name, or NULL. */
const struct metric *engine_metric(const char *engine, const char *name);

/* Returns whether people are shown the metric unless they ask for all: of the headline, or one that ranks. */
bool engine_shows(const struct engine *engine, const char *metric);

/* The n-th metric by which an engine (NULL: an unknown one) ranks, and whether more is better; false: there is none. */
bool engine_rank(const struct engine *engine, size_t n, char *name, size_t size, bool *more);

/* What `replay` runs: parsed from the command line or from a sweep point. */
struct replay_request {
    const struct engine *engine;
    const char *platform;                  /* NULL: of the GPU that the inputs name, else the engine's default */
    const struct platform *drawn_platform; /* runs in its place, `sets` applied; NULL: the platform itself */
    const char *policy_list;               /* NULL: the engine's default */
    const char *baseline;                  /* NULL: the first listed policy */
    const char *const *sets; /* "key=value" or "key=value,key=value"; engine settings, then platform numbers */
    size_t set_count;
    size_t grid_count;               /* of them, the last ones: of a sweep's --grid */
    const char *const *set_sections; /* whose numbers `sets` may name; NULL: those that the run reads */
    const struct input *inputs;
    size_t input_count;
    FILE *requests;
    const void *engine_options;       /* as in struct replay_job */
    const char *single_policy_option; /* "--commands": needs one policy and no other baseline; NULL: no such option */
    int threads;
    struct progress *progress;
    struct sweep_cache *sweep_cache; /* NULL: there are no other requests */
    uint32_t draws;                  /* of the platform's uncertain numbers (replay/run/robust.h); 0: none */
    const char *version;             /* of the models; NULL: this program's */
};

/* The results of one request. */
struct replay_result {
    const struct engine *engine;
    struct platform *platform;
    struct platform_choice choice;
    const char *const *sections; /* of the platform, those in use; NULL before the run */
    void *settings;
    struct replay_policy *policies;
    size_t policy_count; /* listed ones */
    bool extra_baseline; /* policies[policy_count] and runs[policy_count] hold it */
    size_t baseline;     /* its index */
    struct outcome *runs;
    uint32_t draws;                       /* as asked for */
    struct replay_robustness *robustness; /* NULL: not asked for, or not yet */
    json_t *base_numbers;                 /* {"uvm.compute_ns":200,..}: every number of the platform before --set */
    json_t *overrides;                    /* those given by --set, in the same form */
    json_t *given;                        /* the same as given: {"compute_ns":"1us"} */
    struct mem_texts texts;               /* what text parameters point at */
};

/* Whether a run has a value of the engine's m-th metric, or an interval. */
bool replay_knows(const struct replay_result *result, size_t metric);
/* The metric that decides: the first by which the engine ranks that a run knows. SIZE_MAX: none. */
size_t replay_decides(const struct replay_result *result, bool *more);

/* Parse the lists, run, fill speedup_ratio (where the engine has time_ns and speedup_ratio) against the baseline.
 * *usage says whether a failure is a usage error (exit 2) rather than one of data (exit 1). */
int replay_run(const struct replay_request *request, struct replay_result *result, bool *usage, struct err *err);

/* time_ns holds the bytes that the run names: no less than each direction takes at the platform's best rate. A value
 * below that is a fault of a model: it is withheld, that it is more than the bound stays, and a note says so. */
void replay_link_check(const struct platform *platform, struct outcome *run);

/* The two halves of replay_run(): parse (a failure is one of usage), then run. A failure releases the result. */
int replay_prepare(const struct replay_request *request, struct replay_result *result, struct err *err);
int replay_execute(const struct replay_request *request, struct replay_result *result, struct err *err);
void replay_release(struct replay_result *result);

/* The documented JSON object; NULL with *err set on failure. Freed with json_decref(). */
json_t *replay_to_json(const struct replay_result *result, const struct replay_request *request, struct err *err);

/* Parameters or settings as a JSON object: choices by name, integers exact. NULL: no memory. */
json_t *replay_params_json(const struct param *table, const void *owner);

/* All parameters of a policy: its own, then those of the second axis as "evict.seed". NULL if there is no memory. */
json_t *replay_policy_params_json(const struct replay_policy *policy);

/* Settings of the engine and overridden numbers of the platform, as one JSON object. NULL if there is no memory. */
json_t *replay_settings_json(const struct replay_result *result);

/* "tree", "tree+random". Returns buf. (in replay/run/policy_list.c) */
const char *replay_policy_name(const struct replay_policy *policy, char *buf, size_t size);

/* Its label (models/base/policy.h), "fixed:granularity=64KiB+random:seed=2". Returns buf. */
const char *replay_policy_label(const struct replay_policy *policy, char *buf, size_t size);

/* replay_case: the case of a prepared request (replay/results/run_case.h), and what names its runs in results. */

/* -1 with *err set on failure: then there is nothing to release. */
int replay_case(const struct replay_request *request, const struct replay_result *result, struct run_case *run_case,
                struct err *err);

/* {"policy":..,"params":{..}}: what the speed-ups of the request are relative to. NULL with *err set. */
json_t *replay_relative_to(const struct replay_result *result, struct err *err);

/* The key of one of its runs, an index into result->policies. */
int replay_key(const struct run_case *run_case, const struct replay_result *result, size_t run, char key[RUN_CASE_HASH],
               struct err *err);

/* policy_list: "fcfs,f3fs:mem_cap=256,pim_cap=128,fixed:granularity=64KiB" into policies with their parameters.
 *
 * Commas separate items, but for those inside [], which belong to a value; an item with '=' and no ':' before it is a
 * parameter of the policy before it. Policies of two axes are joined: "tree:threshold=40+random:seed=2"; a '+' before
 * the name of a policy of the second axis splits an item first. Later parameters belong to the half written last,
 * unless they name it, "evict.seed=2". Either half may be a file to load, "./mine.so:pages=16"
 * (models/plugin/plugin_load.h). */

struct policy_list {
    struct replay_policy *policies;
    size_t count, cap;
    struct mem_texts texts; /* what text parameters point at */
};

/* Append the policies of `text` for `engine`. On failure *err names the item and what was expected. */
int policy_list_add(struct policy_list *list, const struct engine *engine, const char *text, struct err *err);
void policy_list_release(struct policy_list *list);

/* Store a parameter of a policy: of its first half, or by "evict.seed" of its second. */
int replay_policy_set(const struct replay_policy *policy, const char *key, const char *value, struct err *err);

/* Release what a policy holds. */
void replay_policy_release(struct replay_policy *policy);

/* Whether two policies are the same with the same parameters. */
bool replay_policy_same(const struct replay_policy *a, const struct replay_policy *b);
