#include "replay/uvm/actor_input.h"

#include "replay/uvm/uvm_simulate.h"
#include "trace/base/testing.h"

/* A trace of these records; extra: the columns of actor_extras, or NULL: it has none. */
static struct store *write_trace_with(const struct record *records, size_t n, const int64_t *extra)
{
    const char *path = testing_file("t.db");
    struct store *store = GIVES(store_create(path, true, "test", &err));
    struct stream stream = {.name = "touches"};
    int index;
    for (size_t c = 0; extra && c < ACTOR_EXTRAS; c++)
        (void)snprintf(stream.extra[c], sizeof stream.extra[c], "%s", actor_extras[c]);
    WORKS(store_stream_add(store, &stream, &index, &err));
    WORKS(store_append(store, index, records, extra, n, &err));
    WORKS(store_finish(store, &err));
    store_close(store);
    store = GIVES(store_open(path, &err));
    return store;
}

static struct store *write_trace(const struct record *records, size_t n)
{
    return write_trace_with(records, n, NULL);
}

#define MANAGED(at, size)                                                                                              \
    {                                                                                                                  \
        .kind = RECORD_ALLOC, .addr = (at), .bytes = (size), .flags = RECORD_ALLOC_MANAGED                             \
    }
#define TOUCH(at, actor, number)                                                                                       \
    {                                                                                                                  \
        .kind = RECORD_TOUCH, .addr = (at), .id = (actor), .time = (number), .flags = RECORD_READ                      \
    }

START_TEST(touches_of_interleaved_actors_are_sorted_by_actor)
{
    const struct record records[] = {MANAGED(0x200000, 1 << 20), TOUCH(0x200000, 70, 0), TOUCH(0x201000, 9, 0),
                                     TOUCH(0x202000, 70, 0),     TOUCH(0x203000, 9, 1),  TOUCH(0x204000, 70, 1)};
    struct store *store = write_trace(records, sizeof records / sizeof *records);
    struct actor_trace *t = GIVES(actor_trace_open(store, &err));
    const struct actor_ops *ops = &actor_trace_ops;
    ck_assert_uint_eq(ops->launches(t), 1);
    struct actor_launch launch;
    ops->launch(t, 0, &launch);
    ck_assert_uint_eq(launch.actors, 2);
    struct actor_step step;
    struct actor_at at[2] = {0};
    RETURNS(ops->step(t, 0, 0, &at[0], &step, &err), 1);
    ck_assert_uint_eq(step.count, 2); /* equal time: one step */
    ck_assert_uint_eq(step.page[1], 2);
    RETURNS(ops->step(t, 0, 1, &at[1], &step, &err), 1);
    ck_assert_uint_eq(step.page[0], 1);
    RETURNS(ops->step(t, 0, 0, &at[0], &step, &err), 1);
    ck_assert_uint_eq(step.page[0], 4);
    WORKS(ops->step(t, 0, 0, &at[0], &step, &err));
    actor_trace_close(t);
    store_close(store);
}
END_TEST

START_TEST(many_actors_in_any_order_keep_their_touches)
{
    enum { ACTORS = 70000 };
    struct record *records = calloc(1 + 2 * ACTORS, sizeof *records);
    records[0] = (struct record)MANAGED(0x200000, 1 << 20);
    for (uint64_t i = 0; i < 2 * ACTORS; i++)
        records[1 + i] = (struct record)TOUCH(0x200000 + i % 256 * 4096, i * 7919 % ACTORS << 32, i / ACTORS);
    struct store *store = write_trace(records, 1 + 2 * ACTORS);
    struct actor_trace *t = GIVES(actor_trace_open(store, &err));
    struct actor_launch launch;
    actor_trace_ops.launch(t, 0, &launch);
    ck_assert_uint_eq(launch.actors, ACTORS);
    struct actor_step step;
    for (uint32_t a = 0; a < ACTORS; a++) {
        struct actor_at at = {0};
        for (uint32_t i = 0; i < 2; i++)
            RETURNS(actor_trace_ops.step(t, 0, a, &at, &step, &err), 1);
        WORKS(actor_trace_ops.step(t, 0, a, &at, &step, &err));
    }
    actor_trace_close(t);
    store_close(store);
    free(records);
}
END_TEST

/* Two steps, in every field. */
START_TEST(stores_atomics_turns_and_instructions_come_back_as_written)
{
    const struct record records[] = {
        MANAGED(0x200000, 1 << 20),
        {.kind = RECORD_KERNEL, .addr = 4, .flags = 2, .time = 48, .duration = 40ll << 32 | 2048},
        TOUCH(0x200000, 0, 0),
        {.kind = RECORD_TOUCH, .addr = 0x201000, .flags = RECORD_ATOMIC},
        {.kind = RECORD_TOUCH, .addr = 0x202000, .flags = RECORD_WRITE},
        {.kind = RECORD_TOUCH, .addr = 0x203000, .flags = RECORD_WRITE, .time = 1}};
    enum { N = sizeof records / sizeof *records };
    int64_t extra[ACTOR_EXTRAS * N] = {0};
    extra[1] = 3;                                                                 /* blocks at most */
    extra[2] = 40, extra[N + 2] = 12, extra[2 * N + 2] = 7, extra[3 * N + 2] = 1; /* step 0 */
    extra[5] = 9, extra[N + 5] = 1, extra[2 * N + 5] = 1 << 24;                   /* step 1 */
    struct store *store = write_trace_with(records, N, extra);
    struct actor_trace *t = GIVES(actor_trace_open(store, &err));
    struct actor_launch l;
    actor_trace_ops.launch(t, 0, &l);
    ck_assert_uint_eq(l.actors, 1); /* with touches */
    ck_assert_uint_eq(l.per_sm, 0);
    ck_assert_uint_eq(l.together, 2);
    ck_assert_uint_eq(l.threads, 48);
    ck_assert_uint_eq(l.registers, 40);
    ck_assert_uint_eq(l.shared, 2048);
    ck_assert_uint_eq(l.blocks_most, 3);
    struct actor_step step;
    struct actor_at at = {0};
    RETURNS(actor_trace_ops.step(t, 0, 0, &at, &step, &err), 1);
    ck_assert_uint_eq(step.count, 2);
    ck_assert_uint_eq(step.stores, 1);
    ck_assert_uint_eq(step.writes, 2);
    ck_assert_uint_eq(step.page[2], 2);
    ck_assert_uint_eq(step.instructions, 40);
    ck_assert_uint_eq(step.sectors, 12);
    ck_assert_uint_eq(step.turns, 7);
    ck_assert_uint_eq(step.waits, 1);
    ck_assert_uint_eq(step.compute_ns, ACTOR_COMPUTE_AUTO);
    RETURNS(actor_trace_ops.step(t, 0, 0, &at, &step, &err), 1);
    ck_assert_uint_eq(step.count, 0);
    ck_assert_uint_eq(step.stores, 1);
    ck_assert_uint_eq(step.turns, 1 << 24);
    WORKS(actor_trace_ops.step(t, 0, 0, &at, &step, &err));
    actor_trace_close(t);
    store_close(store);
}
END_TEST

/* Opening a trace of these records fails and says `what`. */
static void check_refused_with(const struct record *records, size_t n, const int64_t *extra, const char *what)
{
    struct store *store = write_trace_with(records, n, extra);
    GIVES_NONE(actor_trace_open(store, &err), what);
    store_close(store);
}

static void check_refused(const struct record *records, size_t n, const char *what)
{
    check_refused_with(records, n, NULL, what);
}

START_TEST(traces_that_make_no_sense_are_refused_with_the_record)
{
    const struct record often[] = {MANAGED(0x200000, 4096), TOUCH(0x200000, 0, 0)};
    int64_t turns[ACTOR_EXTRAS * 2] = {0};
    turns[2 * 2 + 1] = (1 << 24) + 1;
    check_refused_with(often, 2, turns, "record 1 of stream 'touches': a touch of 0x200000 is repeated 16777217 times");
    const struct record outside[] = {MANAGED(0x200000, 4096), TOUCH(0x400000, 0, 0)};
    check_refused(outside, 2, "record 1 of stream 'touches': the touch of 0x400000 lies outside");
    const struct record none[] = {TOUCH(0x400000, 0, 0)};
    check_refused(none, 1, "before any allocation");
    const struct record overlap[] = {MANAGED(0x200000, 8192), MANAGED(0x201000, 4096), TOUCH(0x200000, 0, 0)};
    check_refused(overlap, 3, "overlaps");
    const struct record late[] = {MANAGED(0x200000, 4096), TOUCH(0x200000, 0, 0), MANAGED(0x400000, 4096)};
    check_refused(late, 3, "follows the first touch");
    const struct record empty[] = {MANAGED(0x200000, 4096)};
    check_refused(empty, 1, "no page touches");
    const struct record shape[] = {
        MANAGED(0x200000, 4096), {.kind = RECORD_KERNEL, .addr = 1ull << 40}, TOUCH(0x200000, 0, 0)};
    check_refused(shape, 3, "impossible shape");
    const struct record advice[] = {MANAGED(0x200000, 4096),
                                    {.kind = RECORD_ADVISE, .addr = 0x200000, .bytes = 4096, .flags = 77},
                                    TOUCH(0x200000, 0, 0)};
    check_refused(advice, 3, "advice 77");
}
END_TEST

TEST_MAIN("replay/actor_input_trace")
