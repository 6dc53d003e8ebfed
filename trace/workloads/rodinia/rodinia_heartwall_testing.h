/* rodinia_heartwall_testing: a thread of the kernel of heartwall, the arrays of its block, and where its point is; for
 * the test. Written from the kernel's source, apart from the program. */
#pragma once

#include <math.h>

#include "trace/workloads/rodinia/thread_testing.h"

enum { FRAME, ENDO_ROW, ENDO_COL, T_ENDO_ROW, T_ENDO_COL, EPI_ROW, EPI_COL, T_EPI_ROW, T_EPI_COL, ENDO_T, EPI_T };
enum { IN2 = 11, CONV, PAD, PAD_SEL, SUB_CUMH, CUMH_SEL, SUB2, IN2_SQR, SQR_SUB2, IN_SQR, T_MASK, MASK_CONV };
enum { FRAME_ROWS = 656, THREADS = 256 };

/* A block's thread, and what it goes by. */
struct heart {
    struct thread t;
    int64_t in, in2, conv, pad, points, video, frame_no; /* sizes are rows */
    uint64_t phase; /* for `when`: lanes of a warp are together in a phase, a round, trips of two loops, an access */
};

static inline void at(struct heart *h, int64_t round, int64_t outer, int64_t inner)
{
    h->t.when = ((h->phase * 1000 + (uint64_t)round) * 200 + (uint64_t)outer) * 3000 + 10 * (uint64_t)inner;
}

/* The block's own array: blocks lie one after the other, each on 256 B. */
static inline int64_t own(const struct heart *h, int64_t elements, int64_t index)
{
    return (elements * 4 + 255) / 256 * 256 / 4 * (int64_t)h->t.block + index;
}

static inline int64_t size_of(const struct heart *h, unsigned array)
{
    switch (array) {
    case IN2:
    case IN2_SQR:
        return h->in2 * h->in2;
    case PAD:
        return h->pad * h->pad;
    case PAD_SEL:
    case SUB_CUMH:
        return h->conv * h->pad;
    case IN_SQR:
        return h->in * h->in;
    default:
        return h->conv * h->conv;
    }
}

static inline void get(struct heart *h, bool takes, unsigned array, int64_t index)
{
    reads(&h->t, takes, array, own(h, size_of(h, array), index));
}

static inline void set(struct heart *h, bool takes, unsigned array, int64_t index)
{
    writes(&h->t, takes, array, own(h, size_of(h, array), index));
}

/* --- the point --- */

static inline int64_t inner_points(const struct heart *h)
{
    return h->points == 51 ? 20 : 1;
}

static inline bool is_inner(const struct heart *h)
{
    return (int64_t)h->t.block < inner_points(h);
}

static inline int64_t point_no(const struct heart *h)
{
    return (int64_t)h->t.block - (is_inner(h) ? 0 : inner_points(h));
}

static inline void get_template(struct heart *h, bool takes, int64_t index)
{
    reads(&h->t, takes, is_inner(h) ? ENDO_T : EPI_T, point_no(h) * h->in * h->in + index);
}

/* Row and column of the point, as the ellipses have it. */
static inline int64_t row_of(const struct heart *h)
{
    double of = (double)(is_inner(h) ? inner_points(h) : h->points - inner_points(h));
    double angle = 2 * M_PI * (double)point_no(h) / of;
    return lround(is_inner(h) ? 378 + 109 * sin(angle) : 397 + 146 * sin(angle));
}

static inline int64_t column_of(const struct heart *h)
{
    double of = (double)(is_inner(h) ? inner_points(h) : h->points - inner_points(h));
    double angle = 2 * M_PI * (double)point_no(h) / of;
    return lround(is_inner(h) ? 323 + 88 * cos(angle) : 306 + 152 * cos(angle));
}

static inline void get_row(struct heart *h, bool takes)
{
    reads(&h->t, takes, is_inner(h) ? ENDO_ROW : EPI_ROW, point_no(h));
}

static inline void get_column(struct heart *h, bool takes)
{
    reads(&h->t, takes, is_inner(h) ? ENDO_COL : EPI_COL, point_no(h));
}

static inline void get_frame(struct heart *h, int64_t row, int64_t column, int64_t half)
{
    int64_t r = row_of(h) - half + row - 1, c = column_of(h) - half + column - 1;
    reads(&h->t, true, FRAME, c * FRAME_ROWS + r);
}

static inline void location(struct heart *h, bool takes, bool writes_it, bool rows, int64_t frame)
{
    unsigned array = rows ? (is_inner(h) ? T_ENDO_ROW : T_EPI_ROW) : (is_inner(h) ? T_ENDO_COL : T_EPI_COL);
    thread_does(&h->t, takes, writes_it ? RECORD_WRITE : RECORD_READ, array, 4 * (point_no(h) * h->video + frame), 4);
}

#define ELEMENTS(h, n)                                                                                                 \
    h->phase++;                                                                                                        \
    for (int64_t ei = h->t.thread, round = 0; at(h, round, 0, 0), ei < (n); ei += THREADS, round++)
