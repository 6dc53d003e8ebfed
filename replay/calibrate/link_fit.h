/* link_fit: the costs of a link (wire, tags, host lines, issue, launch, reads far apart) fitted to measured rows.
 *
 * The time is link_time_ns() itself, whose bounds are joined by a smooth maximum, so the fit is Gauss-Newton on
 * relative residuals: each step is a bounded least squares problem (fit.h) in the costs, halved until the residual
 * falls. A cost starts at the largest value that no row contradicts. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "models/gpu/launch.h"
#include "models/zerocopy/link.h"
#include "trace/base/err.h"
#include "trace/import/input_stream.h"

struct link_row {
    char name[64];
    struct link_launch launch; /* of all launches together; no requests: a block copy */
    double chain_loads;        /* that wait for each other, of the longest list */
    double launches;           /* >= 1 */
    double copy_bytes, copies;
    double time_ns; /* measured */
    bool lines_known;
};

struct link_rows {
    struct link_row *rows;
    size_t count, cap;
    json_t *limits; /* of recordings (trace/derived/limits.h); NULL: none was read */
    size_t skipped; /* kernels of recordings whose counters and times do not belong together */
};

/* Add the rows of one file. On failure *err names file and line; what was read stays. */
int link_rows_read(struct link_rows *rows, const char *path, struct err *err);

/* The CSV form alone; path is for messages. */
int link_rows_csv(struct link_rows *rows, struct input_stream *source, const char *path, struct err *err);

void link_rows_release(struct link_rows *rows);

static inline bool link_row_is_copy(const struct link_row *row)
{
    return row->copy_bytes > 0;
}

enum link_cost {
    COST_WIRE,    /* ns per wire byte */
    COST_TAGS,    /* ns per request */
    COST_HOST,    /* ns per 64 B host line */
    COST_LOAD,    /* ns that a warp waits for a load: load_ns */
    COST_LAUNCH,  /* ns of a launch alone: alone_ns of [launch]; */
    COST_GAP,     /* ns of one behind another, besides its work: gap_ns */
    COST_FURTHER, /* ns of a load's further request: further_ns */
    COST_JUMP,    /* ns of a read that begins where none ended: jump_ns */
    COST_WALK,    /* ns of a translation beyond the reach: walk_ns; and with it, no cost but fitted like one, */
    COST_REACH,   /* the bytes of the reach */
    LINK_COSTS
};

/* What a row's time is made of. */
struct link_costs {
    struct pcie pcie;
    struct launch launch;
};

/* The number of the platform that the cost sets. */
double *link_cost_number(struct link_costs *costs, enum link_cost which);

struct link_fit {
    struct link_costs to;                       /* in: what is not fitted; out: with the fitted costs */
    const struct gpu *gpu;                      /* borrowed */
    unsigned free;                              /* bit of each cost that is fitted */
    double cost[LINK_COSTS], error[LINK_COSTS]; /* standard error; infinite: not identified */
    double share[LINK_COSTS]; /* the most that any row's time follows the cost: 1 means in proportion, 0 not at all */
    size_t rows, terms;
    double rms, worst; /* relative residuals */
};

/* Fit to the rows that are no copies and whose `held` (may be NULL) is false. -1 for fewer rows than costs. */
int link_fit_solve(struct link_fit *fit, const struct link_row *rows, const bool *held, size_t n, struct err *err);

/* The time that *p predicts for a row, requests or copy; *bound (may be NULL) is what held up most, of requests. */
double link_row_ns(const struct link_costs *p, const struct gpu *gpu, const struct link_row *row,
                   enum link_bound *bound);
