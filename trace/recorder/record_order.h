/* record_order: messages put into the order of their times, with bounded memory.
 *
 * CUPTI delivers buffers of several threads and devices, and a kernel only when it has ended: what arrives is nearly
 * sorted. A heap of RECORD_ORDER_MESSAGES holds back the newest; a message that comes later than that is given out late
 * (nothing is lost). Equal times keep the order of arrival. */
#ifndef TRACE_RECORDER_RECORD_ORDER_H
#define TRACE_RECORDER_RECORD_ORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/base/err.h"
#include "trace/recorder/wire/record_pipe.h"

enum { RECORD_ORDER_MESSAGES = 1 << 18 };

/* Zeroed to start. */
struct record_order {
    struct record_order_item {
        struct record_pipe_message message;
        uint64_t arrival;
    } * heap;
    size_t n, cap;
    uint64_t arrivals;
};

int record_order_put(struct record_order *order, const struct record_pipe_message *message, struct err *err);

/* Take the earliest message if more than `keep` are held. */
bool record_order_take(struct record_order *order, size_t keep, struct record_pipe_message *message);

/* Take the earliest message if its time is at most `until`. */
bool record_order_take_until(struct record_order *order, int64_t until, struct record_pipe_message *message);

void record_order_release(struct record_order *order);

#endif
