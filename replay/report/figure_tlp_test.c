/* Figures of PCIe packets. */
#include "replay/report/plot.h"

#include "replay/report/testing_tlp_sizes.h"

START_TEST(a_trace_without_packets_has_no_figure)
{
    const char *path = testing_file("empty.db");
    struct store *store = GIVES(store_create(path, true, "test", &err));
    WORKS(store_finish(store, &err));
    store_close(store);
    store = GIVES(store_open(path, &err));
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct figure_input input = {.path = path, .store = store};
    FAILS(plot_script(figure_find("tlp-sizes"), &input, out, &err));
    FAILS(plot_script(figure_find("tlp-latency"), &input, out, &err));
    (void)fclose(out);
    free(text);
    store_close(store);
}
END_TEST

START_TEST(figures_show_types_senders_and_quartiles)
{
    static const char *const names[] = {"tlp-sizes", "tlp-latency"};
    static const char *const words[][2] = {{"MRd 64", "from 10.0.0.1"}, {"51 us", ""}};
    struct err err = {""};
    struct store *store = testing_packets(1, 101, true);
    struct figure_input input = {.path = "tlp.db", .store = store};
    for (int i = 0; i < 2; i++) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        ck_assert_msg(plot_script(figure_find(names[i]), &input, out, &err) == 0, "%s", err.msg);
        (void)fclose(out);
        ck_assert_msg(strstr(text, words[i][0]) != NULL, "%s", text);
        ck_assert_msg(i == 1 || strstr(text, words[i][1]) != NULL, "%s", text);
        free(text);
        int rc = plot_draw(figure_find(names[i]), &input, testing_file(testing_text("%s.svg", names[i])), true, &err);
        ck_assert_msg(rc == 0 || strstr(err.msg, "not installed"), "%s", err.msg);
    }
    store_close(store);
}
END_TEST

TEST_MAIN("figure_tlp")
