/* placement_policies: which memory a task gets; one memory for all, where its source put it, or by two guidelines.
 *
 * device, managed, pinned: every task gets that. device is what cudaMalloc gives: buffers are copied there and back.
 * managed: nothing is copied; pages are mapped at kernel start and caches flushed around it. pinned: nothing is copied;
 * the caches of CPU and GPU are bypassed.
 * Source: Bateni et al. 2020, section II-B. Differs: nothing known.
 *
 * source: every task as its section says that its source placed it (source_policy), device memory where it says
 * nothing. So a mix of placements can be run as somebody else chose it: no guideline, no neighbour moves a task.
 * Source: none; for sets of given placements, as Bateni et al. 2020, figures 3 and 4 and table II have them.
 *
 * auto: device memory unless guideline 1 lets a task go to managed (9) or pinned (10) memory, the smaller overhead
 * where both hold; among tasks that run side by side, guideline 2 (11) then takes conversions back, smallest margin
 * first, until managed and pinned kernels no longer outnumber device kernels.
 * Worked example: overhead_test.c, guideline_9_from_both_sides_of_its_boundary.
 * Source: Bateni et al. 2020, section IV-B, equations 9 to 11.
 * Differs: what the CPU loses to pinned memory that it does not cache counts against that, as the source has it in
 * words ("CPU cache under H"); the schedule may re-assign by the neighbour (replay/placement/placement_schedule.h).
 * Where guideline 1 leaves no device kernel at all, the source's own choice (its drone) breaks (11); so do we. */
#include "models/placement/placement_policy.h"

static enum placement choose_device(const void *state, const struct placement_overheads *overheads)
{
    (void)state, (void)overheads;
    return PLACEMENT_DEVICE;
}

static enum placement choose_managed(const void *state, const struct placement_overheads *overheads)
{
    (void)state, (void)overheads;
    return PLACEMENT_MANAGED;
}

static enum placement choose_pinned(const void *state, const struct placement_overheads *overheads)
{
    (void)state, (void)overheads;
    return PLACEMENT_PINNED;
}

static enum placement choose_by_guideline(const void *state, const struct placement_overheads *overheads)
{
    (void)state;
    return guideline_1(overheads);
}

const struct placement_policy placement_device = {
    .head = {.name = "device",
             .summary = "every task in device memory: explicit copies, two buffers",
             .source = "Bateni et al. 2020, section II-B"},
    .choose = choose_device};

const struct placement_policy placement_managed = {
    .head = {.name = "managed",
             .summary = "every task in managed memory: one buffer, mapped at first touch, caches flushed",
             .source = "Bateni et al. 2020, section II-B"},
    .choose = choose_managed};

const struct placement_policy placement_pinned = {
    .head = {.name = "pinned",
             .summary = "every task in host-pinned memory: one buffer, caches bypassed",
             .source = "Bateni et al. 2020, section II-B"},
    .choose = choose_pinned,
    .needs_l2 = true};

const struct placement_policy placement_source = {
    .head = {.name = "source",
             .summary = "every task as its source_policy says, device memory where it says nothing",
             .source = "given placements: Bateni et al. 2020, figures 3 and 4, table II"},
    .choose = choose_device,
    .follows_source = true};

const struct placement_policy placement_auto = {
    .head = {.name = "auto",
             .summary = "guidelines 9 to 11: managed or pinned where the loss can be recovered, else device",
             .source = "Bateni et al. 2020, section IV-B, equations 9 to 11"},
    .choose = choose_by_guideline,
    .guideline_2 = true};
