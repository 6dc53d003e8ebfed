/* dram_testing: import a CSV of requests and replay it, for the dram engine's tests. */
#ifndef REPLAY_DRAM_DRAM_TESTING_H
#define REPLAY_DRAM_DRAM_TESTING_H

#include "replay/dram/dram.h"
#include "trace/base/testing.h"
#include "trace/import/reader.h"

/* fixtures/dram/NAME as trace NAME.offchip in the scratch directory. */
static inline const char *test_import(const char *path, const char *name)
{
    struct err err = {""};
    const char *to = testing_file(name);
    struct store *store = store_create(to, true, "test", &err);
    ck_assert_msg(store != NULL, "%s", err.msg);
    struct source *source = source_open(path, &err);
    ck_assert_msg(source != NULL, "%s", err.msg);
    struct reader_context context = {.store = store, .path = path, .strict = true};
    ck_assert_msg(!read_dram_csv.read(&context, source, &err), "%s: %s", path, err.msg);
    ck_assert_msg(!store_finish(store, &err), "%s", err.msg);
    source_close(source);
    store_close(store);
    return to;
}

/* Replay inputs ("mem=SPEC", "pim=SPEC" or a plain SPEC); set: "key=value,..." */
static inline void test_replay(struct replay_result *result, const char *const *specs, size_t n, const char *set,
                               const char *policies, const char *requests)
{
    struct err err = {""};
    struct input inputs[4];
    ck_assert_uint_le(n, 4);
    for (size_t i = 0; i < n; i++) {
        const bool role = strncmp(specs[i], "mem=", 4) == 0 || strncmp(specs[i], "pim=", 4) == 0;
        const char *name = !role ? "" : specs[i][0] == 'm' ? "mem" : "pim";
        ck_assert_msg(!input_open(&inputs[i], specs[i] + (role ? 4 : 0), name, false, &err), "%s", err.msg);
    }
    const char *sets[] = {set};
    FILE *file = requests ? fopen(requests, "w") : NULL;
    const struct replay_request request = {.engine = &engine_dram,
                                           .policy_list = policies,
                                           .sets = sets,
                                           .set_count = 1,
                                           .inputs = inputs,
                                           .input_count = n,
                                           .requests = file,
                                           .threads = 1};
    bool usage;
    ck_assert_msg(!replay_run(&request, result, &usage, &err), "%s", err.msg);
    if (file)
        (void)fclose(file);
    for (size_t i = 0; i < n; i++)
        input_close(&inputs[i]);
}

static inline double test_real(const struct replay_result *result, size_t run, const char *name)
{
    const struct metric_value *v = outcome_get(&result->runs[run], name);
    ck_assert_msg(v != NULL, "no metric %s", name);
    ck_assert_msg(v->known, "%s is unknown", name);
    return v->real;
}

#endif
