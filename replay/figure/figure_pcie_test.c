#include "replay/figure/figures.h"
#include "trace/base/testing.h"

static const char results[] =
    "{\"schema\":1,\"engine\":\"zerocopy\",\"input\":\"synth:%s\",\"platform\":\"v100\",\"runs\":["
    "{\"policy\":\"uvm\",\"params\":{},\"metrics\":{\"requests\":null,\"link_bytes_per_s\":9e9,"
    "\"read_amplification_ratio\":3,\"speedup_ratio\":1},\"interval\":{},\"notes\":[]},"
    "{\"policy\":\"merged\",\"params\":{},\"metrics\":{\"requests\":10,\"requests_32\":4,\"requests_64\":3,"
    "\"requests_96\":2,\"requests_128\":1,\"link_bytes_per_s\":11e9,\"host_dram_bytes_per_s\":12e9,"
    "\"read_amplification_ratio\":1.1,\"speedup_ratio\":3.5},\"interval\":{},\"notes\":[]}],"
    "\"baseline\":{\"policy\":\"uvm\",\"params\":{}}}";

static int script_of(const char *name, const char *input, char **text, struct err *err)
{
    char json[2048];
    size_t size;
    struct run_set set = {0};
    (void)snprintf(json, sizeof json, results, input);
    json_t *root = json_loads(json, 0, NULL);
    ck_assert_int_eq(run_set_add_json(&set, root, "test", err), 0);
    json_decref(root);
    struct figure_input figure = {.path = "test", .runs = &set};
    FILE *out = open_memstream(text, &size);
    int rc = plot_script(figure_find(name), &figure, out, err);
    (void)fclose(out);
    run_set_release(&set);
    return rc;
}

START_TEST(figures_show_every_run_that_has_the_number)
{
    static const char *const names[] = {"pcie-sizes", "pcie-requests", "pcie-bandwidth", "pcie-amplification",
                                        "pcie-speedup"};
    for (size_t i = 0; i < 5; i++) {
        char *text = NULL;
        struct err err = {""};
        ck_assert_msg(script_of(names[i], "bfs,graph=a/kron20.bel", &text, &err) == 0, "%s", err.msg);
        ck_assert_ptr_nonnull(strstr(text, "merged"));
        ck_assert_ptr_nonnull(strstr(text, "kron20.bel"));
        ck_assert_ptr_null(strstr(text, "a/kron20"));
        ck_assert(i >= 2 ? strstr(text, "\"uvm\"") != NULL : strstr(text, "uvm") == NULL);
        free(text);
    }
}
END_TEST

START_TEST(the_toy_figure_wants_arrays)
{
    char *text = NULL;
    struct err err = {""};
    ck_assert_int_eq(script_of("pcie-toy", "array,bytes=64MiB", &text, &err), 0);
    free(text);
    ck_assert_int_eq(script_of("pcie-toy", "bfs,graph=kron", &text, &err), -1);
    free(text);
    ck_assert_ptr_nonnull(strstr(err.msg, "synth:array"));
}
END_TEST

TEST_MAIN("figure_pcie", figures_show_every_run_that_has_the_number, the_toy_figure_wants_arrays)
