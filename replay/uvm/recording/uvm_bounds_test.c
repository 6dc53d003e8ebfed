/* One piece of pages 4 to 259, its ends counted by hand: that they hold is uvm_recorded_property_test's, that they are
 * no wider than what is proved is this file's. */
#include "replay/uvm/recording/uvm_bounds.h"

#include <math.h>
#include <stdlib.h>

#include "trace/base/testing.h"

static struct uvm_piece piece;
static struct uvm_recording recording;
static struct uvm_evidence evidence;
static struct uvm_known known;

static void set(struct page_mask *m, const unsigned *pages)
{
    for (; *pages; pages++)
        page_mask_set(m, *pages);
}

static void begin(bool closed, bool complete, bool quiet)
{
    memset(&piece, 0, sizeof piece);
    uvm_block_init(&piece.shape, 4 * UVM_PAGE_BYTES, 260 * UVM_PAGE_BYTES);
    ck_assert_uint_eq(piece.shape.first, 4);
    ck_assert_uint_eq(piece.shape.end, 260);
    recording = (struct uvm_recording){.pieces = &piece, .piece_count = 1, .known_data = true};
    memset(&evidence, 0, sizeof evidence);
    set(&evidence.touched, (const unsigned[]){5, 40, 41, 250, 0});
    evidence.maybe = evidence.touched;
    set(&evidence.maybe, (const unsigned[]){100, 200, 201, 0});
    set(&evidence.data, (const unsigned[]){5, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 0});
    evidence.maybe_data = evidence.data;
    set(&evidence.maybe_data, (const unsigned[]){200, 255, 0});
    known = (struct uvm_known){
        .recording = &recording, .pieces = &evidence, .closed = closed, .complete = complete, .quiet = quiet};
}

typedef void add_fn(struct uvm_bounds *, const struct uvm_known *, size_t, const struct uvm_policy *, const void *);

static struct uvm_bounds ask(add_fn *add, const char *policy, const char *granularity)
{
    const struct uvm_policy *p = uvm_policy_find(policy);
    struct uvm_bounds b = {.faults = {0, 0}};
    void *state = calloc(1, p->head.state_size + 1);
    param_defaults(p->head.params, state);
    if (granularity)
        ck_assert_int_eq(param_set(p->head.params, state, "granularity", granularity, NULL), 0);
    ck_assert(!p->init || p->init(state, NULL) == 0);
    add(&b, &known, 0, p, state);
    if (p->release)
        p->release(state);
    free(state);
    return b;
}

static bool same(struct uvm_range range, double least, double most)
{
    return range.lo == least && range.hi == most; /* infinity is equal to itself */
}

#define IS(range, least, most)                                                                                         \
    ck_assert_msg(same(range, least, most), "%s is %g to %g, expected %g to %g", #range, (range).lo, (range).hi,       \
                  (double)(least), (double)(most))

/* Regions of 16 pages: 4 to 15, 32 to 47 and 240 to 255 surely, 96 to 111 and 192 to 207 perhaps. */
START_TEST(of_regions_that_are_known_what_comes_lies_between_those_touched_and_those_that_may_be)
{
    for (int quiet = 0; quiet < 2; quiet++) {
        begin(true, false, quiet);
        struct uvm_bounds b = ask(uvm_bounds_add, "fixed", "64KiB");
        IS(b.faults, 3, quiet ? 7 : INFINITY);
        IS(b.services, 1, quiet ? 5 : INFINITY);
        IS(b.touched, 4, 7);
        IS(b.prefetched, 40, quiet ? 76 - 5 : INFINITY);
        IS(b.moved, 8, quiet ? 10 : INFINITY);
    }
}
END_TEST

/* The stock prefetcher brings at least 64 KiB, and at most the piece. */
START_TEST(of_a_policy_with_a_least_region_the_piece_is_the_most)
{
    for (int quiet = 0; quiet < 2; quiet++) {
        begin(true, false, quiet);
        struct uvm_bounds b = ask(uvm_bounds_add, "tree", NULL);
        IS(b.faults, 1, quiet ? 7 : INFINITY);
        IS(b.services, 1, quiet ? 5 : INFINITY);
        IS(b.touched, 4, 7);
        IS(b.prefetched, 40, quiet ? 256 - 1 : INFINITY);
        IS(b.moved, 8, quiet ? 13 : INFINITY);
    }
    begin(true, false, true);
    memset(&evidence.touched, 0, sizeof evidence.touched);
    struct uvm_bounds b = ask(uvm_bounds_add, "tree", NULL);
    IS(b.faults, 0, 7);
    IS(b.services, 0, 5);
    IS(b.prefetched, 0, 255);
    IS(b.moved, 0, 13);
    memset(&evidence.maybe, 0, sizeof evidence.maybe);
    b = ask(uvm_bounds_add, "tree", NULL);
    IS(b.faults, 0, 0);
    IS(b.services, 0, 0);
    IS(b.prefetched, 0, 0);
    IS(b.moved, 0, 0);
}
END_TEST

START_TEST(a_piece_below_64_kib_comes_whole)
{
    begin(true, false, true);
    uvm_block_init(&piece.shape, 4 * UVM_PAGE_BYTES, 12 * UVM_PAGE_BYTES);
    ck_assert(piece.shape.one_region);
    memset(&evidence, 0, sizeof evidence);
    set(&evidence.touched, (const unsigned[]){6, 0});
    set(&evidence.maybe, (const unsigned[]){6, 7, 0});
    set(&evidence.data, (const unsigned[]){2, 6, 0});
    evidence.maybe_data = evidence.data;
    struct uvm_bounds b = ask(uvm_bounds_add, "tree", NULL);
    IS(b.services, 1, 1);
    IS(b.prefetched, 6, 7);
    IS(b.moved, 2, 2);
}
END_TEST

START_TEST(of_a_block_that_was_only_seen_what_did_not_fault_is_open)
{
    for (int mode = 0; mode < 4; mode++) {
        bool complete = mode & 1, quiet = mode & 2;
        begin(false, complete, quiet);
        struct uvm_bounds page = ask(uvm_bounds_add, "fixed", "4KiB"), tree = ask(uvm_bounds_add, "tree", NULL);
        const struct uvm_bounds *both[] = {&page, &tree};
        for (int i = 0; i < 2; i++) {
            IS(both[i]->faults, 1, complete && quiet ? 7 : INFINITY);
            IS(both[i]->services, 1, complete && quiet ? 7 : INFINITY);
            IS(both[i]->touched, 4, complete ? 7 : INFINITY);
        }
        IS(page.prefetched, 0, 0);
        IS(tree.prefetched, 0, INFINITY);
        IS(page.moved, 2, quiet ? 11 : INFINITY);
        IS(tree.moved, 2, quiet ? 512 : INFINITY);
        recording.known_data = false;
        tree = ask(uvm_bounds_add, "tree", NULL);
        IS(tree.moved, 2, INFINITY);
        page = ask(uvm_bounds_add, "fixed", "64KiB");
        IS(page.prefetched, 0, INFINITY);
    }
}
END_TEST

START_TEST(a_policy_that_looks_ahead_need_not_fault_and_may_bring_the_piece)
{
    for (int mode = 0; mode < 8; mode++) {
        bool closed = mode & 1, complete = mode & 2, quiet = mode & 4;
        begin(closed, complete, quiet);
        struct uvm_bounds b = ask(uvm_bounds_add, "stride", NULL);
        IS(b.faults, 0, (closed || complete) && quiet ? 7 : INFINITY);
        IS(b.services, 0, closed && quiet ? 256 : INFINITY);
        IS(b.touched, 4, closed || complete ? 7 : INFINITY);
        IS(b.prefetched, 0, closed && quiet ? 256 : INFINITY);
        IS(b.moved, 2, closed && quiet ? 13 : INFINITY);
    }
}
END_TEST

/* Without data: pages 40, 100, 200, 201 and 250 of those that may have been touched, 245 in all. */
START_TEST(what_was_not_recorded_is_within_the_pages_without_data)
{
    for (int mode = 0; mode < 4; mode++) {
        bool closed = mode & 1, complete = mode & 2;
        begin(closed, complete, true);
        struct uvm_bounds b = ask(uvm_bounds_add_unseen, "fixed", "64KiB");
        IS(b.faults, 0, closed || complete ? 5 : INFINITY);
        IS(b.services, 0, closed ? 4 : complete ? 5 : INFINITY);
        IS(b.prefetched, 0, closed ? 245 : INFINITY);
        IS(b.touched, 4, closed || complete ? 7 : INFINITY);
        IS(b.moved, 0, 0);
    }
}
END_TEST

START_TEST(batches_hold_so_many_faults_and_follow_a_service)
{
    struct uvm_bounds b = {.faults = {257, 600}, .services = {3, 40}};
    IS(uvm_bounds_batches(&b, 256), 2, 81);
    b.faults.lo = 256;
    IS(uvm_bounds_batches(&b, 256), 1, 81);
}
END_TEST

static bool quiet_with(enum uvm_event_kind kind, int64_t event_ns, int64_t cpu_ns)
{
    struct uvm_event events[] = {{.kind = UVM_EVENT_BATCH, .start_ns = 150, .end_ns = 200},
                                 {.kind = UVM_EVENT_BATCH, .start_ns = 100, .end_ns = 140},
                                 {.kind = kind, .start_ns = event_ns, .end_ns = event_ns + 1}};
    struct uvm_cpu_fault fault = {.time_ns = cpu_ns};
    struct err err = {""};
    recording.events = events;
    recording.event_count = 3;
    recording.cpu_faults = &fault;
    recording.cpu_fault_count = 1;
    ck_assert_int_eq(uvm_known_init(&known, &recording, &err), 0);
    bool quiet = known.quiet;
    uvm_known_release(&known);
    recording.events = NULL;
    recording.cpu_faults = NULL;
    return quiet;
}

START_TEST(quiet_is_a_run_that_nothing_disturbs_before_its_last_batch_ends)
{
    begin(true, true, true);
    ck_assert(quiet_with(UVM_EVENT_BACK, 200, 100));
    ck_assert(!quiet_with(UVM_EVENT_BACK, 199, 100));
    ck_assert(!quiet_with(UVM_EVENT_EVICT, 50, 100));
    ck_assert(!quiet_with(UVM_EVENT_USER_OUT, 120, 100));
    ck_assert(quiet_with(UVM_EVENT_USER_IN, 120, 100));
    ck_assert(quiet_with(UVM_EVENT_BACK, 200, 200));
    ck_assert(!quiet_with(UVM_EVENT_BACK, 200, 101));
    ck_assert(!quiet_with(UVM_EVENT_BACK, 200, 199));
    recording.user_bytes = 1;
    ck_assert(!quiet_with(UVM_EVENT_BACK, 200, 100));
    recording.user_bytes = 0;
    recording.advised = true;
    ck_assert(!quiet_with(UVM_EVENT_BACK, 200, 100));
}
END_TEST

TEST_MAIN("uvm_bounds", of_regions_that_are_known_what_comes_lies_between_those_touched_and_those_that_may_be,
          of_a_policy_with_a_least_region_the_piece_is_the_most, a_piece_below_64_kib_comes_whole,
          of_a_block_that_was_only_seen_what_did_not_fault_is_open,
          a_policy_that_looks_ahead_need_not_fault_and_may_bring_the_piece,
          what_was_not_recorded_is_within_the_pages_without_data, batches_hold_so_many_faults_and_follow_a_service,
          quiet_is_a_run_that_nothing_disturbs_before_its_last_batch_ends)
