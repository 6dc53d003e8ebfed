#include "cmd/console/table.h"

#include <stdlib.h>
#include <unistd.h>

#include "trace/base/testing.h"

static char *printed(const struct table *t, void (*print)(const struct table *, FILE *))
{
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    print(t, f);
    ck_assert_int_eq(fclose(f), 0);
    return text;
}

START_TEST(numbers_stand_right_and_words_left)
{
    struct table t;
    table_init(&t, 2);
    table_cell(&t, "policy");
    table_cell(&t, "faults");
    table_cell(&t, "tree");
    table_cell(&t, "%d", 7);
    table_cell(&t, "none");
    table_cell(&t, "n/a");
    char *text = printed(&t, table_print);
    ck_assert_str_eq(text, "policy  faults\ntree         7\nnone       n/a\n");
    free(text);
    table_release(&t);
}
END_TEST

/* Work per cell must not grow with the rows: this took minutes when each cell measured its whole column. */
START_TEST(a_hundred_thousand_rows_print_in_linear_time)
{
    enum { ROWS = 100000 };
    struct table t;
    table_init(&t, 3);
    for (int i = 0; i < 3 * ROWS; i++)
        table_cell(&t, "%d", i);
    char *text = printed(&t, table_print);
    ck_assert_uint_eq(strlen(text), (size_t)ROWS * 23);
    ck_assert_int_eq(strncmp(text, "     0       1       2\n     3       4       5\n", 46), 0);
    free(text);
    table_release(&t);
}
END_TEST

START_TEST(csv_quotes_what_needs_it)
{
    struct table t;
    table_init(&t, 2);
    table_cell(&t, "a,b");
    table_cell(&t, "say \"x\"");
    char *text = printed(&t, table_csv);
    ck_assert_str_eq(text, "\"a,b\",\"say \"\"x\"\"\"\n");
    free(text);
    table_release(&t);
}
END_TEST

START_TEST(metrics_read_well)
{
    static const struct metric time = {"time_ns", METRIC_INT, METRIC_SUM, ""};
    static const struct metric ratio = {"speedup_ratio", METRIC_REAL, METRIC_GEOMEAN, ""};
    char buf[128];
    struct metric_value v = {.known = true, .whole = 38900000, .real = 38900000};
    ck_assert_str_eq(metric_text(&time, &v, buf, sizeof buf), "38.9 ms");
    static const struct metric count = {"faults", METRIC_INT, METRIC_SUM, ""};
    v = (struct metric_value){.known = true, .whole = 9007199254740993, .real = 9007199254740992.0};
    ck_assert_str_eq(metric_text(&count, &v, buf, sizeof buf), "9,007,199,254,740,993");
    v = (struct metric_value){.interval = true, .lo = 999, .hi = 12345};
    ck_assert_str_eq(metric_text(&count, &v, buf, sizeof buf), "999 .. 12,345");
    v = (struct metric_value){.known = true, .real = 43210.4};
    ck_assert_str_eq(metric_text(&ratio, &v, buf, sizeof buf), "43,210");
    v = (struct metric_value){.known = true, .real = 1.4234};
    ck_assert_str_eq(metric_text(&ratio, &v, buf, sizeof buf), "1.423");
    v.unbound = true;
    ck_assert_str_eq(metric_text(&ratio, &v, buf, sizeof buf), "~1.423");
    v = (struct metric_value){.interval = true, .lo = 1, .hi = 1.5};
    ck_assert_str_eq(metric_text(&ratio, &v, buf, sizeof buf), "1.000 .. 1.500");
    v = (struct metric_value){.lower_bound = true, .lo = 1.5};
    ck_assert_str_eq(metric_text(&ratio, &v, buf, sizeof buf), "> 1.500");
    v = (struct metric_value){0};
    ck_assert_str_eq(metric_text(&ratio, &v, buf, sizeof buf), "n/a");
}
END_TEST

START_TEST(estimates_are_named_where_a_cell_is_a_bare_number)
{
    static const struct metric metrics[] = {{"time_ns", METRIC_INT, METRIC_SUM, ""},
                                            {"faults", METRIC_INT, METRIC_SUM, ""},
                                            {"evictions", METRIC_INT, METRIC_SUM, ""},
                                            {0}};
    struct outcome run;
    struct table t;
    ck_assert_int_eq(outcome_init(&run, metrics, NULL), 0);
    outcome_int(&run, "faults", 7);
    table_init(&t, 1);
    table_estimates(&t, &run);
    ck_assert_str_eq(t.cells[0], "");
    outcome_unbound(&run, "faults");
    outcome_unbound(&run, "evictions"); /* not known: no value to be marked */
    outcome_int(&run, "time_ns", 5);
    outcome_unbound(&run, "time_ns");
    table_estimates(&t, &run);
    ck_assert_str_eq(t.cells[1], "time_ns faults");
    table_release(&t);
    outcome_release(&run);
}
END_TEST

START_TEST(columns_of_which_no_row_says_anything_are_left_out)
{
    struct table t;
    TABLE_BEGIN(&t, "a", "b", "c", "d", "e");
    TABLE_WORDS(&t, "", "", "3", "", "5");
    TABLE_WORDS(&t, "6", "", "", "", "");
    table_leave_out_empty(&t, 1, 4);
    const char *const left[] = {"a", "c", "e", "", "3", "5", "6", "", ""};
    ck_assert(t.columns == 3 && t.count == 9);
    for (size_t i = 0; i < 9; i++)
        ck_assert_str_eq(t.cells[i], left[i]);
    table_leave_out_empty(&t, 1, 1);
    ck_assert_uint_eq(t.columns, 3);
    table_release(&t);
}
END_TEST

/* A table as it is printed where a line has so many columns. */
static const char *fitted(const struct table *t, int columns)
{
    static char text[1 << 15];
    FILE *f = fopen(testing_file("fitted"), "w+");
    setenv("COLUMNS", testing_text("%d", columns), 1);
    table_print(t, f);
    unsetenv("COLUMNS");
    rewind(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    (void)fclose(f);
    return text;
}

static void fill(struct table *t, size_t columns, size_t n, const char *const *cells)
{
    table_init(t, columns);
    for (size_t i = 0; i < n; i++)
        table_cell(t, "%s", cells[i]);
}

START_TEST(words_go_to_further_lines_and_columns_below)
{
    static const char *const words[] = {"name", "n", "what it is", "tree", "12", "the largest region"};
    static const char *const numbers[] = {"metric", "tree", "none", "fixed", "time", "1.25 ms", "2.75 ms", "913 us"};
    struct table t;
    fill(&t, 3, 6, words);
    ck_assert_str_eq(fitted(&t, 80), "name   n  what it is\ntree  12  the largest region\n");
    ck_assert_str_eq(fitted(&t, 20), "name   n  what it is\ntree  12  the\n          largest\n          region\n");
    table_release(&t);
    fill(&t, 4, 8, numbers);
    ck_assert_str_eq(fitted(&t, 26), "metric     tree     none\ntime    1.25 ms  2.75 ms\n\n"
                                     "metric   fixed\ntime    913 us\n");
    table_release(&t);
}
END_TEST

START_TEST(keys_of_a_row_stand_in_every_block)
{
    static const char *const cells[] = {"case", "policy", "time", "faults", "a", "tree", "1.25 ms", "1,234,567"};
    struct table t;
    fill(&t, 4, 8, cells);
    t.keys = 2;
    ck_assert_str_eq(fitted(&t, 30), "case  policy     time\na     tree    1.25 ms\n\n"
                                     "case  policy     faults\na     tree    1,234,567\n");
    ck_assert_str_eq(fitted(&t, 20), "case  policy\na     tree\n\ncase     time\na     1.25 ms\n\n"
                                     "case     faults\na     1,234,567\n"); /* no room for both and a number */
    table_release(&t);
}
END_TEST

/* In each width all that stands in the table is printed, and lines are too long only where one cell is. */
START_TEST(every_width_shows_every_word)
{
    static const char *const words[] = {"alpha", "be-ta", "gamma,delta", "x", "a|b|c", "epsilon zeta eta"};
    unsigned seed = 1;
    for (int round = 0; round < 200; round++) {
        struct table t;
        const size_t columns = 1 + (size_t)rand_r(&seed) % 5, rows = 2 + (size_t)rand_r(&seed) % 4;
        const int room = 20 + rand_r(&seed) % 60;
        size_t letters = 0, first = 0, printed = 0, blocks = 1;
        table_init(&t, columns);
        for (size_t i = 0; i < rows * columns; i++)
            table_cell(&t, "%s %s", words[rand_r(&seed) % 6], words[rand_r(&seed) % 6]);
        for (size_t i = 0; i < t.count; i++)
            for (const char *p = t.cells[i]; *p; p++) {
                letters += *p != ' ';
                first += *p != ' ' && i % columns == 0;
            }
        const char *text = fitted(&t, room);
        for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
            blocks += *line == '\n';
            ck_assert_uint_le(strcspn(line, "\n"), room < 24 ? 24 : (size_t)room); /* two pieces of 11 */
            for (size_t i = 0; i < strcspn(line, "\n"); i++)
                printed += line[i] != ' ';
        }
        ck_assert_uint_eq(printed, letters + (blocks - 1) * first);
        table_release(&t);
    }
}
END_TEST

/* Whether files are terminals: this isatty() is linked before libc's, so that no test needs a terminal. */
static int terminal;

int isatty(int file)
{
    (void)file;
    return terminal;
}

/* What a terminal is sent for a table of one head and one row. */
static void check_on_terminal(const char *expected)
{
    struct table t;
    table_init(&t, 2);
    table_cell(&t, "a");
    table_cell(&t, "b");
    table_cell(&t, "x");
    table_cell(&t, "1");
    terminal = 1;
    char *sent = printed(&t, table_print);
    terminal = 0;
    ck_assert_str_eq(sent, expected);
    free(sent);
    table_release(&t);
}

START_TEST(a_head_is_bold_on_terminals_that_can)
{
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    check_on_terminal("\033[1ma  b\033[0m\nx  1\n");
    setenv("NO_COLOR", "1", 1);
    check_on_terminal("a  b\nx  1\n");
    unsetenv("NO_COLOR");
    setenv("TERM", "dumb", 1);
    check_on_terminal("a  b\nx  1\n");
}
END_TEST

TEST_MAIN("table")
