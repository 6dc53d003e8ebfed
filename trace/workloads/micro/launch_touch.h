/* launch_touch: the benchmark of managed memory before demand paging: launch an empty kernel, synchronise, touch every
 * page from the CPU; so many times.
 *
 * The legacy mode of the uvm engine works out a launch in closed form. As a program, for each launch: a kernel of one
 * thread without accesses; then the CPU reads or writes the first word of every page, in order. */
#pragma once

#include "trace/program/layout.h"

struct launch_touch {
    struct layout layout;
    int64_t pages; /* of 4 KiB, managed */
    int64_t touch; /* 0 write, 1 read, 2 none: enum legacy_touch of models/uvm/legacy.h */
    int64_t launches;
    int64_t gpu_bytes; /* that each kernel reads; matters for mapped memory only */
};
