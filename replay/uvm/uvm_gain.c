#include "replay/uvm/uvm_gain.h"

#include <math.h>
#include <stdio.h>

#include "trace/base/units.h"

/* Below this no change to unified memory is worth its while. */
#define WORTH 1.1

/* Time within the spans that some fault batch was being serviced: events are in order of start. */
static int64_t served_ns(const struct uvm_recording *r)
{
    int64_t sum = 0, until = INT64_MIN;
    size_t s = 0;
    for (size_t e = 0; e < r->event_count; e++) {
        const struct uvm_event *event = &r->events[e];
        int64_t from = event->start_ns > until ? event->start_ns : until;
        if (event->kind != UVM_EVENT_BATCH || event->end_ns <= from)
            continue;
        until = event->end_ns;
        while (s < r->span_count && r->spans[s].end_ns <= from)
            s++;
        for (size_t i = s; i < r->span_count && r->spans[i].start_ns < until; i++) {
            int64_t lo = r->spans[i].start_ns > from ? r->spans[i].start_ns : from;
            int64_t hi = r->spans[i].end_ns < until ? r->spans[i].end_ns : until;
            sum += hi > lo ? hi - lo : 0;
        }
    }
    return sum;
}

struct uvm_gain uvm_gain_of(const struct uvm_recording *r)
{
    return (struct uvm_gain){
        .kernel_ns = r->span_count ? r->kernel_ns : 0, .served_ns = served_ns(r), .whole = r->batches.record_count > 0};
}

double uvm_gain_most(const struct uvm_gain *g)
{
    return g->served_ns >= g->kernel_ns ? INFINITY : (double)g->kernel_ns / (double)(g->kernel_ns - g->served_ns);
}

const char *uvm_gain_say(const struct uvm_gain *g, char *text, size_t size)
{
    char time[64], gain[48];
    const double most = uvm_gain_most(g), share = 100 * (double)g->served_ns / (double)g->kernel_ns;
    *text = 0;
    if (!g->kernel_ns)
        return text;
    (void)units_human_ns((double)g->kernel_ns, time, sizeof time);
    if (!g->whole) {
        (void)snprintf(text, size,
                       "the copies for faults cover %.0f %% of the kernels' %s; without fault records the whole of "
                       "fault service is not known, nor what unified memory may gain",
                       share, time);
        return text;
    }
    (void)snprintf(gain, sizeof gain,
                   isinf(most)    ? "any time"
                   : most < WORTH ? "at most %.2fx: leave it"
                   : most < 10    ? "at most %.1fx"
                                  : "at most %.0fx",
                   most);
    (void)snprintf(text, size, "fault service covers %.0f %% of the kernels' %s: a change to unified memory gains %s",
                   share, time, gain);
    return text;
}
