/* plan_text: a plan (trace/recorder/plan.h) on its way into the recorded program, through its environment.
 *
 * A line each: "A ORDER BYTES ADVICE PREFETCH SITE", "K LAUNCH NAME ORDERS". ADVICE: pairs NUMBER:WHERE joined by ',',
 * or
 * "-"; NUMBER as enum record_advice, WHERE 'g' (the GPU of the context) or 'c' (the CPU). PREFETCH: 'g', 'c' or '-'.
 * SITE: as call_site_matches() takes it, or "-". LAUNCH: -1 for each. ORDERS: numbers of allocations joined by ','. */
#ifndef TRACE_RECORDER_WIRE_PLAN_TEXT_H
#define TRACE_RECORDER_WIRE_PLAN_TEXT_H

enum {
    PLAN_TEXT_BYTES = 96 << 10, /* one variable of the environment holds 128 KiB */
    PLAN_ALLOCATIONS = 1024,
    PLAN_KERNELS = 256,
    PLAN_ADVICE = 6,
    PLAN_ORDERS = 32,
    PLAN_SITE_BYTES = 512 /* of a SITE, with its end */
};

#endif
