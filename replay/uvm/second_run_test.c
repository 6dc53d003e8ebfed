/* Two runs of a program joined: the second has its memory elsewhere, its records end as if it had not. */
#include "replay/uvm/second_run.h"

#include "replay/uvm/actor_input.h"
#include "trace/base/testing.h"
#include "trace/program/access.h"

enum { BLOCK = 2 << 20, PAGES = 4, LAUNCHES = 3 };

/* What differs from the first run. */
struct run {
    uint64_t shift, bytes;      /* of addresses; of the allocation */
    const char *last;           /* kernel of the last launch */
    int pages, launches, first; /* touched; of the launches which is recorded first */
};
static const struct run alike = {5 * BLOCK, PAGES * 4096, "two", PAGES, LAUNCHES, 0};

static void facts(struct store *store, const struct run *run, bool timed)
{
    for (int i = run->first, id = 0; i < run->launches; i++, id++) {
        const char *name = i == LAUNCHES - 1 ? run->last : "one";
        WORKS(STORE_ROW(store, "kernels", &err, STORE_V_INT(id), STORE_V_TEXT(name), STORE_V_INT(id),
                        timed ? STORE_V_INT(1000 * i + 500) : STORE_V_NULL, timed ? STORE_V_INT(400) : STORE_V_NULL,
                        STORE_V_INT(1), STORE_V_NULL, STORE_V_NULL, STORE_V_INT(32), STORE_V_NULL, STORE_V_NULL,
                        STORE_V_NULL, STORE_V_NULL, STORE_V_NULL, STORE_V_NULL, STORE_V_NULL));
    }
    WORKS(STORE_ROW(store, "allocations", &err, STORE_V_INT(0), STORE_V_INT(BLOCK + run->shift),
                    STORE_V_INT(run->bytes), STORE_V_TEXT("managed"), STORE_V_NULL, STORE_V_INT(1), STORE_V_NULL));
}

/* Launch 1 faults on all pages. */
static struct store *first_run(void)
{
    static const struct run first = {0, PAGES * 4096, "two", PAGES, LAUNCHES, 0};
    struct stream stream = {.name = "uvm", .unit = TIME_NS};
    int index;
    struct store *store = GIVES(store_create(testing_file("first.db"), OUTPUT_REPLACE, "first", &err));
    facts(store, &first, true);
    WORKS(store_stream_add(store, &stream, &index, &err));
    const struct record records[] = {
        {.kind = RECORD_ALLOC, .time = 1, .addr = BLOCK, .bytes = PAGES * 4096, .flags = RECORD_ALLOC_MANAGED},
        {.kind = RECORD_KERNEL, .time = 500, .duration = 400, .id = 0, .group = 0},
        {.kind = RECORD_KERNEL, .time = 1500, .duration = 400, .id = 1, .group = 1},
        {.kind = RECORD_FAULT, .time = 1510, .duration = 100, .addr = BLOCK, .bytes = 1},
        {.kind = RECORD_MIGRATE_H2D,
         .time = 1520,
         .duration = 50,
         .addr = BLOCK,
         .bytes = PAGES * 4096,
         .flags = RECORD_CAUSE_FAULT},
        {.kind = RECORD_KERNEL, .time = 2500, .duration = 400, .id = 2, .group = 2}};
    WORKS(store_append(store, index, records, NULL, sizeof records / sizeof *records, &err));
    WORKS(store_finish(store, &err));
    store_close(store);
    return GIVES(store_open(testing_file("first.db"), &err));
}

static struct store *second_run(const struct run *run)
{
    struct access_sink sink;
    struct store *store = GIVES(store_create(testing_file("second.db"), OUTPUT_REPLACE, "second", &err));
    facts(store, run, false);
    WORKS(access_open(&sink, store, &err));
    const struct record alloc = {
        .kind = RECORD_ALLOC, .addr = BLOCK + run->shift, .bytes = run->bytes, .flags = RECORD_ALLOC_MANAGED};
    WORKS(writer_add(&sink.writer, &alloc, (int64_t[]){0, 0}, &err));
    for (int l = run->first, id = 0; l < run->launches; l++, id++) {
        WORKS(access_launch(&sink, id, &err));
        for (int p = 0; p < run->pages && l == 1; p++)
            WORKS(access_add(&sink,
                             &(struct access_op){.addrs = (uint64_t[]){BLOCK + run->shift + p * 4096u},
                                                 .lanes = 1,
                                                 .bytes = 4,
                                                 .access = RECORD_READ},
                             &err));
        WORKS(access_launch_end(&sink, &err));
    }
    WORKS(access_flush(&sink, &err));
    access_close(&sink);
    WORKS(store_finish(store, &err));
    store_close(store);
    return GIVES(store_open(testing_file("second.db"), &err));
}

/* The joined trace, or NULL with *err set. */
static struct store *join(const struct run *run, bool touches, bool some, struct err *err)
{
    const char *path = testing_file("both.db");
    struct store *first = first_run(), *second = second_run(run);
    struct store *out = store_create(path, OUTPUT_REPLACE, "both", err);
    int rc = second_run_join(first, second, touches, some, out, err);
    if (rc == 0)
        ck_assert_msg(store_finish(out, err) == 0, "%s", err->msg);
    store_close(out);
    store_close(second);
    store_close(first);
    return rc ? NULL : store_open(path, err);
}

START_TEST(addresses_and_launches_are_those_of_the_first_run)
{
    struct err err = {""};
    for (int touches = 0; touches < 2; touches++) {
        struct store *both = join(&alike, touches, false, &err);
        ck_assert_msg(both != NULL, "%s", err.msg);
        ck_assert_int_eq(uvm_input_stored(both), UVM_INPUT_RECORDING);
        ck_assert_int_eq(uvm_touching(both), touches ? UVM_INPUT_TOUCHES : UVM_INPUT_ACCESSES);
        ck_assert_int_eq(second_run_check(both, &err), -1);
        char command[128]; /* nothing can be added to it any more */
        ck_assert_str_eq(second_run_command(both, true, command, sizeof command),
                         "offchip record --touches -o touches.db -- PROGRAM");
        struct store_walk w = {0};
        uint64_t pages = 0;
        while (store_walk_next(&w, both, 1, &err))
            if (w.r->kind == RECORD_TOUCH || w.r->kind == RECORD_ACCESS) {
                ck_assert_uint_eq(w.r->addr, BLOCK + pages++ * 4096);
                ck_assert_uint_eq(w.r->group, 1);
            }
        ck_assert_int_eq(store_walk_end(&w), 0);
        ck_assert_uint_eq(pages, PAGES);
        store_close(both);
    }
}
END_TEST

START_TEST(some_kernels_alone_keep_their_places)
{
    struct run only = alike;
    struct err err = {""};
    only.launches = 2; /* both of kernel one */
    struct store *both = join(&only, true, true, &err);
    ck_assert_msg(both != NULL, "%s", err.msg);
    store_close(both);
    ck_assert_ptr_null(join(&only, true, false, &err));
    ck_assert_str_eq(err.msg, "the program did not do the same twice: 3 kernels were launched and then 2");
    only.first = 1;
    ck_assert_ptr_null(join(&only, true, true, &err));
    ck_assert_str_eq(err.msg, "the program did not do the same twice: 2 kernels were launched and then 1");
}
END_TEST

START_TEST(times_without_the_profiler_are_facts_of_the_first_run)
{
    double runs[] = {5e6, 1e6, 3e6, 9e6, 2e6, 4e6, 3e6};
    char text[96];
    struct untraced u = untraced_of(runs, 7), one = untraced_of(runs, 1), found;
    ck_assert_str_eq(untraced_say(&u, text, sizeof text), "3 ms (2.5 to 4.5, runs: 7)");
    ck_assert_str_eq(untraced_say(&one, text, sizeof text), "1 ms (1 to 1, runs: 1)");
    store_close(first_run());
    WORKS(untraced_put(testing_file("first.db"), UNTRACED_PLAIN, &one, &err));
    WORKS(untraced_put(testing_file("first.db"), UNTRACED_PLAIN, &u, &err));
    struct store *store = GIVES(store_open(testing_file("first.db"), &err));
    ck_assert(untraced_get(store, UNTRACED_PLAIN, &found) && !untraced_get(store, UNTRACED_RESIDENT, &one));
    ck_assert(found.median_ns == 3e6 && found.low_ns == 2.5e6 && found.high_ns == 4.5e6 && found.runs == 7);
    store_close(store);
    FAILS(untraced_put(testing_file("none.db"), UNTRACED_PLAIN, &u, &err));
}
END_TEST

START_TEST(another_run_is_refused_by_what_differs_first)
{
    struct run runs[4] = {alike, alike, alike, alike};
    static const char *const why[] = {
        "launch 2 was of two and then of three", "managed allocation 0 had 16384 bytes and then 20480",
        "managed allocation 0 began elsewhere in its page", "are not among the touches, the first at 0x203000"};
    runs[0].last = "three";
    runs[1].bytes += 4096;
    runs[2].shift += 256;
    runs[3].pages--;
    for (int i = 0; i < 4; i++) {
        GIVES_NONE(join(&runs[i], true, false, &err), why[i]);
    }
}
END_TEST

TEST_MAIN("replay/second_run")
