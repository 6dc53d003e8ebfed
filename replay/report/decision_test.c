#include "replay/report/report.h"

#include <stdlib.h>
#include <string.h>

#include "replay/compare/compare.h"
#include "trace/base/testing.h"

static struct err err;

static bool is_void(const char *name)
{
    static const char *const names[] = {"meta", "img", "br", "hr", "link", "col"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Every element is closed, the innermost first. */
static void is_nested(const char *text)
{
    char open[32][16];
    size_t depth = 0;
    for (const char *p = text; (p = strchr(p, '<')) != NULL; p++) {
        const char *end = strchr(p, '>');
        char name[16];
        if (strncmp(p, "<style", 6) == 0 || strncmp(p, "<!", 2) == 0) { /* its content is no markup */
            p = p[1] == '!' ? p : strstr(p, "</style");
            continue;
        }
        ck_assert(end && sscanf(p[1] == '/' ? p + 2 : p + 1, "%15[a-zA-Z0-9]", name) == 1);
        if (p[1] == '/') {
            ck_assert_msg(depth && strcmp(open[depth - 1], name) == 0, "</%s> within <%s>", name,
                          depth ? open[depth - 1] : "");
            depth--;
        } else if (end[-1] != '/' && !is_void(name)) {
            ck_assert_uint_lt(depth, 32);
            memcpy(open[depth++], name, sizeof name);
        }
    }
    ck_assert_msg(depth == 0, "<%s> stays open", open[depth ? depth - 1 : 0]);
}

static char *page_of(const char *spec, const char *platform, uint32_t draws, const char *command)
{
    const struct compare_request request = {.spec = spec, .platform = platform, .threads = 2, .draws = draws};
    struct compare_result result;
    bool usage;
    ck_assert_msg(compare_run(&request, &result, &usage, &err) == 0, "%s", err.msg);
    const struct decision decision = {&request, &result, command, "0", NULL};
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    ck_assert_msg(decision_write(&decision, out, &err) == 0, "%s", err.msg);
    (void)fclose(out);
    compare_release(&result);
    is_nested(text);
    return text;
}

static void has(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "no '%s' in\n%.3000s", part, strstr(text, "<body>"));
}

START_TEST(the_page_answers_says_how_sure_why_and_how)
{
    char *text = page_of("synth:bfs,scale=9,roots=1", "h200", 2, "offchip compare");
    static const char *const order[] = {"<h1>",
                                        "copy ",
                                        "<h2>Each mechanism</h2>",
                                        "<th scope=\"row\">copy (cudaMemcpy)</th>",
                                        "<h2>How to have it</h2>",
                                        "cudaMalloc() for 1 allocation",
                                        "predicted ",
                                        "<h2>Why</h2>",
                                        "<div class=\"beside\">",
                                        "<figure class=\"compare-times\">",
                                        "<h2>How sure</h2>",
                                        "of 2 draws",
                                        "<h2>Everything else</h2>",
                                        "</html>"};
    const char *at = text;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const char *next = strstr(at, order[i]);
        ck_assert_msg(next != NULL, "no '%s' after what stands before it", order[i]);
        at = next;
    }
    has(text, "<figure class=\"tornado\">");
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
    has(text, "<h1>No answer: nothing here has a time.</h1>");
    has(text, "reads no host memory");
    ck_assert_ptr_null(strstr(text, "<h2>How sure</h2>"));
    free(text);
    text = page_of("synth:triad,bytes=1MiB", "agx", 0, "");
    has(text, "was never measured: no row here is known to win");
    has(text, "data-label=\"link busy at least\">n/a");
    free(text);
}
END_TEST

TEST_MAIN("decision")
