/* The example of docs/adding-a-policy.md, compiled and run as the page shows it: what stands between the two marks is
 * what stands there, and a test compares them. */
#include "trace/base/param.h"
#include "trace/base/testing.h"

/* [example] */
/* readahead: bring the pages that follow a faulted one.
 *
 * Rule. Behind each faulted page, the next `pages` pages of the block come along.
 * Example. pages=16 and page 10 faults: pages 11 to 26 move besides.
 * Source: Linux 6.1, mm/readahead.c, in spirit. Differs: the window does not grow. */
#include "models/plugin/plugin.h"

struct readahead {
    int64_t pages;
};

static const struct param readahead_params[] = {
    PARAM_INT_ROW(readahead, pages, "pages", 0, 511, 16, "pages that follow each faulted one"), {0}};

static void readahead_plan(const void *state, const struct uvm_block *block, const struct page_mask *faulted,
                           struct page_mask *plan)
{
    const struct readahead *s = state;
    page_mask_zero(plan);
    PAGE_MASK_EACH(page, faulted)
    page_mask_set_region(plan, page + 1, page + 1 + (unsigned)s->pages);
    uvm_block_keep_movable(block, faulted, plan);
}

const struct uvm_policy uvm_readahead = {.head = {.name = "readahead",
                                                  .summary = "the pages that follow each faulted one",
                                                  .source = "Linux 6.1, mm/readahead.c, in spirit",
                                                  .params = readahead_params,
                                                  .state_size = sizeof(struct readahead)},
                                         .plan = readahead_plan};
OFFCHIP_UVM_PREFETCH(uvm_readahead)
/* [end] */

static struct readahead defaults(void)
{
    struct readahead s;
    param_defaults(uvm_readahead.head.params, &s);
    return s;
}

START_TEST(page_10_brings_pages_11_to_26)
{
    struct readahead s = defaults();
    struct uvm_block b;
    struct page_mask f = {{0}}, plan, want = {{0}};
    uvm_block_init(&b, 0, UVM_BLOCK_BYTES);
    page_mask_set(&f, 10);
    page_mask_set_region(&want, 11, 27);
    uvm_readahead.plan(&s, &b, &f, &plan);
    ck_assert(page_mask_equal(&plan, &want));
}
END_TEST

START_TEST(a_sequential_sweep_faults_once_in_17_pages)
{
    struct readahead s = defaults();
    struct uvm_block b;
    unsigned faults = 0;
    uvm_block_init(&b, 0, UVM_BLOCK_BYTES);
    for (unsigned p = 0; p < UVM_BLOCK_PAGES; p++) {
        struct page_mask f = {{0}}, plan;
        if (page_mask_test(&b.resident, p))
            continue;
        page_mask_set(&f, p);
        uvm_readahead.plan(&s, &b, &f, &plan);
        page_mask_or(&b.resident, &b.resident, &f);
        page_mask_or(&b.resident, &b.resident, &plan);
        faults++;
    }
    ck_assert_uint_eq(faults, (UVM_BLOCK_PAGES + 16) / 17);
}
END_TEST

START_TEST(nothing_outside_a_short_block_or_already_resident_is_planned)
{
    struct readahead s = defaults();
    struct uvm_block b;
    struct page_mask f = {{0}}, plan;
    uvm_block_init(&b, 0, 20 * UVM_PAGE_BYTES);
    page_mask_set(&f, 12);
    page_mask_set(&b.resident, 14);
    uvm_readahead.plan(&s, &b, &f, &plan);
    ck_assert_uint_eq(page_mask_count(&plan), 6); /* 13, 15 to 19 */
}
END_TEST

/* The text of a file, ended by zero. */
static char *slurp(const char *path)
{
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s cannot be opened; tests run from the top of the source tree", path);
    char *text = calloc(1, 1 << 16);
    ck_assert_uint_lt(fread(text, 1, (1 << 16) - 1, f), (1 << 16) - 1);
    (void)fclose(f);
    return text;
}

START_TEST(the_page_shows_this_very_code)
{
    char *code = slurp("models/uvm/uvm_policy_example_test.c"), *page = slurp("docs/adding-a-policy.md");
    char *from = strstr(code, "/* [example] */\n"), *to = strstr(code, "/* [end] */");
    ck_assert(from && to);
    *to = 0;
    ck_assert_msg(strstr(page, from + strlen("/* [example] */\n")) != NULL,
                  "the code in docs/adding-a-policy.md is not the one tested here");
    free(code);
    free(page);
}
END_TEST

TEST_MAIN("uvm_policy_example")
