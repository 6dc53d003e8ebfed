/* l1: the tags of one multiprocessor's L1 data cache: which sectors of which lines are there.
 *
 * Lines of 128 B with four sectors of 32 B. A read finds the sectors that are there; what is missing arrives later by
 * l1_fill(). A line gets its place when its first sector arrives (on fill; a "streaming" cache: any number of misses
 * may be under way) or when it is first missed (on miss: it holds the place while it waits, and cannot be pushed out;
 * where all of a set wait, the value passes through and is not kept). Stores write through: they take no place, and a
 * sector that is there is dropped. A line without sectors gives its place up. Replaced: the line used longest ago (read
 * and found, or filled), or one drawn at random. Worked example, two lines, fully associative, on fill, lru: read A
 * sector 0: missing; fill A 0; fill B 0; read A 0: there; fill C 0 pushes out B; read A 1: missing, although line A is
 * there. Numbers of a line are byte addresses / 128. Sets are chosen by that number modulo their count. Source:
 * sectored L1 of Volta as in Khairy et al., ISCA 2020, section III-A (streaming, write-through); GPGPU-Sim 4.0.1,
 * gpu-cache.cc, read as data. Differs: no hash of sets; a store that is found does not count as use. */
#ifndef MODELS_GPU_L1_H
#define MODELS_GPU_L1_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/err.h"

enum { L1_LINE = 128, L1_SECTORS = 4 };
enum l1_replacement { L1_LRU, L1_RANDOM };
enum l1_allocate { L1_ON_FILL, L1_ON_MISS };

struct l1_shape {
    uint32_t lines; /* >= 1 */
    uint32_t ways;  /* lines of a set; 0: fully associative */
    enum l1_replacement replacement;
    enum l1_allocate allocate;
    uint64_t seed; /* of random replacement */
};

struct l1;

/* Empty. lines is the most that l1_resize() may ask for. */
struct l1 *l1_new(const struct l1_shape *shape, struct err *err);
void l1_free(struct l1 *l1); /* NULL is allowed */

/* Empty it, and give it this many lines (1 to those of l1_new(), at least one set). */
void l1_resize(struct l1 *l1, uint32_t lines);

/* Read sectors (mask, not 0) of a line; returns those that are there. */
uint32_t l1_read(struct l1 *l1, uint64_t line, uint32_t sectors);

/* Sectors (mask) have arrived. */
void l1_fill(struct l1 *l1, uint64_t line, uint32_t sectors);

/* Sectors (mask) are written. */
void l1_write(struct l1 *l1, uint64_t line, uint32_t sectors);

#endif
