/* compare: one program on one machine under every mechanism that can bring its data to the GPU: explicit copies,
 * unified memory under each prefetcher (with and without advice), zero-copy under each access pattern, hot rows kept on
 * the GPU, and on chips that share memory with the CPU device, managed or pinned memory. A row each, ranked by time.
 *
 * time_ns of every row is the same stretch: from the first transfer that the mechanism needs to the end of the last
 * kernel, with what the CPU takes back in between; back_ns is what bringing the results to the CPU afterwards would
 * take on top. The engines are the judges: nothing here has a cost of its own but the sum of an explicit copy
 * (compare_copy.c).
 *
 * A mechanism that cannot be had (memory too small, a section that the platform lacks, an input that does not say
 * enough) is a row without numbers whose note says why; it never wins. */
#pragma once

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "models/base/platform.h"
#include "replay/run/engine.h"
#include "replay/run/verdict.h"
#include "replay/uvm/uvm_managed.h"

struct param; /* trace/base/param.h */

enum compare_mechanism {
    COMPARE_COPY,
    COMPARE_MANAGED,
    COMPARE_ZEROCOPY,
    COMPARE_BLOCKS, /* rows copied one by one */
    COMPARE_TIERED, /* hot rows on the GPU, the others read from the host */
    COMPARE_DEVICE, /* this one and pinned: where GPU and CPU share their memory */
    COMPARE_PINNED,
    COMPARE_MIXED, /* a mechanism for each allocation */
    COMPARE_MECHANISMS
};

extern const char *const compare_mechanisms[COMPARE_MECHANISMS]; /* "copy", "managed", .. */

extern const struct metric compare_metrics[];         /* of every row; ends with a zeroed row */
const struct param *compare_setting(const char *key); /* --set, besides numbers of the platform; NULL: it is none */

/* Sections whose numbers --set may name: all that any row reads. */
const char *const *compare_sections(const struct platform *platform);
extern const struct engine engine_compare; /* what results say of rows; nothing replays it */

/* A call that a plan gives, before a launch or behind it. */
struct compare_call {
    enum compare_gives { COMPARE_ADVISE, COMPARE_PREFETCH, COMPARE_BACK } what;
    const char *kernel; /* as launched, mangled; NULL: any */
    uint32_t launch;    /* of that name, from 0 */
    size_t alloc;       /* of compare_result.allocs */
    double bytes;       /* that come by it */
    double saves_ns;    /* below 0: the faults take less, and the plan leaves it to them; NAN: not known */
    bool least;         /* that at least */
};

struct compare_row {
    enum compare_mechanism mechanism;
    char policy[160]; /* as its engine writes it, "tree", "aligned"; with hints behind it: "tree, prefetched" */
    json_t *params;   /* of the policy, and what was set besides */
    struct outcome outcome;
    bool answered;      /* there is a time that can be told from others: a number, or one with bounds */
    double error_ratio; /* mean error of this mechanism's times where they were measured; 0: never measured */
    double common_ns;   /* of the width of its time, what rows of one recording have in common: its kernels */
    uint64_t advised;   /* allocations told to be read-mostly, bit by number; at most 64 are */
    bool prefetched;    /* all are prefetched first */
    struct uvm_managed_activity activity; /* of unified memory, or the part that is; else zeroed */
    bool stock;                           /* unified memory as a stock driver has it, */
    struct compare_call *calls; /* of its plan, in the order of the launches; the kernels' names are its own */
    size_t call_count, call_cap;
    char **apply; /* what to do in the program or on its machine, sentences */
    size_t apply_count, apply_cap;
    size_t order; /* among rows of equal times (compare_rows.h) */
};

struct compare_request {
    const char *spec;     /* a trace file, or synth:PROGRAM,key=value */
    const char *platform; /* NULL: of the GPU that the input names, else h200 */
    const char *const *sets;
    size_t set_count;
    bool all;   /* every prefetcher with every eviction, not only what a stock driver can be told and the published */
    size_t top; /* experiments are named of so many mechanisms; 0: none */
    bool mixed; /* look for a mechanism for each allocation with room for all, and in programs of any size */
    uint64_t stop_from;    /* bytes: of programs that have as many, rows that are far behind stop (compare_rows.h); 0:
                              none, nor in draws, and those ask for every row anew */
    uint64_t repeats_from; /* bytes: what repeats and has as many is asked in part (compare_repeats.c); 0: none */
    /* Of such a part of a program: rows that all of it would not have are not asked for; blocks of 2 MiB that memory is
     * short of, 0: as it is set; unified memory is asked for these rows alone, NULL: for all. */
    bool part;
    double lacks;
    const struct compare_row *wanted;
    size_t wanted_count;
    struct compare_cut {
        const struct input *input; /* the program, open; NULL: all of a program is asked for, which `spec` says */
        double share, least;       /* of the blocks of each launch that has 1 / least waves of them; of others all */
        struct compare_counted *counted; /* gets what was counted */
    } cut;
    int threads;    /* at most this many */
    uint32_t draws; /* of the platform's uncertain numbers (replay/run/robust.h) */
    struct progress *progress;
    const char *results; /* file that rows are kept in, and taken from if they are there; NULL: none */
    bool replace;        /* replace such a file when all rows are done */
    void (*on_results_open)(const char *path); /* called when the file holds what is done from here on; may be NULL */
};

struct compare_result {
    struct platform *platform;
    struct platform_choice choice;
    char program[256];                      /* as the input was given */
    char recorded[128];                     /* the program that was recorded, with its arguments; "" */
    char touches[512];                      /* the command that records the touches, too; "" */
    char size_note[200];                    /* its arrays are of another size than asked for; "" */
    bool copied;                            /* the program copies by itself: it records the accesses */
    bool in_part;                           /* part of the program was asked: all of it may say more */
    uint64_t footprint_bytes, memory_bytes; /* of the memory in question; that the GPU has for it, 0: enough */
    struct compare_alloc {
        char name[24];
        uint64_t bytes;
    } * allocs; /* the memory in question, in the program's order */
    size_t alloc_count;
    struct compare_row *rows; /* best first (a mix behind what it is tied with); then times that are estimates; then
                                 those that were stopped; rows without a time last */
    size_t count, cap;
    struct robust robust; /* its answers are the first `drawn` rows; zeroed where nothing was drawn */
    size_t drawn;
    json_t *limits;            /* of the input (trace/derived/limits.h), notes of every row; NULL: a generated one */
    json_t *inputs, *settings; /* as a case has them (replay/results/run_case.h) */
    uint32_t measured;         /* runs without the profiler that rows' times of kernels are of; 0: bounds */
    size_t resumed_rows;       /* taken from the results file */
    size_t top;                /* as asked for */
    char sets[512];            /* likewise, " --set key=value" for each */
};

enum { COMPARE_NEAR = 3, COMPARE_MIXED_MOST = 256 << 20, COMPARE_STOP_FROM = COMPARE_MIXED_MOST + 1 };

#define COMPARE_REPEATS_FROM (UINT64_C(4) << 30)

/* How notes begin: of a recorded row whose time holds the recorder's own; of the program's own copies; of copies. */
#define COMPARE_TRACED "recorded under the profiler"
#define COMPARE_COPIED "as recorded: "
#define COMPARE_LOCKED "if page-locked"

/* *usage says whether a failure is one of usage. Released with compare_release() after success only. */
int compare_run(const struct compare_request *request, struct compare_result *result, bool *usage, struct err *err);
void compare_release(struct compare_result *result);

/* What a row is ranked by, the middle of an interval; NAN: it has no time. The ends: both the time where it is none. */
double compare_time(const struct compare_row *row);
double compare_time_low(const struct compare_row *row);
double compare_time_high(const struct compare_row *row);

enum { COMPARE_NAME = 200 };

/* The best row of another mechanism than the best's, for the rows as they are ranked; NULL: none has an answer. */
const struct compare_row *compare_second(const struct compare_result *result);

/* Whether two rows' times are nearer to each other than the errors of their mechanisms: neither is said to win. */
bool compare_tied(const struct compare_row *a, const struct compare_row *b);

/* The answer in a sentence, for the rows as they are ranked. */
struct compare_verdict {
    struct verdict verdict;         /* `pick`: of the rows */
    struct verdict_answer *answers; /* of each row */
    char (*names)[COMPARE_NAME];    /* likewise */
};
int compare_verdict(const struct compare_result *result, struct compare_verdict *verdict, struct err *err);
void compare_verdict_release(struct compare_verdict *verdict); /* after success */

/* How many times as long as the best a row takes at least, as tables have it; "= +-6 %": nothing shows that one of them
 * is better, within its model's error. Returns buf. */
const char *compare_of_best(const struct compare_verdict *verdict, size_t count, size_t row, char *buf, size_t size);

/* The sentence alone, "" without memory. Returns buf. */
const char *compare_answer(const struct compare_result *result, char *buf, size_t size);

/* What the program has if nothing is changed. */
static inline bool compare_as_it_is(const struct compare_row *row)
{
    return row->stock && !strchr(row->policy, ',');
}

/* The best row that `record --apply` can bring about: unified memory of a stock driver. NULL: there is none. */
const struct compare_row *compare_plannable(const struct compare_result *result);

/* Write it as a plan (trace/recorder/advice_plan.h): each call before the first launch that needs the data, which is
 * behind the CPU's last write to them, what it saves, and what is predicted with its ends. -1 with *err set: nothing to
 * plan. */
int compare_plan_write(const struct compare_result *result, FILE *to, struct err *err);

/* "managed (tree, prefetched)". Returns buf. */
const char *compare_row_name(const struct compare_row *row, char buf[COMPARE_NAME]);

/* Its place in the order of simplicity: what changes a program or its machine least comes first (docs/compare.md). */
unsigned compare_simplicity(const char *row_name);

/* A row that knows what nobody does before the run, by its name; its time is a bound, and the verdict leaves it out. */
bool compare_is_bound(const char *row_name);
#define COMPARE_OWN_COUNTS "its own counts"

/* All rows as `replay --format json` prints runs: what run_set_add_json() takes. NULL with *err set. */
json_t *compare_runs_json(const struct compare_request *request, const struct compare_result *result, struct err *err);

/* robust_json() of the draws; each drawn row of the JSON array `rows` (may be NULL) gets its own. NULL: no memory. */
json_t *compare_robust_json(const struct compare_result *result, json_t *rows);

/* The documented JSON object; NULL with *err set. */
json_t *compare_to_json(const struct compare_result *result, struct err *err);

/* compare_experiments: what to run on the machine itself, for the best row of each of the best mechanisms, and what its
 * result would prove.
 *
 * A time that is measured has no model's error, its rival's prediction has. With the rival's ends lo and hi and its
 * mechanism's measured error e (struct compare_row), a measured time
 *
 *     below  lo / (1 + e)   beats the rival at the best that the models allow it,
 *     above  hi x (1 + e)   is beaten by it at its worst,
 *     between               leaves it open until the rival is measured too.
 *
 * The rival of the first row is the best row of another mechanism, of all others the first row. An experiment can only
 * change the answer where the row's own ends, widened by its own error, reach over the nearer threshold. */

struct compare_experiment {
    size_t row, rival; /* of result->rows; no rival: both are the same */
    char command[1024];
    char measures[256];
    double lo, hi;      /* ns, predicted, the row's error in them */
    double wins, loses; /* ns: wins below, loses above; NAN: no rival */
    bool open;          /* a time that is predicted can change the answer */
    char settles[1024]; /* "uvm.utlb=blocked; ..": where the row's winning flips; "" if nothing was drawn, or nowhere */
};

/* The best row of each of the `most` best mechanisms; returns how many. rows: room for COMPARE_MECHANISMS. */
size_t compare_best_rows(const struct compare_result *result, size_t most, size_t *rows);

/* The experiment of a row that has an answer. False: nothing can be run, no driver does that. */
bool compare_experiment(const struct compare_result *result, size_t row, struct compare_experiment *x);

/* As sentences, each ended by a line's end. Returns buf. */
const char *compare_experiment_say(const struct compare_result *result, const struct compare_experiment *x, char *buf,
                                   size_t size);

/* [{"mechanism","policy","command","measures","predicted_ns":[lo,hi],"against":{"mechanism","policy"},"wins_below_ns",
 * "loses_above_ns","open","settles":[{"number","at","wins"}]},..] of so many mechanisms; without a rival "against" and
 * both thresholds are null. NULL: no memory. */
json_t *compare_experiments_json(const struct compare_result *result, size_t most);
