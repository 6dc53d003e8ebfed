#include "trace/store/facts.h"

#include "trace/store/testing_facts.h"

START_TEST(every_table_of_a_trace_belongs_to_one_fact)
{
    struct schema *schema = GIVES(schema_trace(&err));
    for (int t = 0; t < schema->count; t++) {
        const char *name = schema->table[t].name;
        const bool itself = strcmp(name, "origin") == 0 || strcmp(name, "streams") == 0 || strcmp(name, "chunks") == 0;
        ck_assert_msg((fact_of_table(name) == FACTS) == itself, "table %s belongs to no fact", name);
    }
    free(schema);
}
END_TEST

START_TEST(a_trace_that_has_all_facts_is_found_to_have_each)
{
    struct facts facts;
    testing_all_facts(testing_file("all.db"));
    struct store *store = GIVES(store_open(testing_file("all.db"), &err));
    WORKS(facts_find(&facts, store, 0, FACTS_ALL, &err));
    char text[512];
    for (int f = 0; f < FACTS; f++) {
        ck_assert_msg(facts.n[f] > 0, "fact %d: testing_all_facts() makes none, or it is not found", f);
        ck_assert(*facts_text(&facts, UINT32_C(1) << f, text, sizeof text));
    }
    ck_assert_str_eq(facts_text(&facts, FACTS_ALL & ~FACT(IDS), text, sizeof text),
                     "the state (incomplete), 1,000 skipped, 1,000 dropped, streams faults, times, the "
                     "clock, the address layout, bytes of records, flags and groups of records, processes, columns "
                     "dst_id, the origin, the workload, parameters, structures, allocations, names of kernels, shapes "
                     "of launches, strings, batches, counters, totals of packets");
    ck_assert_str_eq(facts_text(&facts, 0, text, sizeof text), "");
    ck_assert_uint_eq(strlen(facts_text(&facts, FACTS_ALL, text, 20)), 19);
    store_close(store);
}
END_TEST

START_TEST(what_a_trace_lacks_is_no_fact_of_it)
{
    static const struct stream stream = {.name = "requests", .unit = TIME_CYCLES, .clock = "dram"};
    static const struct record plain = {.kind = RECORD_DRAM_READ, .bytes = 32};
    struct facts facts;
    char text[512];
    int index;
    struct store *store = GIVES(store_create(testing_file("t.db"), OUTPUT_REPLACE, "test", &err));
    WORKS(store_stream_add(store, &stream, &index, &err));
    WORKS(store_append(store, index, &plain, NULL, 1, &err));
    WORKS(store_finish(store, &err));
    store_close(store);
    store = GIVES(store_open(testing_file("t.db"), &err));
    WORKS(facts_find(&facts, store, -1, FACTS_ALL, &err));
    ck_assert_str_eq(facts_text(&facts, FACTS_ALL, text, sizeof text), "times");
    store_close(store);
}
END_TEST

TEST_MAIN("facts")
