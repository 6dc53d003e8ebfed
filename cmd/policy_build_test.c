/* Policies built from C files and loaded: what a scheduler of the program's decides as a loaded one, and which files
 * are refused. */
#define TESTING_FORK CK_FORK

#include <fcntl.h>
#include <signal.h>

#include "cmd/cmd.h"

#include "models/base/sections.h"
#include "models/dram/policy_testing.h"
#include "models/plugin/plugin.h"
#include "models/plugin/plugin_load.h"
#include "models/policies.h"
#include "trace/base/param.h"
#include "trace/base/random.h"

static struct err err;

/* Every test runs in a process of its own, from the root of the tree. */
static void begin(void)
{
    char here[4096];
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    (void)setenv("OFFCHIP_INCLUDE", here, 1);
    (void)setenv("CFLAGS", "-O0", 1);
    (void)unlink(testing_file("p.so"));
    err.msg[0] = 0;
}

static const struct policy_head *build(const char *text)
{
    return policy_build(testing_write("p.c", text, strlen(text)), testing_file("p.so"), true, &err);
}

#define PLAN                                                                                                           \
    "#include \"models/plugin/plugin.h\"\n"                                                                            \
    "static void plan(const void *state, const struct uvm_block *block, const struct page_mask *faulted,\n"            \
    "                 struct page_mask *plan)\n"                                                                       \
    "{ (void)state; page_mask_zero(plan); page_mask_set_region(plan, 0, 512);\n"                                       \
    "  uvm_block_keep_movable(block, faulted, plan); }\n"                                                              \
    "static const struct uvm_policy all = {.head = {.name = \"all-of-it\", .summary = \"\", .source = \"\"}, .plan = " \
    "plan};\n"

/* A policy with a parameter. */
#define LOOSE                                                                                                          \
    "#include \"models/plugin/plugin.h\"\n"                                                                            \
    "struct state { int64_t loose; };\n"                                                                               \
    "static const struct param rows[] = {PARAM_INT_ROW(state, loose, \"\", 0, 1, 0, \"\"), {0}};\n"                    \
    "static void plan(const void *state, const struct uvm_block *block, const struct page_mask *faulted,\n"            \
    "                 struct page_mask *plan)\n"                                                                       \
    "{ (void)state, (void)block, (void)faulted; page_mask_zero(plan); }\n"                                             \
    "static const struct uvm_policy loose = {.head = {.name = \"loose\", .summary = \"\", .source = \"\",\n"           \
    "    .params = rows, .state_size = sizeof(struct state)}, .plan = plan};\nOFFCHIP_UVM_PREFETCH(loose)\n"

/* --- a scheduler of the program's, built from its source, against itself --- */

/* The file with another name for the policy, and the line that exports it. */
static const struct policy_head *build_scheduler(const char *file, const char *name)
{
    static char text[1 << 16];
    const char *path = testing_text("models/dram/scheduler/%s.c", file);
    const char *from = testing_text(".name = \"%s\"", name);
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    const size_t n = fread(text, 1, sizeof text - 200, f);
    (void)fclose(f);
    text[n] = 0;
    char *at = strstr(text, from);
    ck_assert_ptr_nonnull(at);
    at[strlen(from) - 2] = '9';
    (void)snprintf(text + n, sizeof text - n,
                   "#include \"models/plugin/plugin.h\"\nOFFCHIP_DRAM_SCHEDULER(dram_%s, %s_hooks)\n", file, file);
    return build(text);
}

enum { REQUESTS = 600 };
struct result {
    int64_t sched[REQUESTS], done[REQUESTS];
    struct dram_stats stats;
};

static void run(const struct dram_policy *p, const struct dram_request *r, int vcs, struct result *out)
{
    static struct dram_channel channel;
    static uint32_t ids[2][REQUESTS];
    uint32_t count[2] = {0, 0};
    struct dram_platform platform;
    param_defaults(dram_params, &platform);
    memset(out, 0xff, sizeof *out);
    ck_assert_int_eq(dram_channel_init(&channel, &platform, NULL), 0);
    channel.timestamps = (struct dram_timestamps){.sched = out->sched, .done = out->done};
    for (uint32_t i = 0; i < REQUESTS; i++) {
        const int class = (r[i].flags & DRAM_IS_PIM) != 0;
        ids[class][count[class]++] = i;
    }
    struct dram_feed feed = {.requests = r,
                             .count = REQUESTS,
                             .ids = {ids[0], ids[1]},
                             .ids_count = {count[0], count[1]},
                             .vcs = vcs,
                             .limit = 200000};
    void *state = calloc(1, p->head.state_size);
    param_defaults(p->head.params, state);
    p->loops->feed(&channel, state, &feed);
    free(state);
    out->stats = channel.stats;
}

/* The same a cycle at a time, as behind an L2: step() and push(). */
static void step_through(const struct dram_policy *p, const struct dram_request *r, struct result *out)
{
    static struct dram_channel channel;
    struct dram_platform platform;
    param_defaults(dram_params, &platform);
    memset(out, 0xff, sizeof *out);
    ck_assert_int_eq(dram_channel_init(&channel, &platform, NULL), 0);
    channel.timestamps = (struct dram_timestamps){.sched = out->sched, .done = out->done};
    void *state = calloc(1, p->head.state_size);
    param_defaults(p->head.params, state);
    for (uint32_t t = 0, head = 0; t < 10000; t++) {
        (void)p->loops->step(&channel, state, t);
        channel.completion_head = channel.completion_tail;
        if (head < REQUESTS && r[head].arrival <= t &&
            dram_channel_room(&channel, r[head].flags & DRAM_IS_PIM ? DRAM_PIM : DRAM_MEM)) {
            p->loops->push(&channel, t, r[head].row, r[head].bank, r[head].flags, head);
            head++;
        }
    }
    free(state);
    out->stats = channel.stats;
}

static void same_as_its_source(const char *file, const char *name)
{
    static struct result a, b;
    static struct dram_request r[REQUESTS];
    struct random x = {7};
    const struct policy_head *loaded = build_scheduler(file, name);
    ck_assert_msg(loaded != NULL, "%s", err.msg);
    for (int seed = 0; seed < 20; seed++) {
        const uint32_t pims = random_below(&x, 100), gap = 1 + random_below(&x, 12);
        int64_t t = 0;
        for (uint32_t i = 0; i < REQUESTS; i++) {
            t += random_below(&x, gap) + (i % 97 == 0 ? random_below(&x, 2000) : 0);
            r[i] = random_below(&x, 100) < pims && i / 60 % 3
                       ? (struct dram_request){t, 5000 + i / 8, 0, 8, TEST_PIM}
                       : (struct dram_request){t, 1 + random_below(&x, 5), 0, (uint8_t)random_below(&x, 16), TEST_RD};
        }
        for (int vcs = 1; vcs <= 2; vcs++) {
            run((const struct dram_policy *)policy_find(dram_policies, name), r, vcs, &a);
            run((const struct dram_policy *)loaded, r, vcs, &b);
            ck_assert_msg(memcmp(&a, &b, sizeof a) == 0, "%s: seed %d, vcs %d", name, seed, vcs);
        }
        step_through((const struct dram_policy *)policy_find(dram_policies, name), r, &a);
        step_through((const struct dram_policy *)loaded, r, &b);
        ck_assert_msg(memcmp(&a, &b, sizeof a) == 0, "%s: seed %d, step by step", name, seed);
    }
}

START_TEST(a_loaded_scheduler_decides_what_the_built_in_one_of_its_source_does)
{
    begin();
    same_as_its_source("f3fs", "f3fs");   /* advance, next */
    same_as_its_source("bliss", "bliss"); /* begin, stalled, alone, asked */
    same_as_its_source("fcfs", "fcfs");   /* one queue */
}
END_TEST

/* --- what is refused --- */

static unsigned char *bytes;
static size_t count;

static void read_built(void)
{
    FILE *f = fopen(testing_file("p.so"), "rb");
    bytes = malloc(1 << 20);
    ck_assert_ptr_nonnull(f);
    count = fread(bytes, 1, 1 << 20, f);
    (void)fclose(f);
}

/* As the last build's file, with bytes of its struct plugin changed. */
static void patch(size_t offset, const void *value, size_t n)
{
    unsigned char *copy = malloc(count);
    memcpy(copy, bytes, count);
    unsigned char *plugin = memmem(copy, count, PLUGIN_MARK "\0\x01\0\0\0", 12);
    ck_assert_ptr_nonnull(plugin);
    ck_assert_uint_le(offset + n, sizeof(struct plugin));
    memcpy(plugin + offset, value, n);
    (void)unlink(testing_file("patched.so")); /* the old one may be mapped */
    (void)testing_write("patched.so", copy, count);
    free(copy);
}

static void refused(const char *words)
{
    err.msg[0] = 0;
    ck_assert_ptr_null(plugin_load(testing_file("patched.so"), POLICY_UVM_PREFETCH, NULL, &err));
    ck_assert_msg(strstr(err.msg, "patched.so': ") && strstr(err.msg, words), "'%s' is not in '%s'", words, err.msg);
}

START_TEST(a_file_for_another_offchip_or_interface_is_refused)
{
    begin();
    const struct policy_head *all = build(PLAN "OFFCHIP_UVM_PREFETCH(all)\n");
    ck_assert_msg(all != NULL, "%s", err.msg);
    read_built();
    patch(offsetof(struct plugin, version), &(uint32_t){1}, 4);
    refused("was built for another offchip: build it again");
    for (size_t i = 0; i < PLUGIN_STRUCTS; i++) {
        patch(offsetof(struct plugin, sizes) + 4 * i, &(uint32_t){1}, 4);
        refused("was built for another offchip: build it again");
    }
    patch(offsetof(struct plugin, interface), &(uint32_t){77}, 4);
    refused("is not what an OFFCHIP_ line");
    patch(offsetof(struct plugin, mark), "x", 1);
    refused("is not what an OFFCHIP_ line");
    (void)testing_write("patched.so", "no library", 10);
    refused("cannot be loaded: ");
    for (size_t n = 64; n < count; n += count / 50) {
        (void)unlink(testing_file("patched.so"));
        (void)testing_write("patched.so", bytes, n);
        refused("is cut short");
    }
    (void)testing_write("patched.so", bytes, count - 1);
    refused("is cut short");
    err.msg[0] = 0;
    ck_assert_ptr_null(plugin_load(testing_file("p.so"), POLICY_UVM_EVICT, NULL, &err));
    ck_assert_ptr_nonnull(strstr(err.msg, "is a uvm prefetch policy; expected a uvm eviction policy"));
    const struct policy_head *const taken[] = {all, NULL};
    ck_assert_ptr_null(plugin_load(testing_file("p.so"), POLICY_UVM_PREFETCH, taken, &err));
    ck_assert_ptr_nonnull(strstr(err.msg, "as a policy of offchip's own"));
    ck_assert_ptr_eq(plugin_find(POLICY_UVM_PREFETCH, "all-of-it"), all);
    ck_assert_ptr_eq(plugin_load(testing_file("p.so"), POLICY_ANY, NULL, &err), all);
    free(bytes);
}
END_TEST

/* Those of the last build, under another name of nine letters. */
static const struct policy_head *load_as(const char *name)
{
    char *at = memmem(bytes, count, "all-of-", 7);
    ck_assert_ptr_nonnull(at);
    memcpy(at, name, 9);
    (void)testing_write("other.so", bytes, count);
    return plugin_load(testing_file("other.so"), POLICY_ANY, NULL, &err);
}

/* A descriptor's number comes back when it is closed, and the loader knows libraries by their names. */
START_TEST(a_file_is_loaded_once_and_never_taken_for_another)
{
    begin();
    const struct policy_head *all = build(PLAN "OFFCHIP_UVM_PREFETCH(all)\n");
    ck_assert_msg(all != NULL, "%s", err.msg);
    ck_assert_int_eq(link(testing_file("p.so"), testing_file("link.so")), 0);
    ck_assert_ptr_eq(plugin_load(testing_file("link.so"), POLICY_ANY, NULL, &err), all);
    read_built();
    patch(offsetof(struct plugin, version), &(uint32_t){1}, 4);
    for (char name[] = "all-of-00"; name[8] < '4'; name[8]++) {
        refused("was built for another offchip");
        const struct policy_head *other = load_as(name);
        ck_assert_msg(other && strcmp(other->name, name) == 0, "%s: %s", name, other ? other->name : err.msg);
        (void)unlink(testing_file("other.so"));
    }
    /* Two files take turns at one path, one of them cut short: the loader would die of it. */
    (void)testing_write("cut.so", bytes, count / 2);
    const char *a = testing_file("patched.so"), *b = testing_file("cut.so");
    const pid_t turns = fork();
    while (turns == 0)
        (void)renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
    for (int i = 0; i < 100; i++)
        refused(""); /* for another offchip, or cut */
    ck_assert_int_eq(kill(turns, SIGKILL), 0);
    ck_assert_int_eq(waitpid(turns, NULL, 0), turns);
    free(bytes);
}
END_TEST

START_TEST(a_policys_path_is_its_parameter_so)
{
    begin();
    ck_assert_msg(build(LOOSE) != NULL, "%s", err.msg);
    const struct policy_head *head = plugin_find(POLICY_UVM_PREFETCH, "loose");
    const struct param *so = param_find(head->params, "so");
    int64_t *params = calloc(1, head->state_size);
    char text[256];
    ck_assert_uint_ge(head->state_size, so->offset + 8);
    param_defaults(head->params, params);
    ck_assert_ptr_nonnull(strstr(param_format(so, params, text, sizeof text), "p.so"));
    ck_assert_int_eq(param_set(head->params, params, "so", "./other.so", &err), -1);
    ck_assert_int_eq(param_set(head->params, params, "loose", "1", &err), 0);
    ck_assert_int_eq(params[0], 1);
    free(params);
}
END_TEST

START_TEST(a_source_without_a_policy_or_with_an_unknown_function_is_not_built)
{
    begin();
    ck_assert_ptr_null(build("int x;\n"));
    ck_assert_msg(strstr(err.msg, "p.c' exports no policy") != NULL, "%s", err.msg);
    ck_assert_ptr_null(build("#include \"models/plugin/plugin.h\"\nvoid nothing_of_ours(void);\n"
                             "static enum placement choose(const void *s, const struct placement_overheads *o)\n"
                             "{ (void)s; (void)o; nothing_of_ours(); return PLACEMENT_DEVICE; }\n"
                             "static const struct placement_policy p = {.head = {.name = \"p\", .summary = \"\", "
                             ".source = \"\"}, .choose = choose};\nOFFCHIP_PLACEMENT(p)\n"));
    ck_assert_msg(strstr(err.msg, "nothing_of_ours") != NULL, "%s", err.msg);
    ck_assert_ptr_null(build("#error no\n"));
    ck_assert_msg(strstr(err.msg, "could not compile it") != NULL, "%s", err.msg);
    ck_assert_int_ne(access(testing_file("p.so"), F_OK), 0);
    (void)setenv("CC", "no-such-compiler", 1);
    ck_assert_ptr_null(build("int x;\n"));
    ck_assert_msg(strstr(err.msg, "no C compiler 'no-such-compiler'") != NULL, "%s", err.msg);
    (void)unsetenv("CC");
    (void)setenv("OFFCHIP_INCLUDE", "/nonexistent", 1);
    ck_assert_ptr_null(build("int x;\n"));
    ck_assert_msg(strstr(err.msg, "OFFCHIP_INCLUDE names") != NULL, "%s", err.msg);
}
END_TEST

/* A parameter of this name at `offset` of a state of `size` bytes. */
static bool builds_with(const char *name, size_t offset, size_t size)
{
    char text[sizeof LOOSE + 200];
    const char *row = strstr(LOOSE, "PARAM_INT_ROW"), *end = strstr(row, ", {0}"), *last = strstr(end, "sizeof(struct");
    (void)snprintf(text, sizeof text, "%.*s{\"%s\", PARAM_INT, \"\", 0, 1, 0, %zu, \"\", NULL}%.*s%zu}, .plan = %s",
                   (int)(row - LOOSE), LOOSE, name, offset, (int)(last - end), end, size, strstr(last, "plan}"));
    err.msg[0] = 0;
    const bool built = build(text) != NULL;
    ck_assert_msg(built || strstr(err.msg, "has no place in its state") || strstr(err.msg, "which is not lower-case"),
                  "%s", err.msg);
    return built;
}

START_TEST(a_parameter_has_eight_bytes_of_the_state)
{
    begin();
    ck_assert(builds_with("loose", 8, 16));
    ck_assert(!builds_with("loose", 4, 16));
    ck_assert(!builds_with("loose", 8, 8));
    ck_assert(!builds_with("loose", 8, 15));
}
END_TEST

START_TEST(a_parameter_has_the_name_of_a_key)
{
    begin();
    ck_assert(builds_with("abcdefghijklmnopqrstuvwxyz012345", 8, 16));
    ck_assert(!builds_with("abcdefghijklmnopqrstuvwxyz0123456", 8, 16)); /* results would cut it */
    ck_assert(!builds_with("a.b", 8, 16));
    ck_assert(!builds_with("", 8, 16));
}
END_TEST

/* One is built, of a name as long as may be; in its file the others stand in the name's place. */
START_TEST(names_are_words_of_a_list_of_policies)
{
    static const char longest[] = "abcdefghijklmnopqrstuvwxyz012345";
    static const struct {
        const char *name;
        bool good;
    } rows[] = {{"a-1_b", true}, {"9", true}, {"", false}, {"-a", false}, {"_a", false}, {"aB", false}, {"a+b", false}};
    const char *name = strstr(PLAN, "all-of-it"), *end = name + strlen("all-of-it");
    char text[sizeof PLAN + 100];
    begin();
    (void)snprintf(text, sizeof text, "%.*s%s6%sOFFCHIP_UVM_PREFETCH(all)\n", (int)(name - PLAN), PLAN, longest, end);
    ck_assert_ptr_null(build(text));
    (void)snprintf(text, sizeof text, "%.*s%s%sOFFCHIP_UVM_PREFETCH(all)\n", (int)(name - PLAN), PLAN, longest, end);
    ck_assert_msg(build(text) != NULL, "%s", err.msg);
    read_built();
    char *at = memmem(bytes, count, longest, sizeof longest);
    ck_assert_ptr_nonnull(at);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        memset(at, 0, sizeof longest);
        memcpy(at, rows[i].name, strlen(rows[i].name));
        (void)unlink(testing_file("other.so"));
        (void)testing_write("other.so", bytes, count);
        err.msg[0] = 0;
        const bool loaded = plugin_load(testing_file("other.so"), POLICY_ANY, NULL, &err) != NULL;
        ck_assert_msg(loaded == rows[i].good, "'%s': %s", rows[i].name, err.msg);
    }
    free(bytes);
}
END_TEST

TEST_MAIN("policy_build")
