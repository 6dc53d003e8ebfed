/* own_names: what a policy of one's own may call of the program. `offchip policy build` includes this before all else,
 * so that such a file refers to these functions by the names under which the program exports them
 * (models/own/own_services.c), which nobody else's libraries have. */
#ifndef MODELS_OWN_OWN_NAMES_H
#define MODELS_OWN_OWN_NAMES_H

/* clang-format off */
#define err_set                 offchip_err_set
#define err_at                  offchip_err_at
#define mem_zalloc              offchip_mem_zalloc
#define mem_grow                offchip_mem_grow
#define mem_strndup             offchip_mem_strndup
#define mem_strdup              offchip_mem_strdup
#define uvm_block_init          offchip_uvm_block_init
#define uvm_tree_plan           offchip_uvm_tree_plan
#define uvm_fixed_plan          offchip_uvm_fixed_plan
#define uvm_locality_add        offchip_uvm_locality_add
#define uvm_locality_r          offchip_uvm_locality_r
#define uvm_locality_summed_r   offchip_uvm_locality_summed_r
#define uvm_locality_next       offchip_uvm_locality_next
#define uvm_evict_oldest        offchip_uvm_evict_oldest
#define uvm_evict_out_of_hand   offchip_uvm_evict_out_of_hand
#define uvm_evict_plain_params  offchip_uvm_evict_plain_params
#define dram_loop_feed          offchip_dram_loop_feed
#define dram_loop_step          offchip_dram_loop_step
#define dram_bank_queue_compact offchip_dram_bank_queue_compact
#define mix_range               offchip_mix_range
#define coalescer_init          offchip_coalescer_init
#define coalescer_release       offchip_coalescer_release
#define coalescer_load          offchip_coalescer_load
#define coalescer_launch        offchip_coalescer_launch
#define window_counter_new      offchip_window_counter_new
#define window_counter_free     offchip_window_counter_free
#define window_count            offchip_window_count
#define window_finish           offchip_window_finish
#define window_expand           offchip_window_expand
#define lane_read_block         offchip_lane_read_block
#define lane_reader_release     offchip_lane_reader_release
#define lane_expand             offchip_lane_expand
#define row_expand              offchip_row_expand
#define row_counter_new         offchip_row_counter_new
#define row_counter_free        offchip_row_counter_free
#define row_count               offchip_row_count
#define row_finish              offchip_row_finish
#define guideline_1             offchip_guideline_1
#define guideline_2             offchip_guideline_2
#define placement_name          offchip_placement_name
/* clang-format on */

#endif
