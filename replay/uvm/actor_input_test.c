#include "replay/uvm/actor_input.h"

#include "trace/base/testing.h"
#include "trace/program/layout.h"

/* Two kernels in turn, each warp one load; launches are like the one two before them, or not. */
static int one_load(struct emit *e)
{
    emit_load(e, 0, (int64_t)e->at.thread, 1, 1);
    return emit_end(e, 1);
}

static struct layout *layout_of(uint32_t launches, bool alike)
{
    struct layout *layout = calloc(1, sizeof *layout);
    layout_init(layout, -1);
    ck_assert_ptr_nonnull(layout);
    layout_array(layout, "+a", 1 << 20);
    layout_straight(layout, one_load, "one", 64, 64, 16, 0);
    layout_straight(layout, one_load, "two", 64, 64, 16, 0);
    layout->launches = launches;
    layout->alike = alike;
    return layout;
}

/* Whether the steps of so many runs are kept; then they are the program's. */
static bool kept(uint32_t launches, bool alike, size_t runs)
{
    struct err err = {""};
    struct layout *layout = layout_of(launches, alike);
    struct program program;
    struct actor_input t;
    struct actor_at at[2] = {{0}, {0}};
    struct actor_step step[2];
    ck_assert(layout_program(layout, &program, &err) == 0 && actor_input_program(&t, &program, &err) == 0);
    void *run = t.ops->run_open(t.state, &err);
    actor_input_keep(&t, runs, 2);
    bool is = t.tracks != NULL;
    if (is) {
        ck_assert_ptr_eq(t.state, t.tracks);
        ck_assert_int_eq(program_pages_ops.step(run, launches - 1, 77, &at[0], &step[0], &err), 1);
        ck_assert_int_eq(t.ops->step((void *)t.state, launches - 1, 77, &at[1], &step[1], &err), 1);
        ck_assert_mem_eq(&step[0], &step[1], offsetof(struct actor_step, page) + sizeof *step->page);
    }
    program_pages_ops.run_close(run);
    actor_input_close(&t);
    free(layout);
    return is;
}

START_TEST(steps_that_are_asked_for_again_are_kept)
{
    ck_assert(kept(2, true, 2));
    ck_assert(kept(3, true, 1)); /* the third is the first */
    ck_assert(!kept(2, true, 1));
    ck_assert(!kept(3, false, 1));
}
END_TEST

/* A trace with a stream of records of each of these kinds, -1 ends; extra: a column of it, or NULL. */
static struct store *trace_of(const char *name, const int *kinds, const char *extra)
{
    const char *path = testing_file("kinds.db");
    struct store *store = GIVES(store_create(path, true, "test", &err));
    struct stream stream = {.name = "uvm", .unit = TIME_NS};
    int index;
    (void)snprintf(stream.name, sizeof stream.name, "%s", name);
    (void)snprintf(stream.extra[0], sizeof stream.extra[0], "%s", extra ? extra : "");
    WORKS(store_stream_add(store, &stream, &index, &err));
    for (; *kinds >= 0; kinds++)
        WORKS(store_append(store, index, &(struct record){.kind = (uint32_t)*kinds, .addr = 1 << 21},
                           extra ? &(int64_t){0} : NULL, 1, &err));
    WORKS(store_finish(store, &err));
    store_close(store);
    store = GIVES(store_open(path, &err));
    return store;
}

/* Migrations go before touches, both before accesses; a log of faults is told by its column. */
START_TEST(traces_are_told_apart_by_what_they_hold)
{
    static const struct {
        const char *stream, *extra;
        int kinds[4];
        enum uvm_input kind;
    } traces[] = {
        {"uvm", NULL, {RECORD_KERNEL, RECORD_MIGRATE_H2D, -1}, UVM_INPUT_RECORDING},
        {"uvm", NULL, {RECORD_KERNEL, RECORD_MIGRATE_D2H, -1}, UVM_INPUT_OTHER},
        {"touches", NULL, {RECORD_ALLOC, RECORD_TOUCH, -1}, UVM_INPUT_TOUCHES},
        {"touches", NULL, {RECORD_TOUCH, RECORD_MIGRATE_H2D, -1}, UVM_INPUT_RECORDING},
        {"faults", "utlb", {RECORD_FAULT, RECORD_MIGRATE_H2D, -1}, UVM_INPUT_FAULT_LOG},
        {"accesses", "access", {RECORD_ACCESS, -1}, UVM_INPUT_ACCESSES},
        {"accesses", "access", {RECORD_ACCESS, RECORD_MIGRATE_H2D, -1}, UVM_INPUT_RECORDING},
        {"tlp", NULL, {RECORD_KERNEL, -1}, UVM_INPUT_OTHER},
    };
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
        struct store *store = trace_of(traces[i].stream, traces[i].kinds, traces[i].extra);
        const struct input input = {.spec = "t", .store = store};
        ck_assert_int_eq(uvm_input_stored(store), traces[i].kind);
        ck_assert_int_eq(uvm_input_of(&input), traces[i].kind);
        ck_assert_int_eq(actor_input_is(&input), uvm_touching(store) != UVM_INPUT_OTHER); /* also beside migrations */
        store_close(store);
    }
    ck_assert_int_eq(uvm_input_stored(NULL), UVM_INPUT_OTHER);
}
END_TEST

START_TEST(a_program_counts_if_it_has_pages_to_touch)
{
    struct input input = {.spec = "w"};
    struct actor_input t;
    WORKS(workload_open(&input.workload, "nw,bytes=1MiB", &err));
    ck_assert_int_eq(uvm_input_of(&input), UVM_INPUT_PROGRAM);
    WORKS(actor_input_open(&t, &input, &err));
    ck_assert_int_eq(t.kind, UVM_INPUT_PROGRAM);
    actor_input_close(&t);
    workload_close(&input.workload);
    WORKS(workload_open(&input.workload, "pim-add", &err));
    ck_assert_int_eq(uvm_input_of(&input), UVM_INPUT_OTHER);
    FAILS_WITH(actor_input_open(&t, &input, &err), "no pages to touch");
    workload_close(&input.workload);
}
END_TEST

TEST_MAIN("replay/actor_input")
