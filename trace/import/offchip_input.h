/* offchip_input: the traces that are put together, open, and the new numbers of their kernels and allocations. */
#ifndef TRACE_IMPORT_OFFCHIP_INPUT_H
#define TRACE_IMPORT_OFFCHIP_INPUT_H

#include "trace/import/reader.h"

/* New numbers for old ones, sorted by the old one. */
struct offchip_numbers {
    struct offchip_number {
        int64_t from, to;
    } * items;
    size_t count, cap;
};

struct offchip_input {
    const char *path;
    struct store *store;
    char hash[33];
    struct offchip_numbers kernels, launches, allocations;
    int64_t strings, first_string; /* how many, and the new number of the first */
};

struct offchip_inputs {
    struct offchip_input *items;
    size_t count;
};

/* Open them all. An input that is there twice, or cannot be put together with the others, is an error. Released by
 * offchip_inputs_release() whatever came of it. */
int offchip_inputs_open(struct offchip_inputs *inputs, const char *const *paths, size_t count, struct err *err);
void offchip_inputs_release(struct offchip_inputs *inputs);

/* Write tables kernels and allocations with new numbers, and the counters of all inputs. kernels: how many there are.
 */
int offchip_inputs_tables(struct offchip_inputs *inputs, struct store *store, int64_t *kernels, struct err *err);

/* Give a record the new numbers. */
int offchip_input_renumber(const struct offchip_input *input, struct record *record, struct err *err);

#endif
