/* dram_stream: the requests of the dram engine's inputs, by channel and in order of arrival.
 *
 * An input that is a program (a recording of accesses, or a generated one) is taken through the platform's L2
 * (replay/derive/derive.h): its requests have no times.
 * Memory: 16 bytes per request and 8 for its id. Released with dram_stream_release(). */
#ifndef REPLAY_DRAM_DRAM_STREAM_H
#define REPLAY_DRAM_DRAM_STREAM_H

#include "models/base/platform.h"
#include "models/dram/channel.h"
#include "replay/run/input.h"
#include "replay/run/shared.h"

/* Marks kept beside the flags of struct dram_request (models/dram/channel.h). */
enum {
    DRAM_L2_HIT = 64,     /* served by L2: goes as far as the L2 front, not to the controller */
    DRAM_LAUNCH_END = 128 /* the last request of a launch: everything is done before the next one begins */
};

struct dram_stream_channel {
    struct dram_request *requests;
    uint64_t *ids; /* as in the input; NULL where they are 0, 1, 2, ... */
    size_t count, cap, ids_cap;
    size_t class_count[2];
    uint32_t *class_ids[2]; /* positions by class, made by dram_stream_split() */
};

struct dram_stream {
    struct dram_stream_channel *channel;
    uint32_t channels; /* highest channel seen + 1 */
    size_t count, class_count[2];
    bool untimed; /* an input had no times: everything arrives at 0 */
    bool marked;  /* launches are marked */
};

/* Which clock arrivals are wanted in. */
enum dram_clock { DRAM_CLOCK_DRAM, DRAM_CLOCK_CORE };

/* -1 with *err set if the platform has no PIM units. */
int dram_without_pim(const struct platform *platform, struct err *err);

/* Read every input of the given roles ("" matches any) into *stream; MEM before PIM where arrivals are equal.
 * roles: a bit for each input to be taken. -1 with *err set: what is wrong with which input. */
int dram_stream_load(struct dram_stream *stream, const struct input *inputs, size_t count, uint64_t take,
                     const struct platform *platform, enum dram_clock clock, struct progress *progress,
                     struct err *err);
void dram_stream_release(struct dram_stream *stream);

/* Whether the input holds no requests of its own and is a program: they are derived. */
bool dram_stream_derives(const struct input *input);

/* Make class_ids of every channel. */
int dram_stream_split(struct dram_stream *stream, struct err *err);

#endif
