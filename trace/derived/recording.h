/* recording: what one process and one GPU exchanged; a trace of unified memory may hold several.
 *
 * Equal addresses of two processes are different memory, and every GPU has its own batches and pages, so whatever
 * rebuilds services or follows pages reads one recording at a time. Which record is whose stand in the extra columns
 * process_id, src_id and dst_id of its stream: the GPU is the destination of MIGRATE_H2D, the source of MIGRATE_D2H and
 * FAULT; records without one (CPU faults, kernels, allocations) go with every GPU of their process, records of process
 * 0 (unknown) with every process. Streams without these columns go with every recording.
 * Source: CUPTI, CUpti_ActivityUnifiedMemoryCounter (srcId, dstId, processId). */
#pragma once

#include "trace/store/store.h"

enum { RECORDINGS_MAX = 1024, RECORDING_ANY = -1 };

struct recording {
    int64_t process, gpu; /* RECORDING_ANY: all of them */
};

struct recordings {
    struct recording items[RECORDINGS_MAX]; /* in order of first appearance */
    size_t count;                           /* 0: no record says whose it is */
};

/* The recordings of a trace: every process and GPU with a migration or a GPU fault. More than RECORDINGS_MAX are an
 * error. */
int recordings_find(struct recordings *recordings, struct store *store, struct err *err);

/* "GPU 0 of process 803; GPU 0 of process 804"; eight of them at most. Returns text. */
const char *recordings_list(const struct recordings *recordings, char *text, size_t size);

/* The one recording that fits `wanted`, or the whole trace where none says whose it is. -1 with *err naming those there
 * are if several fit or none. */
int recording_choose(struct recording *chosen, struct recording wanted, struct store *store, struct err *err);

/* The records of one recording, all streams in ns one after the other:
 *     struct recording_walk w = {0};
 *     while (recording_walk_next(&w, store, recording, err))
 *         w.at.failed = use(w.at.r, err);
 *     return store_walk_end(&w.at); */
struct recording_walk {
    struct store_walk at;
    int stream;
    int process, src, dst; /* extra columns; -1: none */
};

bool recording_walk_next(struct recording_walk *walk, struct store *store, struct recording recording, struct err *err);
