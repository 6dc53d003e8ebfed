/* own_services: the functions of models/own/own_names.h as the program exports them to loaded policies. Each does what
 * the function of that name does. */
#ifndef MODELS_OWN_OWN_SERVICES_H
#define MODELS_OWN_OWN_SERVICES_H

#include "models/own/own.h"

#define OWN_EXPORT(name) __attribute__((visibility("default"))) extern __typeof__(name) offchip_##name

/* clang-format off */
OWN_EXPORT(err_set);
OWN_EXPORT(err_at);
OWN_EXPORT(mem_zalloc);
OWN_EXPORT(mem_grow);
OWN_EXPORT(mem_strndup);
OWN_EXPORT(mem_strdup);
OWN_EXPORT(uvm_block_init);
OWN_EXPORT(uvm_tree_plan);
OWN_EXPORT(uvm_fixed_plan);
OWN_EXPORT(uvm_locality_add);
OWN_EXPORT(uvm_locality_r);
OWN_EXPORT(uvm_locality_summed_r);
OWN_EXPORT(uvm_locality_next);
OWN_EXPORT(uvm_evict_oldest);
OWN_EXPORT(uvm_evict_out_of_hand);
OWN_EXPORT(uvm_evict_plain_params);
OWN_EXPORT(dram_loop_feed);
OWN_EXPORT(dram_loop_step);
OWN_EXPORT(dram_bank_queue_compact);
OWN_EXPORT(mix_range);
OWN_EXPORT(coalescer_init);
OWN_EXPORT(coalescer_release);
OWN_EXPORT(coalescer_load);
OWN_EXPORT(coalescer_launch);
OWN_EXPORT(window_counter_new);
OWN_EXPORT(window_counter_free);
OWN_EXPORT(window_count);
OWN_EXPORT(window_finish);
OWN_EXPORT(window_expand);
OWN_EXPORT(lane_read_block);
OWN_EXPORT(lane_reader_release);
OWN_EXPORT(lane_expand);
OWN_EXPORT(row_expand);
OWN_EXPORT(row_counter_new);
OWN_EXPORT(row_counter_free);
OWN_EXPORT(row_count);
OWN_EXPORT(row_finish);
OWN_EXPORT(guideline_1);
OWN_EXPORT(guideline_2);
OWN_EXPORT(placement_name);
/* clang-format on */

/* Refers to this file, so that the linker keeps it in every program that loads policies. */
void own_services_keep(void);

#endif
