#include "replay/report/decision.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/testing.h"

static struct err err;

/* The page of a comparison; freed by the caller. */
static char *page_of(const char *spec, const char *platform, uint32_t draws, const char *command)
{
    const struct compare_request request = {.spec = spec, .platform = platform, .threads = 2, .robust = {draws, 1, -1}};
    struct compare_result result;
    bool usage;
    ck_assert_msg(compare_run(&request, &result, &usage, &err) == 0, "%s", err.msg);
    const struct decision decision = {&request, &result, command, "0"};
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    ck_assert_msg(decision_write(&decision, out, &err) == 0, "%s", err.msg);
    (void)fclose(out);
    compare_release(&result);
    return text;
}

static void has(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "no '%s' in\n%.3000s", part, strstr(text, "<body>"));
}

START_TEST(the_page_answers_says_how_sure_why_and_how)
{
    char *text = page_of("synth:bfs,scale=10,roots=1", "h200", 2, "offchip compare");
    static const char *const order[] = {"<h1>Copy the data to the GPU explicitly (cudaMemcpy): ",
                                        "<h2>How sure</h2>",
                                        "of 2 draws",
                                        "<h2>Why</h2>",
                                        "<th scope=\"row\">copy (cudaMemcpy)</th>",
                                        "<h2>How to have it</h2>",
                                        "cudaMalloc() for each of the",
                                        "predicted_time_ns = ",
                                        "<h2>Everything else</h2>",
                                        "</html>"};
    const char *at = text;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const char *next = strstr(at, order[i]);
        ck_assert_msg(next != NULL, "no '%s' after what stands before it", order[i]);
        at = next;
    }
    ck_assert_ptr_null(strstr(text, "<script"));
    ck_assert_ptr_null(strstr(text, "http://"));
    ck_assert_ptr_null(strstr(text, "@TITLE@"));
    free(text);
}
END_TEST

START_TEST(names_cannot_become_markup)
{
    char *text = page_of("synth:triad,bytes=1MiB", "h200", 0, "<img src=x onerror=\"alert(1)\">&\xff");
    has(text, "&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;?");
    ck_assert_ptr_null(strstr(text, "<img src=x"));
    free(text);
}
END_TEST

START_TEST(no_answer_is_said_and_every_refusal_has_its_reason)
{
    char *text = page_of("synth:pim-add", "h200", 0, "");
    has(text, "<h1>No mechanism has an answer for this input on this platform.</h1>");
    has(text, "reads no host memory");
    ck_assert_ptr_null(strstr(text, "<h2>How sure</h2>"));
    free(text);
    text = page_of("synth:triad,bytes=1MiB", "agx", 0, "");
    has(text, "was never measured: no row here is known to win");
    has(text, "data-label=\"link busy at least\">n/a");
    free(text);
}
END_TEST

TEST_MAIN("decision", the_page_answers_says_how_sure_why_and_how, names_cannot_become_markup,
          no_answer_is_said_and_every_refusal_has_its_reason)
