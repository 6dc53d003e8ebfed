/* dram-timeline: mode and queue occupancy of one channel over its first cycles: channel 0 of a trace of DRAM requests,
 * as front end `direct` brings them, under f3fs with its default caps and two virtual channels, platform gv100. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/dram/dram.h"
#include "replay/figure/figures.h"
#include "trace/base/mem.h"

enum { SAMPLES = 1000 };

struct sample {
    int64_t cycle;
    int32_t mode, waiting[2];
};

struct timeline {
    struct sample *samples;
    size_t count;
};

/* Step the channel through the requests; a sample every `every` cycles. */
static void step_through(struct timeline *line, const struct dram_stream_channel *c, const struct dram_policy *policy,
                         void *state, struct dram_channel *channel, int64_t every)
{
    size_t head[2] = {0, 0};
    int last = DRAM_MEM;
    int64_t next = 0, sample = 0;
    for (int64_t t = 0; line->count < SAMPLES && (size_t)(channel->stats.out[0] + channel->stats.out[1]) < c->count;
         t++) {
        if (t >= next)
            next = policy->loops->step(channel, state, t);
        if (t == sample) {
            sample += every;
            line->samples[line->count++] =
                (struct sample){t, channel->mode == DRAM_PIM, {channel->waiting[DRAM_MEM], channel->waiting[DRAM_PIM]}};
        }
        for (int k = 0; k < 2; k++) {
            const int class = k == 0 ? !last : last;
            if (head[class] == c->class_count[class])
                continue;
            const uint32_t id = c->class_ids[class][head[class]];
            const struct dram_request *r = &c->requests[id];
            if (r->arrival > t || !dram_channel_room(channel, (enum dram_class) class))
                continue;
            policy->loops->push(channel, t, r->row, r->bank, r->flags & (DRAM_L2_HIT - 1), id);
            head[class]++;
            last = class;
            next = t + 1;
            break;
        }
    }
}

static int run(struct timeline *line, struct dram_stream *stream, const struct platform *platform, struct err *err)
{
    const struct dram_stream_channel *c = &stream->channel[0];
    const struct dram_policy *policy = dram_policy_find("f3fs");
    void *state = mem_zalloc(1, policy->head.state_size, err);
    struct dram_channel *channel = aligned_alloc(64, sizeof *channel);
    int rc = state && channel ? dram_channel_init(channel, platform_section_get(platform, "dram"), err)
                              : err_set(err, "out of memory");
    if (!rc) {
        param_defaults(policy->head.params, state);
        const int64_t span = c->requests[c->count - 1].arrival / SAMPLES;
        step_through(line, c, policy, state, channel, span < 1 ? 1 : span > 64 ? 64 : span);
        rc = dram_channel_check(channel, false, err);
    }
    free(state);
    free(channel);
    return rc;
}

static int load(struct dram_stream *stream, const struct figure_input *input, const struct platform *platform,
                struct err *err)
{
    const struct input one = {.spec = input->path, .role = "", .store = input->store};
    if (dram_stream_load(stream, &one, 1, 1, platform, DRAM_CLOCK_DRAM, NULL, err))
        return -1;
    if (!stream->channels || !stream->channel[0].count || dram_stream_split(stream, err)) {
        dram_stream_release(stream);
        return err_set(err, "%s holds no DRAM requests for channel 0", input->path);
    }
    return 0;
}

static int timeline(const struct figure_input *input, FILE *script, struct err *err)
{
    struct platform *platform = platform_load("gv100", err);
    struct dram_stream stream;
    if (!platform || load(&stream, input, platform, err)) {
        platform_free(platform);
        return -1;
    }
    struct timeline line = {.samples = mem_zalloc(SAMPLES, sizeof *line.samples, err)};
    int rc = line.samples ? run(&line, &stream, platform, err) : -1;
    dram_stream_release(&stream);
    platform_free(platform);
    if (!rc) {
        (void)fprintf(script, "$d << EOD\n");
        for (size_t i = 0; i < line.count; i++)
            (void)fprintf(script, "%lld %d %d %d\n", (long long)line.samples[i].cycle, line.samples[i].mode * 70,
                          line.samples[i].waiting[DRAM_MEM], line.samples[i].waiting[DRAM_PIM]);
        (void)fputs("EOD\n", script);
        plot_title(script, "Mode and queues of channel 0 under f3fs", input->path);
        (void)fputs("set xlabel 'time (DRAM cycles)'\nset ylabel 'waiting (requests)'\nset yrange [0:70]\n"
                    "plot $d using 1:2 with filledcurves y1=0 title 'PIM mode' linecolor rgb '#e4e4e4', "
                    "$d using 1:3 with lines title 'MEM' linetype 1, $d using 1:4 with lines title 'PIM' "
                    "linetype 4 dashtype 2\n",
                    script);
    }
    free(line.samples);
    return rc;
}

const struct figure figure_dram_timeline = {
    .name = "dram-timeline",
    .summary = "mode and queues of one channel over time under f3fs",
    .needs = "DRAM requests",
    .source = "ours",
    .kinds = FIGURE_TRACE,
    .width = 1000,
    .height = 480,
    .write = timeline,
};
