/* limits: the reasons why a trace's numbers are not those of the whole run, a sentence each: its writer was stopped,
 * records were lost or left out, it is a sample, of chosen kernels, or of several traces, GPUs or processes.
 *
 * Code that answers from a trace opens it by limits_open() or input_open() (replay/run/input.h), which give these
 * sentences for its answer. store_open() is for code that shows a trace's contents, and for writers. */
#pragma once

#include "trace/derived/recording.h"
#include "trace/store/store.h"

/* Every sentence begins so: by that it is found among other notes, as of runs in a results file. */
#define LIMITS_BEGIN "not whole: "

/* Why a recording is incomplete whose program ended by _exit() or a signal: it is whole up to where that last waited
 * for the GPU. */
#define LIMITS_NO_END "the program did not end in good order"

/* Of a recording that stops before its last kernel does, and lacks what that kernel moved. */
#define LIMITS_CUT "its end was not recorded"

/* The note itself if it is one, else NULL. */
const char *limits_note(const char *note);

/* What is told each sentence, which is gone when it returns. */
typedef void (*limits_listener)(void *ctx, const char *sentence);

/* A listener: adds to the JSON array that the json_t ** ctx points at. */
void limits_collect(void *array, const char *sentence);

/* Open a trace for reading and tell its limits. NULL with *err set on failure. */
struct store *limits_open(const char *path, limits_listener listener, void *ctx, struct err *err);

/* Tell those that small tables say: all but whose migrations and faults are in it, for which every record is read. */
int limits_tell(struct store *store, const char *name, limits_listener listener, void *ctx, struct err *err);

/* Tell that an answer is of one of several GPUs or processes, if `wanted` chose it. */
int limits_tell_chosen(struct store *store, const char *name, struct recording wanted, limits_listener listener,
                       void *ctx, struct err *err);

/* End `out`, whose records were made of those of `in`: it lacks what `in` lacks, and is as complete. */
int limits_finish(struct store *in, struct store *out, struct err *err);
