#include "models/base/platform.c"

#include "models/gpu/gpu.h"
#include "models/uvm/uvm_platform.h"
#include "models/zerocopy/link.h"
#include "trace/base/param.h"
#include "trace/base/testing.h"

/* Where a number comes from: the text after the bar without its form, or NULL if the file does not state it. */
static const char *platform_source(const struct platform *platform, const char *section, const char *key)
{
    const struct platform_number *n = platform_number(platform, section, key);
    return n && n->state == PLATFORM_STATED ? n->source : NULL;
}

static char form_text[300];

static int cut_form(const char *line, struct platform_form *form, struct err *err)
{
    (void)snprintf(form_text, sizeof form_text, "%s", line);
    return platform_form_cut(form_text, "k", form, err);
}

START_TEST(each_form_is_cut_into_its_parts)
{
    static const struct {
        const char *line;
        enum platform_kind kind;
        const char *value, *as, *low, *high, *why;
    } good[] = {
        {"80 | data sheet, table 1: 80 | 2", PLATFORM_SOURCED, "80", NULL, NULL, NULL, "data sheet, table 1: 80 | 2"},
        {"  1 MiB\t|  x ", PLATFORM_SOURCED, "1 MiB", NULL, NULL, NULL, "x"},
        {"80 | assumed 40..160: as a guess: yes", PLATFORM_ASSUMED, "80", NULL, "40", "160", "as a guess: yes"},
        {"free | assumed blocked..free : w", PLATFORM_ASSUMED, "free", NULL, "blocked", "free", "w"},
        {"0.5 | fitted -1..1e3: figure 2", PLATFORM_FITTED, "0.5", NULL, "-1", "1e3", "figure 2"},
        {"256 | as v100 128..256: same link", PLATFORM_AS, "256", "v100", "128", "256", "same link"},
        {"row:3 | assumed: linear", PLATFORM_ASSUMED, "row:3", NULL, NULL, NULL, "linear"},
        {"row:3 | as gv100: linear", PLATFORM_AS, "row:3", "gv100", NULL, NULL, "linear"},
        {"3 | assumedly so", PLATFORM_SOURCED, "3", NULL, NULL, NULL, "assumedly so"},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct platform_form f;
        struct err err = {""};
        ck_assert_msg(cut_form(good[i].line, &f, &err) == 0, "%s: %s", good[i].line, err.msg);
        ck_assert_int_eq(f.kind, good[i].kind);
        ck_assert_str_eq(f.value, good[i].value);
        ck_assert_pstr_eq(f.as, good[i].as);
        ck_assert_pstr_eq(f.low, good[i].low);
        ck_assert_pstr_eq(f.high, good[i].high);
        ck_assert_str_eq(f.why, good[i].why);
    }
}
END_TEST

START_TEST(what_is_no_form_says_what_was_expected)
{
    static const struct {
        const char *line, *says;
    } bad[] = {{"80", "k has no source; expected 'k = VALUE | where it comes from'"},
               {"80 | ", "k has an empty source"},
               {"80 | assumed", "expected 'k = VALUE | assumed LOW..HIGH: why'"},
               {"80 | assumed 40..160", "expected 'k = VALUE | assumed LOW..HIGH: why'"},
               {"80 | assumed 40..160:", "assumed LOW..HIGH: why"},
               {"80 | assumed 40: why", "assumed LOW..HIGH: why"},
               {"80 | assumed 40 .. 160: why", "assumed LOW..HIGH: why"},
               {"80 | assumed ..160: why", "assumed LOW..HIGH: why"},
               {"80 | assumed 40..: why", "assumed LOW..HIGH: why"},
               {"80 | fitted to figure 2", "fitted LOW..HIGH: to what"},
               {"80 | as v100, same chip", "as NAME LOW..HIGH: why"},
               {"80 | as: same chip", "as NAME LOW..HIGH: why"},
               {"80 | as v100 same 1..2: why", "as NAME LOW..HIGH: why"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct platform_form f;
        struct err err = {""};
        ck_assert_msg(cut_form(bad[i].line, &f, &err) == -1, "%s was taken", bad[i].line);
        ck_assert_msg(strstr(err.msg, bad[i].says) != NULL, "'%s' gave: %s", bad[i].line, err.msg);
    }
}
END_TEST

START_TEST(a_section_is_borrowed_with_a_factor_or_is_not_there)
{
    struct platform_form f;
    char borrowed[] = "titanv | 0.03..1.2: an older driver", none[] = "none | no page faults: compute capability 5.2";
    WORKS(platform_form_cut_section(borrowed, &f, &err));
    ck_assert_str_eq(f.as, "titanv");
    ck_assert_str_eq(f.low, "0.03");
    ck_assert_str_eq(f.high, "1.2");
    ck_assert_str_eq(f.why, "an older driver");
    WORKS(platform_form_cut_section(none, &f, &err));
    ck_assert_str_eq(f.as, "none");
    ck_assert_ptr_null(f.low);
    ck_assert_str_eq(f.why, "no page faults: compute capability 5.2");
    char no_range[] = "titanv | same chip", no_why[] = "titanv | 1..2:", no_name[] = " | 1..2: why", bare[] = "titanv";
    FAILS_WITH(platform_form_cut_section(no_range, &f, &err), "'as = NAME | LOW..HIGH: why'");
    FAILS(platform_form_cut_section(no_why, &f, &err));
    FAILS(platform_form_cut_section(no_name, &f, &err));
    FAILS(platform_form_cut_section(bare, &f, &err));
}
END_TEST

static struct platform *load(const char *text, struct err *err)
{
    return platform_load(testing_write("x.ini", text, strlen(text)), err);
}

START_TEST(every_shipped_platform_loads)
{
    char name[64];
    size_t n = 0;
    for (; platform_shipped(n, name, sizeof name); n++) {
        struct err err = {""};
        struct platform *p = platform_load(name, &err);
        ck_assert_msg(p != NULL, "%s: %s", name, err.msg);
        ck_assert_str_eq(p->name, name);
        ck_assert_str_ne(p->summary, "");
        platform_free(p);
    }
    ck_assert_uint_ge(n, 3);
}
END_TEST

START_TEST(a_file_can_start_from_a_shipped_platform)
{
    struct platform *p = GIVES(load("[platform]\nname = mine\nbase = h200\n[gpu]\nsms = 66 | half of it\n", &err));
    const struct gpu *gpu = platform_section_get(p, "gpu");
    ck_assert_str_eq(p->name, "mine");
    ck_assert_int_eq(gpu->sms, 66);
    ck_assert_int_eq(gpu->l1_bytes, 262144);
    ck_assert_str_eq(platform_source(p, "gpu", "sms"), "half of it");
    ck_assert(platform_has(p, "gpu"));
    ck_assert(*p->summary); /* the base's */
    platform_free(p);
    p = GIVES(load("[platform]\nname = mine\nsummary = half a chip\nbase = h200\n", &err));
    ck_assert_str_eq(p->summary, "half a chip");
    platform_free(p);
}
END_TEST

START_TEST(wrong_files_name_the_line)
{
    static const struct {
        const char *text, *says;
    } bad[] = {{"[gpu]\nsms = 66\n", "x.ini:2: sms has no source"},
               {"[gpu]\nsms = 66 |\n", "x.ini:2: sms has an empty source"},
               {"[gpu]\nsms = 0 | s\n", "x.ini:2: sms is 0; expected 1 to 1024"},
               {"[gpu]\ncores = 3 | s\n", "'cores' is not a known parameter"},
               {"[fpga]\nx = 3 | s\n", "[fpga] is not a known section"},
               {"[platform]\ncolour = red\n", "'colour' is not known"},
               {"[platform]\nbase = nothing\n", "no platform is called 'nothing'"},
               {"rubbish\n", "x.ini:1: found 'rubbish'; expected '[section]'"},
               {"[gpu]\nsms = 66 | s\nsms = 67 | s\n", "x.ini:3: sms is given again"},
               {"sms = 66 | s\n[gpu]\n", "x.ini:1: 'sms = 66 | s' stands before the first [section]"},
               {"[fpga]\n", "x.ini:1: [fpga] is not a known section"},
               {"", "x.ini: no number in it; expected a section"},
               {"[platform]\nname = mine\n[gpu]\n", "x.ini: no number in it; expected a section"},
               {"[gpu]\nsms = 66 | assumed 70..80: w\n", "x.ini:2: sms is 66, outside its range 70..80"},
               {"[gpu]\nsms = 66 | assumed 10..65: w\n", "x.ini:2: sms is 66, outside its range 10..65"},
               {"[gpu]\nsms = 66 | assumed 80..60: w\n", "x.ini:2: sms is 66, outside its range 80..60"},
               {"[gpu]\nsms = 66 | fitted 0..80: w\n", "x.ini:2: low end of the range: sms is 0; expected 1 to 1024"},
               {"[gpu]\nsms = 66 | as v100 60..many: w\n", "x.ini:2: high end of the range: sms"},
               {"[gpu]\nsms = 66 | assumed: w\n", "x.ini:2: sms is assumed without a range; expected 'assumed LOW"},
               {"[gpu]\nsms = 66 | as v100: same chip\n", "x.ini:2: sms is as without a range; expected 'as NAME LOW"},
               {"[dram]\nmap = ch:3 | assumed 1..2: w\n", "x.ini:2: map is a text, which has no range"},
               {"[uvm]\nas = titanv | why\n", "x.ini:2: expected 'as = NAME | LOW..HIGH: why'"},
               {"[uvm]\nas = titanv | 2..3: why\n", "x.ini:2: as: the factor's range is 2..3"},
               {"[uvm]\nas = titanv | 0..3: why\n", "x.ini:2: as: the factor's range is 0..3"},
               {"[uvm]\nas = titan | 1..3: why\n", "x.ini:2: no platform is called 'titan'"},
               {"[uvm]\nas = tx2 | 1..3: why\n", "x.ini:2: tx2 has no [uvm] to borrow"},
               {"[uvm]\nas = v100 | 1..3: why\n", "x.ini:2: v100 borrows its [uvm] from titanv itself; name titanv"},
               {"[uvm]\nutlbs = 3 | s\nas = titanv | 1..3: why\n", "x.ini:3: as stands behind numbers of [uvm]"},
               {"[uvm]\nas = none | why\nutlbs = 3 | s\n", "x.ini:3: [uvm] says 'as = none'"},
               {"[gpu]\nsms = 3 | s\n[platform]\nbase = v100\n", "x.ini:4: base stands behind [gpu]"},
               {"[platform]\nname = 1234567890123456789012345678901234567890123456789012345678901234\n",
                "x.ini:2: name has 64 bytes; expected at most 63"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = {""};
        ck_assert_ptr_null(load(bad[i].text, &err));
        ck_assert_msg(strstr(err.msg, bad[i].says) != NULL, "'%s' gave: %s", bad[i].text, err.msg);
    }
    struct err err = {""};
    ck_assert_ptr_null(platform_load("/nowhere/x.ini", &err));
    ck_assert_ptr_nonnull(strstr(err.msg, "cannot open"));
}
END_TEST

static const struct platform_number *number(const struct platform *p, const char *section, const char *key)
{
    const struct platform_number *n = GIVES(platform_number(p, section, key));
    return n;
}

START_TEST(a_number_says_what_it_rests_on)
{
    struct platform *p = GIVES(load("[gpu]\nsms = 66 | sheet\nl2_bytes = 4MiB | assumed 1MiB..8MiB: a guess\n"
                                    "memory_ns = 300 | fitted 250..350.5: figure 2\nclock_hz = 1000000000 | as v100 "
                                    "900000000..1100000000: same chip\n[uvm]\nutlb = free | assumed blocked..free: x\n",
                                    &err));
    const struct platform_number *n = number(p, "gpu", "sms");
    ck_assert_int_eq(n->kind, PLATFORM_SOURCED);
    ck_assert(n->state == PLATFORM_STATED && n->low == 66 && n->high == 66 && !n->as);
    n = number(p, "gpu", "l2_bytes");
    ck_assert_int_eq(n->kind, PLATFORM_ASSUMED);
    ck_assert(n->low == 1 << 20 && n->high == 8 << 20);
    ck_assert_str_eq(n->source, "a guess");
    n = number(p, "gpu", "memory_ns");
    ck_assert(n->kind == PLATFORM_FITTED && n->low == 250 && n->high == 350.5);
    n = number(p, "gpu", "clock_hz");
    ck_assert(n->kind == PLATFORM_AS && n->low == 9e8 && n->high == 11e8);
    ck_assert_str_eq(n->as, "v100");
    n = number(p, "uvm", "utlb");
    ck_assert(n->low == UVM_UTLB_BLOCKED && n->high == UVM_UTLB_FREE);
    n = number(p, "gpu", "warps_per_sm");
    ck_assert(n->state == PLATFORM_UNSTATED && !platform_source(p, "gpu", "warps_per_sm"));
    n = number(p, "gpu", "l2_ways");
    ck_assert(n->state == PLATFORM_GENERAL && n->kind == PLATFORM_ASSUMED && n->low == 12 && n->high == 32);
    ck_assert_ptr_null(platform_source(p, "gpu", "l2_ways"));
    ck_assert_ptr_null(platform_number(p, "gpu", "nothing"));
    ck_assert_ptr_null(platform_number(p, "fpga", "sms"));
    platform_free(p);
}
END_TEST

START_TEST(a_borrowed_section_is_the_lenders_but_for_numbers_of_its_own)
{
    struct err err = {""};
    struct platform *p =
        load("[platform]\nname = mine\n[uvm]\nas = titanv | 0.5..4: another host\nutlbs = 30 | sheet\n", &err);
    ck_assert_msg(p != NULL, "%s", err.msg);
    struct platform *titanv = platform_load("titanv", &err);
    const struct uvm_platform *ours = platform_section_get(p, "uvm"), *theirs = platform_section_get(titanv, "uvm");
    ck_assert_int_eq(ours->utlbs, 30);
    ck_assert_double_eq(ours->service_ns, theirs->service_ns);
    ck_assert_int_eq(platform_whole(p, "uvm", &err), 0);
    const struct platform_borrowed *b = platform_borrowed(p, "uvm");
    ck_assert(b && b->low == 0.5 && b->high == 4);
    ck_assert_str_eq(b->as, "titanv");
    ck_assert_str_eq(b->why, "another host");
    ck_assert_ptr_null(platform_borrowed(titanv, "uvm"));
    const struct platform_number *n = number(p, "uvm", "service_ns");
    ck_assert(n->kind == PLATFORM_AS && n->moves && n->low == 6500 && n->high == 52000);
    n = number(p, "uvm", "h2d_bytes_per_s"); /* a rate: divided */
    ck_assert(n->moves && n->low == 3e9 && n->high == 24e9);
    n = number(p, "uvm", "utlb"); /* no time: the lender's range, by itself */
    ck_assert(n->kind == PLATFORM_AS && !n->moves && n->low == 0 && n->high == 1);
    ck_assert(number(p, "uvm", "utlb_faults")->low == 56 && number(p, "uvm", "utlb_faults")->high == 56);
    ck_assert_int_eq(number(p, "uvm", "utlbs")->kind, PLATFORM_SOURCED);
    platform_free(titanv);
    platform_free(p);
}
END_TEST

/* A lender's host says nothing of the borrower's, nor does a base's where the section is borrowed. */
START_TEST(the_host_is_not_borrowed_with_a_section)
{
    struct err err = {""};
    FILE *lender = fopen(testing_file("lender.ini"), "w");
    (void)fputs("[platform]\nbase = h200\nname = lender\n[uvm]\nhost = 0.4 | measured\n", lender);
    (void)fclose(lender);
    const char *text = testing_text("[platform]\nbase = h200\nname = mine\n[uvm]\nas = %s | 0.5..2: another GPU\n",
                                    testing_file("lender.ini"));
    struct platform *p = load(text, &err);
    ck_assert_msg(p != NULL, "%s", err.msg);
    const struct platform_number *n = number(p, "uvm", "host");
    ck_assert_double_eq(((const struct uvm_platform *)platform_section_get(p, "uvm"))->host, 1);
    ck_assert(n->state == PLATFORM_GENERAL && n->kind == PLATFORM_ASSUMED && !n->moves && n->low < 0.4 && n->high > 3);
    ck_assert_int_eq(platform_whole(p, "uvm", &err), 0);
    platform_free(p);
    p = load("[platform]\nname = mine\n[uvm]\nas = h200 | 0.5..2: another GPU\nhost = 0.4 | measured\n", &err);
    ck_assert_double_eq(((const struct uvm_platform *)platform_section_get(p, "uvm"))->host, 0.4);
    ck_assert_int_eq(number(p, "uvm", "host")->state, PLATFORM_STATED);
    platform_free(p);
}
END_TEST

START_TEST(what_a_platform_lacks_is_named_with_who_has_it)
{
    static const struct {
        const char *text, *section, *says;
    } lacks[] = {
        {"[gpu]\nsms = 66 | s\n", "uvm", "platform mine has no [uvm] numbers; platforms that have: h200, titanv."},
        {"[gpu]\nsms = 66 | s\n", "placement", "platforms that have: agx, px2, tx2"},
        {"[gpu]\nsms = 66 | s\n", "gpu",
         "platform mine states no gpu.memory_bytes, gpu.clock_hz, gpu.warps_per_sm, gpu.blocks_per_sm, gpu.l1_bytes, "
         "gpu.l2_bytes and 6 more; --set gpu.memory_bytes=NUMBER gives it"},
        {"[uvm]\nas = none | no page faults\n", "uvm", "platform mine has no [uvm]: no page faults; platforms that"},
        {"base = h200\n[uvm]\nas = none | off\n", "uvm", "platform mine has no [uvm]: off;"},
        {"[gpu]\nsms = 66 | s\n", "fpga", "no platform has a section [fpga]"}};
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++) {
        struct platform *p = GIVES(load(testing_text("[platform]\nname = mine\n%s", lacks[i].text), &err));
        FAILS_WITH(platform_whole(p, lacks[i].section, &err), lacks[i].says);
        platform_free(p);
    }
}
END_TEST

/* A base's missing section can be filled, its own numbers can give way to another's. */
START_TEST(a_file_changes_what_its_base_says_of_a_section)
{
    struct platform *p =
        GIVES(load("[platform]\nbase = h200\n[uvm]\nas = titanv | 1..1: why\n[dram]\nas = v100 | 1..2: w\n"
                   "[placement]\nt_ini = 1 | s\n",
                   &err));
    ck_assert_double_eq(((const struct uvm_platform *)platform_section_get(p, "uvm"))->service_ns, 13000);
    WORKS(platform_whole(p, "dram", &err));
    ck_assert_ptr_null(platform_none(p, "placement"));
    ck_assert_ptr_nonnull(strstr(p->from, "x.ini, on base h200"));
    ck_assert(!platform_is_of(p, "NVIDIA H200")); /* the base's name is not its own */
    struct platform *h200 = GIVES(platform_load("h200", &err));
    ck_assert_str_eq(h200->from, "shipped");
    ck_assert(platform_is_of(h200, "NVIDIA H200") && platform_is_of(h200, "nvidia h200"));
    ck_assert(!platform_is_of(h200, "NVIDIA H20") && !platform_is_of(h200, "H200") && !platform_is_of(h200, ""));
    platform_free(h200);
    platform_free(p);
    struct platform *v100 = GIVES(platform_load("v100", &err));
    ck_assert(platform_is_of(v100, "Tesla V100-SXM2-16GB") && platform_is_of(v100, "Tesla V100-PCIE-16GB"));
    platform_free(v100);
}
END_TEST

/* Every section of a shipped platform is whole, or there is none; and what is `as NAME` is NAME's number. */
START_TEST(shipped_platforms_are_whole_and_borrow_what_is_there)
{
    char name[64];
    for (size_t i = 0; platform_shipped(i, name, sizeof name); i++) {
        struct err err = {""};
        struct platform *p = platform_load(name, &err);
        for (size_t s = 0; platform_sections[s]; s++) {
            const struct platform_section *section = platform_sections[s];
            ck_assert_msg(!platform_has(p, section->name) || !platform_whole(p, section->name, &err), "%s", err.msg);
            for (const struct param *row = section->params; row->name; row++) {
                const struct platform_number *n = number(p, section->name, row->name);
                if (n->state != PLATFORM_STATED || n->kind != PLATFORM_AS || row->type == PARAM_TEXT)
                    continue;
                struct platform *lender = platform_load(n->as, &err);
                ck_assert_msg(lender != NULL, "%s %s: %s", name, row->name, err.msg);
                ck_assert_msg(param_number(row, platform_section_get(p, section->name)) ==
                                  param_number(row, platform_section_get(lender, section->name)),
                              "%s: %s.%s is not %s's", name, section->name, row->name, n->as);
                ck_assert_msg(platform_source(lender, section->name, row->name) != NULL, "%s of %s", row->name, n->as);
                platform_free(lender);
            }
        }
        platform_free(p);
    }
}
END_TEST

/* A comment whose byte 199 is followed by `sms = 7`, and a source of 1,000 bytes. */
START_TEST(long_lines_are_one_line)
{
    char text[2000];
    int n = snprintf(text, sizeof text, "[gpu]\nsms = 66 | s\n; %196s sms = 7 | x\nl2_bytes = 1MiB | ", "");
    memset(text + n, 's', 1000);
    text[n + 1000] = 0;
    struct platform *p = GIVES(load(text, &err));
    ck_assert_int_eq(((const struct gpu *)platform_section_get(p, "gpu"))->sms, 66);
    ck_assert_str_eq(platform_source(p, "gpu", "sms"), "s");
    ck_assert_uint_eq(strlen(platform_source(p, "gpu", "l2_bytes")), 1000);
    platform_free(p);
}
END_TEST

START_TEST(what_is_no_file_is_no_platform)
{
    static const char *const paths[] = {"/", "/dev/null", "/dev/zero", "/proc/self/mem"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        GIVES_NONE(platform_load(paths[i], &err), paths[i]);
    }
}
END_TEST

START_TEST(a_base_that_names_itself_ends)
{
    GIVES_NONE(load(testing_text("[platform]\nbase = %s\n", testing_file("x.ini")), &err), "levels deep");
}
END_TEST

START_TEST(numbers_can_be_set_by_key_or_section_and_key)
{
    struct platform *p = GIVES(platform_load("titanv", &err));
    WORKS(platform_set(p, "sms", "4", NULL, &err));
    WORKS(platform_set(p, "gpu.l2_bytes", "1MiB", NULL, &err));
    const struct gpu *gpu = platform_section_get(p, "gpu");
    ck_assert_int_eq(gpu->sms, 4);
    ck_assert_int_eq(gpu->l2_bytes, 1 << 20);
    ck_assert_str_eq(platform_source(p, "gpu", "sms"), "given on the command line");
    FAILS(platform_set(p, "service_ns", "1us", NULL, &err)); /* real numbers have no unit */
    WORKS(platform_set(p, "service_ns", "500", NULL, &err));
    const struct platform_number *n = number(p, "uvm", "service_ns");
    ck_assert(n->kind == PLATFORM_SOURCED && n->low == 500 && n->high == 500);
    FAILS(platform_set(p, "uvm.sms", "4", NULL, &err));
    platform_free(p);
}
END_TEST

static const char *of(const struct platform *p, const char *key, const struct platform_scope *scope)
{
    const struct platform_section *section = GIVES(platform_section_of(p, key, scope, &err));
    return section->name;
}

START_TEST(a_number_that_is_not_read_is_refused)
{
    static const char *const link[] = {"pcie", "gpu", NULL}, *const both[] = {"uvm", "pcie", NULL},
                             *const besides[] = {"uvm.service_ns", NULL};
    const struct platform_scope none = {0}, one = {.sections = link, .besides = besides}, two = {.sections = both};
    struct platform *p = GIVES(platform_load("titanv", &err));
    ck_assert_str_eq(of(p, "walk_ns", NULL), "uvm");
    ck_assert_str_eq(of(p, "walk_ns", &none), "uvm");
    ck_assert_str_eq(of(p, "walk_ns", &one), "pcie");
    ck_assert_str_eq(of(p, "uvm.walk_ns", &two), "uvm");
    ck_assert_str_eq(of(p, "service_ns", &one), "uvm");
    ck_assert_str_eq(of(p, "uvm.service_ns", &one), "uvm");
    GIVES_NONE(platform_section_of(p, "walk_ns", &two, &err), "[uvm], [pcie]: give uvm.walk_ns or pcie.walk_ns");
    GIVES_NONE(platform_section_of(p, "uvm.walk_ns", &one, &err), "number of [uvm], which has no effect here");
    GIVES_NONE(platform_section_of(p, "prefetch_call_ns", &one, &err), "what is read is [pcie], [gpu]");
    GIVES_NONE(platform_section_of(p, "walk_n", &one, &err), "did you mean 'walk_ns'?");
    WORKS(platform_set(p, "walk_ns", "106", &one, &err));
    ck_assert_str_eq(platform_source(p, "pcie", "walk_ns"), "given on the command line");
    FAILS(platform_set(p, "uvm.walk_ns", "106", &one, &err));
    platform_free(p);
}
END_TEST

TEST_MAIN("platform")
