/* compare_rows: how the rows of a comparison are made, when one stops, where those that are done are kept. */
#pragma once

#include <pthread.h>

#include "models/zerocopy/launch_weights.h"
#include "replay/compare/compare.h"
#include "replay/placement/program_totals.h"
#include "replay/uvm/actor_input.h"
#include "replay/uvm/uvm_managed.h"
#include "trace/event/actor_tracks.h"
#include "trace/program/program_adapter.h"
#include "trace/workloads/scan.h"

struct compare_file;

struct compare_set {
    struct uvm_managed_settings managed;
    double sm_share_pct; /* of the multiprocessors are the program's */
};

/* What was counted of a cut; zeroed: nothing. */
struct compare_counted {
    struct program_totals totals;
    struct launch_weights *weights;
    uint64_t *blocks; /* by launch, that it has */
    double reached;   /* pages that are not left alone */
};

/* Of a program whose launches are replaced by some of them (struct workload_type). */
struct compare_spared {
    double off;      /* how far times of unified memory may be off for that, as a share of them */
    double *amounts; /* by launch */
};

/* What is known of the program before any engine is asked. */
struct compare_program {
    const struct compare_request *request;
    const struct input *input;
    const struct platform *platform;
    const struct compare_set *set;
    bool touches; /* `touching` is open: what is touched is known */
    /* Migrations stand beside the touches, and say of the program as it is, prefetched and copied what they took. As it
     * is, without the profiler at best and as recorded; 0: they do not. */
    double recorded_low_ns, recorded_ns;
    /* Of the same recording: its kernels with their memory in place, and what lies between them; 0: not known. */
    double in_place_low_ns, in_place_ns, between_ns;
    struct program_first cut; /* that `touching` is of, if a request cuts it; `blocks` are its */
    uint64_t *blocks;
    struct uvm_later *later; /* what it touches of each VA block, from the first page to the last; NULL: not known */
    double reached;          /* pages of these */
    struct actor_input touching;
    struct launch_weights *weights; /* of `touching`, for simulations of its reads; NULL: none are known */
    struct totals_watch *watch;     /* that `tracks` were made with; NULL: they were not */
    struct actor_tracks *tracks;    /* the steps of `touching`, worked out; NULL: they are not kept */
    const struct actor_ops *ops;    /* who takes them: those, or `touching` itself */
    const void *actors;
    const struct actor_alloc *allocs; /* the memory in question */
    size_t alloc_count;
    uint64_t footprint, memory;    /* bytes; memory 0: as much as is needed */
    struct zerocopy_took *took;    /* by launches of host memory where nothing is drawn, for draws; NULL: none asks */
    struct compare_spared *spared; /* most launches are replaced by others; NULL: none is */
    bool counted;                  /* `totals` and `copies` hold; else `uncounted` says why not */
    struct program_totals totals;
    struct program_copies copies;
    struct err uncounted;
    struct compare_used {
        uint64_t addr, bytes;
        double in, back; /* bytes of its pages: that kernels read and no launch before has written; that they write */
    } * used;            /* of recorded accesses: allocations, and other memory by VA block; NULL: not known */
    size_t used_count, used_cap;
    double used_waits_ns;  /* of their kernels, at most, that is waiting for each load before the next */
    uint64_t device_bytes; /* that the program keeps on the GPU itself */
    /* Of a draw: only these rows are asked for, and `platform` is theirs; those behind them are as they were. */
    const struct compare_row *only;
    size_t only_count, same_count;
    bool same_reads;                      /* what simulated reads of host memory go by is as it was */
    const struct compare_row *first;      /* of the rows that are drawn, where nothing is moved */
    const struct uvm_metrics *prefetched; /* the run whose memory is prefetched whole; NULL: it is to be asked for */
    pthread_mutex_t
        *engines;   /* the input is one, and engines that walk it do so one at a time; NULL: nobody else does */
    int threads;    /* that such an engine may have */
    double stop_ns; /* rows that take longer may stop; 0: none do */
    struct compare_file *keep; /* where rows go as they are done; NULL: nowhere */
};

int compare_program_open(struct compare_program *facts, const struct compare_request *request,
                         const struct input *input, const struct platform *platform, const struct compare_set *set,
                         struct err *err);
/* What its launches touch, counted, and its steps worked out: all that rows need besides. */
int compare_program_count(struct compare_program *facts, struct err *err);
void compare_program_close(struct compare_program *facts);

/* How far all launches together may be off, as a share, by what those take that are simulated, 0: not known. */
double compare_spared_off(const struct compare_program *f, double (*ns)(const void *ctx, uint32_t launch),
                          const void *ctx);
/* It is said of every row; what may be further off than a few percent is an estimate. */
int compare_spared_say(const struct compare_program *f, struct compare_result *result, struct err *err);

/* Waves of blocks that a launch is, and blocks of one; 0: it is the CPU's. */
double compare_waves(const struct program_launch *launch, const struct gpu *gpu, uint64_t *wave);
/* Blocks that a cut keeps of each launch; *kept: warps of them. NULL with *err set. */
uint64_t *compare_cut_blocks(const struct compare_cut *cut, const struct program *program, const struct gpu *gpu,
                             double *kept, struct err *err);
/* Rows of a large program from shorter ones (compare_repeats.c). *done: there are; else it must be asked whole. */
int compare_repeats(struct compare_program *facts, struct compare_result *result, bool *done, struct err *err);
/* A shorter program gets memory that lacks as many blocks as its request says, and does not hold it. */
void compare_repeats_lack(struct compare_program *facts, struct compare_set *set);

/* Whether a row is asked for; policy: NULL: any of the mechanism. */
bool compare_wanted(const struct compare_program *facts, enum compare_mechanism mechanism, const char *policy);

/* All rows of what is asked for, in no order. *prefetched: as compare_managed_rows() has it. */
int compare_rows(const struct compare_program *facts, struct compare_result *result, struct uvm_metrics *prefetched,
                 struct err *err);

/* A row's time, by which it is judged. */
struct robust_value compare_value(const struct compare_row *row);

/* What the order of the rows rests on. */
int compare_robust(const struct compare_program *facts, struct compare_result *result, struct err *err);

/* Whether all of it fits into the GPU's memory. */
static inline bool compare_fits(const struct compare_program *facts)
{
    return !facts->memory || facts->footprint <= facts->memory;
}

/* The number in facts->totals of allocation i of facts->allocs; not below its alloc_count: nothing is counted of it. */
static inline size_t compare_totals_place(const struct compare_program *facts, size_t i)
{
    size_t a = facts->counted ? 0 : SIZE_MAX;
    while (a < facts->totals.alloc_count && strcmp(facts->totals.allocs[a].name, facts->allocs[i].name) != 0)
        a++;
    return a;
}

/* Rows, to be filled; NULL with *err set. Valid until the next one is added. */
struct compare_row *compare_add(struct compare_result *result, enum compare_mechanism mechanism, const char *policy,
                                struct err *err);
/* The row of that name; NULL: none. */
struct compare_row *compare_find(const struct compare_result *result, enum compare_mechanism mechanism,
                                 const char *policy);
/* A row without numbers, and why; -1 if that is for lack of memory. */
int compare_refuse(struct compare_result *result, enum compare_mechanism mechanism, const char *policy,
                   const struct err *why, struct err *err);
/* An interval that is wider than a hundredth of it, else its middle. */
void compare_put(struct outcome *out, const char *name, double low, double high);
void compare_plan_say(struct compare_row *row, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Add a name to "a, b". */
void compare_plan_name(char names[COMPARE_NAME], const char *name);
void compare_row_release(struct compare_row *row);
/* The best of the rows that were tried, the first of equal ones, goes to the others; tried is released. */
int compare_keep_best(struct compare_result *result, struct compare_result *tried, struct err *err);
/* What was recorded, "app --size 64": of the recorder's own command line, or the process; "" where nothing says it. */
void compare_name_recorded(struct compare_result *result, const struct input *input);
/* "1.24 ms", of so many digits. Returns buf. */
const char *compare_time_text(double ns, int digits, char *buf, size_t size);

/* The policies of unified memory that are compared, the driver's first; takes the next of such a list; false: none. */
extern const char compare_prefetchers[];
bool compare_next_policy(const char **list, char *policy, size_t size);

/* Unified memory under each policy and advice in the closed loop; `prefetched` gets the run whose memory is prefetched
 * whole, time_ns 0 where there is none. Refused where the input does not say what is touched. */
int compare_managed_rows(const struct compare_program *facts, struct compare_result *result,
                         struct uvm_metrics *prefetched, struct err *err);

/* What kernels of recorded accesses use (facts->used). */
int compare_used_count(struct compare_program *facts, struct err *err);

/* An explicit copy, from that run. Of recorded accesses the CPU's own use is not known: taken is that all which kernels
 * read first goes in once, and all that they write comes back at the end; pages of it to the whole allocations. */
int compare_copy_row(const struct compare_program *facts, struct compare_result *result,
                     const struct uvm_metrics *prefetched, struct err *err);

/* Kernels on memory that is all there, by that run; without one each launch alone by the issue model. */
double compare_kernels_ns(const struct compare_program *facts, const struct uvm_metrics *prefetched);

/* A row is off by no less than what the ranges of [launch] leave open of its launches, copies and prefetches. */
void compare_calls_error(const struct compare_program *facts, struct compare_row *row);

/* Copies and prefetches: how many of each, VA blocks with data that are prefetched, and bytes without. */
struct compare_transfers {
    double copies, calls, blocks, empty;
};

/* What the ranges of [launch] leave open of them, ns. */
double compare_transfers_off_by(const struct compare_program *facts, const struct compare_transfers *transfers);

/* What copies assume of host memory: what it takes to page-lock `locked` bytes of it; and what copies of `bytes` that
 * take `time` ns with the kernels take from memory that is not. */
void compare_say_locked(const struct compare_program *facts, double bytes, double locked, double time,
                        struct outcome *out);

/* A recording of migrations without touches. */
static inline bool compare_is_recorded(const struct compare_program *facts)
{
    return !facts->touches && facts->input->store && platform_has(facts->platform, "uvm");
}

/* Rows of copies and of prefetches before the first kernel that needs the data, from a recording alone. Transfers take
 * the platform's rates for the recorded bytes, and again where the CPU wrote in between. Kernels take the recorded
 * time. Those that faults disturbed take at least what fault service leaves, at most that and what they may have done
 * beside it. Copies back are in no row. */
int compare_recorded_rows(const struct compare_program *facts, struct compare_result *result, struct err *err);

/* Where such a recording answers, set facts->recorded_low_ns and what follows it. */
void compare_recorded_time(struct compare_program *facts);

/* Copies in before the first kernel, and back in between; not those at the end. */
double compare_copies_ns(const struct compare_program *facts, const struct program_copies *copies);

/* What other engines answer: zero-copy, memory shared with the CPU, and of recordings of migrations unified memory. */
int compare_engine_rows(const struct compare_program *facts, struct compare_result *result, struct err *err);

/* One engine, on the platform of the facts: prepared, and executed while no other walks the input. */
int compare_execute(const struct compare_program *facts, struct replay_request *request, struct replay_result *got,
                    struct err *err);

/* The longest that reads of `requests` requests take, read_ns alone, with `stored` bytes of stores: sector by sector,
 * and those of each place's last turn in a launch behind the reads, since no read of the launch is behind them. */
double compare_stores_behind_ns(const struct compare_program *facts, double read_ns, double requests, double stored);

/* A zero-copy row by what the engine says of a policy. */
void compare_fill_zerocopy(const struct compare_program *facts, const struct outcome *out, struct compare_row *row,
                           const char *policy);

/* Hot rows kept on the GPU, of gathers (compare_tiered.c). */
int compare_tiered_rows(const struct compare_program *facts, const struct scan_setup *setup,
                        struct compare_result *result, struct err *err);

/* Zero-copy rows say by how many bytes to align what is read, and what that is worth (compare_align.c). */
int compare_align_rows(const struct compare_program *facts, const struct scan_setup *setup, const char *policies,
                       struct compare_result *result, struct err *err);

/* A mechanism for each allocation (compare_mixed.c), behind all other rows. */
int compare_mixed_rows(const struct compare_program *facts, struct compare_result *result,
                       const struct uvm_metrics *prefetched, struct err *err);

/* Where the calls of a row of unified memory stand, by its hints: read-mostly before the first kernel that touches the
 * allocation, a prefetch there and again behind the CPU's work on it. */
int compare_plan_calls(const struct compare_program *facts, struct compare_row *row, struct err *err);

/* For the rows as they are ranked: what each of those calls saves, its share by bytes of what the row does, and of a
 * prefetch less the call. */
void compare_plan_settle(struct compare_result *result);

/* What has to be done for a row to come true; its hints are those of the row. */
void compare_plan_managed(const struct compare_program *facts, struct compare_row *row, const char *policy);
void compare_plan_zerocopy(const struct compare_program *facts, struct compare_row *row, const char *policy);

/* compare_stop: rows far behind the best are not run to their end.
 *
 * The program prefetched whole runs first. A row of unified or host memory that takes over COMPARE_NEAR times as long
 * stops: its time is then a lower bound, and it is ranked behind rows with a time. Only where the whole memory fits,
 * and only for the table: draws, mixes, experiments and results files run each row whole. Example: prefetched 8.5 ms; 4
 * KiB a fault stops at 25.5 of its 99 ms. In a draw a row of unified or host memory stops when it is beaten
 * (replay/run/robust.h) and slower than two others; neither the winner nor its lead changes. The nominal winner never
 * stops. */

/* Whether rows of this program stop at all. */
bool compare_stops(const struct compare_program *facts);

/* ns, by that run; 0: none stop. */
double compare_stop_ns(const struct compare_program *facts, const struct uvm_metrics *prefetched);

/* ns, of a draw, by the rows that are there or as they were: one of unified memory that faults (COMPARE_MANAGED), or of
 * host memory (COMPARE_ZEROCOPY), that takes longer is beaten by one of them, and slower than two. 0: none stop. */
double compare_stop_drawn_ns(const struct compare_program *facts, enum compare_mechanism mechanism,
                             const struct compare_result *result);

/* The row was stopped at `ns`: its time and the note. */
void compare_stop_row(struct compare_row *row, double ns);

/* compare_file: writes each row to a results file as soon as it is done, so that an interrupted comparison can go on.
 *
 * compare_file_open (which adds the file's rows to the result); _has, _row and _stage while rows are computed; _end
 * when they are ranked; _close. In a file that is not replaced the comparison is a sweep that has not ended (results.h)
 * until compare_file_end(). Rows that an engine refused together run again. */

/* Stages of compare_rows(). compare_row.order is a row's place in its stage, behind all of the stages before. */
enum compare_stage { COMPARE_STAGE_MANAGED, COMPARE_STAGE_COPY, COMPARE_STAGE_ENGINES };

/* *keep is NULL where no results are asked for. -1 with *err set: nothing to close. */
int compare_file_open(struct compare_file **keep, const struct compare_program *facts, struct compare_result *result,
                      struct err *err);
void compare_file_close(
    struct compare_file *keep); /* NULL is allowed; a replaced file that has not ended is as it was */

/* Whether such a row stood in the file; policy: NULL: any of the mechanism. keep: NULL: no. */
bool compare_file_has(const struct compare_file *keep, enum compare_mechanism mechanism, const char *policy);

/* Write a row that is done; by any thread. keep: NULL: nothing to do, like the next two. */
int compare_file_row(struct compare_file *keep, const struct compare_result *result, const struct compare_row *row,
                     struct err *err);

/* A stage is over: its rows are those from `first` on; they get their order, and are written together. */
int compare_file_stage(struct compare_file *keep, struct compare_result *result, size_t first, enum compare_stage stage,
                       struct err *err);

/* All rows in the order that they have now; where some were drawn, these once more with what came of the draws. */
int compare_file_end(struct compare_file *keep, const struct compare_result *result, struct err *err);
