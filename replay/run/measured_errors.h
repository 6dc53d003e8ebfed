/* Written by `make accuracy`: mean errors of rows in docs/accuracy.md that no number was fitted to. */
#pragma once

/* clang-format off */
static const struct measured_row {
    const char *platform; /* "all": of all that were measured */
    const char *mechanism;
    double error;
    int count; /* of rows */
} measured_rows[] = {
    {"h100", "copied", 0.04, 6},
    {"h100", "zero-copy", 0.08, 9},
    {"h100", "prefetched", 0.02, 4},
    {"h100", "managed", 0.25, 9},
    {"h100", "advised", 0.16, 4},
    {"h200", "managed", 0.11, 23},
    {"h200", "advised", 0.40, 7},
    {"h200", "zero-copy", 0.04, 10},
    {"h200", "prefetched", 0.11, 10},
    {"all", "copied", 0.04, 6},
    {"all", "prefetched", 0.09, 14},
    {"all", "managed", 0.14, 32},
    {"all", "advised", 0.31, 11},
    {"all", "zero-copy", 0.06, 21},
};
