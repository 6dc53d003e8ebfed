#include "models/own/own_services.h"

#include <stdarg.h>
#include <stdio.h>

#include "models/dram/loop.h"

void own_services_keep(void)
{
}

/* --- errors and memory --- */

__attribute__((format(printf, 2, 3))) int offchip_err_set(struct err *err, const char *format, ...)
{
    char text[sizeof err->msg];
    va_list ap;
    va_start(ap, format);
    (void)vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    return err_set(err, "%s", text);
}

__attribute__((format(printf, 2, 3))) int offchip_err_at(struct err *err, const char *format, ...)
{
    char text[sizeof err->msg];
    va_list ap;
    va_start(ap, format);
    (void)vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    return err_at(err, "%s", text);
}

void *offchip_mem_zalloc(size_t n, size_t size, struct err *err)
{
    return mem_zalloc(n, size, err);
}

int offchip_mem_grow(void **array, size_t *cap, size_t need, size_t size, struct err *err)
{
    return mem_grow(array, cap, need, size, err);
}

char *offchip_mem_strndup(const char *s, size_t n, struct err *err)
{
    return mem_strndup(s, n, err);
}

char *offchip_mem_strdup(const char *s, struct err *err)
{
    return mem_strdup(s, err);
}

/* --- unified memory --- */

void offchip_uvm_block_init(struct uvm_block *block, uint64_t start, uint64_t end)
{
    uvm_block_init(block, start, end);
}

void offchip_uvm_tree_plan(const struct uvm_block *block, const struct page_mask *faulted, int threshold,
                           struct page_mask *plan)
{
    uvm_tree_plan(block, faulted, threshold, plan);
}

void offchip_uvm_fixed_plan(const struct uvm_block *block, const struct page_mask *faulted, int64_t granularity_bytes,
                            struct page_mask *plan)
{
    uvm_fixed_plan(block, faulted, granularity_bytes, plan);
}

void offchip_uvm_locality_add(struct uvm_locality *window, const struct uvm_batch *batch)
{
    uvm_locality_add(window, batch);
}

double offchip_uvm_locality_r(const struct uvm_locality *window)
{
    return uvm_locality_r(window);
}

double offchip_uvm_locality_summed_r(const struct uvm_locality *window)
{
    return uvm_locality_summed_r(window);
}

void offchip_uvm_locality_next(struct uvm_locality *window)
{
    uvm_locality_next(window);
}

uint32_t offchip_uvm_evict_oldest(const struct uvm_evict_view *view)
{
    return uvm_evict_oldest(view);
}

uint32_t offchip_uvm_evict_out_of_hand(const struct uvm_evict_view *view, bool newest)
{
    return uvm_evict_out_of_hand(view, newest);
}

/* As uvm_evict_plain_params. */
const struct param offchip_uvm_evict_plain_params[] = {UVM_EVICT_CAPACITY_ROW(uvm_evict_plain, UVM_EVICT_CHUNK), {0}};

/* --- the controller loop, for hooks that are known at run time only --- */

void offchip_dram_loop_feed(struct dram_channel *channel, const struct dram_hooks *hooks, void *state,
                            struct dram_feed *feed)
{
    struct dram_hooks loaded = *hooks;
    loaded.loaded = true;
    dram_loop_feed(channel, &loaded, state, feed);
}

int64_t offchip_dram_loop_step(struct dram_channel *channel, const struct dram_hooks *hooks, void *state, int64_t now)
{
    struct dram_hooks loaded = *hooks;
    loaded.loaded = true;
    return dram_loop_step(channel, &loaded, state, now);
}

void offchip_dram_bank_queue_compact(struct dram_bank_queue *queue)
{
    dram_bank_queue_compact(queue);
}

/* --- zero-copy --- */

void offchip_mix_range(struct request_mix *m, uint64_t first, uint64_t last)
{
    mix_range(m, first, last);
}

void offchip_coalescer_init(struct coalescer *c, enum scan_reuse reuse, request_sink sink, void *user)
{
    coalescer_init(c, reuse, sink, user);
}

void offchip_coalescer_release(struct coalescer *c)
{
    coalescer_release(c);
}

int offchip_coalescer_load(struct coalescer *c, uint64_t warp, const uint64_t *sectors, size_t n, struct err *err)
{
    return coalescer_load(c, warp, sectors, n, err);
}

void offchip_coalescer_launch(struct coalescer *c)
{
    coalescer_launch(c);
}

struct pattern_counter *offchip_window_counter_new(const struct pattern_view *view, uint32_t round,
                                                   uint64_t lists_per_warp, struct err *err)
{
    return window_counter_new(view, round, lists_per_warp, err);
}

void offchip_window_counter_free(struct pattern_counter *counter)
{
    window_counter_free(counter);
}

int offchip_window_count(struct pattern_counter *counter, const struct scan *scans, size_t n, struct err *err)
{
    return window_count(counter, scans, n, err);
}

int offchip_window_finish(struct pattern_counter *counter, struct pattern_count *count, struct err *err)
{
    return window_finish(counter, count, err);
}

int offchip_window_expand(const struct pattern_view *view, uint32_t round, uint64_t lists_per_warp,
                          const struct scan *scans, size_t n, struct coalescer *c, struct err *err)
{
    return window_expand(view, round, lists_per_warp, scans, n, c, err);
}

void offchip_lane_reader_release(struct lane_reader *r)
{
    lane_reader_release(r);
}

int offchip_lane_read_block(struct lane_reader *r, const struct scan *scans, size_t n, struct err *err)
{
    return lane_read_block(r, scans, n, err);
}

int offchip_lane_expand(const struct pattern_view *view, const struct scan *scans, size_t n, struct coalescer *c,
                        struct err *err)
{
    return lane_expand(view, scans, n, c, err);
}

int offchip_row_expand(const struct pattern_view *view, bool shift, const struct scan *scans, size_t n,
                       struct pattern_carry *carry, struct coalescer *c, struct err *err)
{
    return row_expand(view, shift, scans, n, carry, c, err);
}

struct pattern_counter *offchip_row_counter_new(const struct pattern_view *view, bool shift, struct err *err)
{
    return row_counter_new(view, shift, err);
}

void offchip_row_counter_free(struct pattern_counter *counter)
{
    row_counter_free(counter);
}

int offchip_row_count(struct pattern_counter *counter, const struct scan *scans, size_t n, struct err *err)
{
    return row_count(counter, scans, n, err);
}

int offchip_row_finish(struct pattern_counter *counter, struct pattern_count *count, struct err *err)
{
    return row_finish(counter, count, err);
}

/* --- placement --- */

enum placement offchip_guideline_1(const struct placement_overheads *overheads)
{
    return guideline_1(overheads);
}

bool offchip_guideline_2(double managed_and_pinned_kernels, double device_kernels)
{
    return guideline_2(managed_and_pinned_kernels, device_kernels);
}

const char *offchip_placement_name(enum placement placement)
{
    return placement_name(placement);
}
