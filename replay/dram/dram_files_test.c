/* What --commands and --latencies write, against the checker that knows nothing of a controller and against counters.
 */
#include "replay/dram/dram.h"

#include "models/dram/command_checker.h"
#include "replay/dram/dram_testing.h"
#include "trace/base/random.h"

enum { CHANNELS = 256 };

/* One run of one policy with both files; `set` begins with the front end. Files are rewound. */
static void run(struct replay_result *result, const char *platform, const char *const *specs, size_t n, const char *set,
                const char *policy, FILE *files[2])
{
    struct err err = {""};
    struct input inputs[2];
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(!input_open(&inputs[i], specs[i] + 4, specs[i][0] == 'm' ? "mem" : "pim", false, &err), "%s",
                      err.msg);
    for (int i = 0; i < 2; i++)
        ck_assert_ptr_nonnull(files[i] = tmpfile());
    static struct engine counting;
    counting = engine_dram;
    if (strncmp(set, "front=", 6) == 0)
        counting.replay = test_count;
    const struct replay_request request = {.engine = &counting,
                                           .platform = platform,
                                           .policy_list = policy,
                                           .sets = &set,
                                           .set_count = 1,
                                           .inputs = inputs,
                                           .input_count = n,
                                           .engine_options =
                                               &(struct dram_options){.commands = files[0], .latencies = files[1]},
                                           .threads = 2};
    bool usage;
    ck_assert_msg(!replay_run(&request, result, &usage, &err), "%s %s: %s", platform, set, err.msg);
    for (size_t i = 0; i < n; i++)
        input_close(&inputs[i]);
    for (int i = 0; i < 2; i++)
        rewind(files[i]);
}

static int64_t known(const struct replay_result *result, const char *name)
{
    const struct metric_value *v = outcome_get(&result->runs[0], name);
    return v && v->known ? v->whole : 0;
}

static enum dram_command command_of(const char *name)
{
    static const struct {
        const char *name;
        enum dram_command command;
    } all[] = {{"ACT", DRAM_ACT}, {"PRE", DRAM_PRE}, {"RD", DRAM_RD},    {"WR", DRAM_WR},
               {"PIM", DRAM_WR},  {"REF", DRAM_REF}, {"REFB", DRAM_REFB}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, name) == 0)
            return all[i].command;
    ck_abort_msg("command %s", name);
}

/* Every row is legal where its channel stands, and rows are as many as were counted. */
static void check_commands(FILE *file, const struct replay_result *result, bool open_loop)
{
    struct command_checker *watch = calloc(CHANNELS, sizeof *watch);
    ck_assert_ptr_nonnull(watch);
    int64_t count[DRAM_COMMANDS] = {0}, before[CHANNELS] = {0};
    char line[128];
    for (int c = 0; c < CHANNELS; c++)
        command_checker_init(&watch[c], platform_section_get(result->platform, "dram"));
    ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
    ck_assert_str_eq(line, "cycle,channel,command,bank,bank_mask,row,request\n");
    while (fgets(line, sizeof line, file)) {
        char *field[8], *rest = line;
        int n = 0;
        while (n < 7 && (field[n] = strsep(&rest, ",\n")))
            n++;
        ck_assert_int_eq(n, 7);
        const int64_t cycle = strtoll(field[0], NULL, 10);
        const unsigned channel = (unsigned)strtoul(field[1], NULL, 10), banks = (unsigned)strtoul(field[4], NULL, 10);
        const enum dram_command command = command_of(field[2]);
        ck_assert_uint_lt(channel, CHANNELS);
        ck_assert_int_ge(cycle, before[channel]);
        ck_assert_int_eq(*field[3] != 0, (banks & (banks - 1)) == 0);
        if (*field[3])
            ck_assert_uint_eq(banks, 1u << strtoul(field[3], NULL, 10));
        before[channel] = cycle;
        command_checker_command(&watch[channel], command, banks, (uint32_t)strtoul(field[5], NULL, 10), cycle);
        count[command]++;
    }
    for (int c = 0; c < CHANNELS; c++)
        ck_assert_msg(!watch[c].bad, "channel %d, cycle %lld: %s", c, (long long)watch[c].bad_cycle, watch[c].bad);
    ck_assert_int_gt(count[DRAM_ACT], 0);
    ck_assert_int_eq(count[DRAM_ACT], known(result, "activates"));
    ck_assert_int_eq(count[DRAM_RD] + count[DRAM_WR], known(result, "column_commands"));
    ck_assert(!open_loop || count[DRAM_PRE] == test_stats[0].precharges);
    ck_assert(!open_loop || count[DRAM_REF] + count[DRAM_REFB] == test_stats[0].refreshes);
    free(watch);
}

/* What the bins of a class say of its mean, and how many requests they hold. */
struct bins {
    double low, high, reads_low, hits_low;
    int64_t requests, reads, hits;
};

static void check_mean(const struct replay_result *result, const char *name, const struct bins *b)
{
    const struct metric_value *v = outcome_get(&result->runs[0], name);
    ck_assert_int_eq(v->known, b->requests > 0);
    if (!b->requests)
        return;
    ck_assert_double_le(b->low / (double)b->requests, v->real);
    ck_assert_double_gt(b->high / (double)b->requests, v->real);
    ck_assert_double_lt(b->high - b->low, b->low / 8 + 1.01 * (double)b->requests);
}

/* No request is lost between the bins; they are `requests`, unless that is negative. */
static void check_latencies(FILE *file, const struct replay_result *result, int64_t requests, struct bins by[2])
{
    char line[128], kind[16];
    long long from, below, n;
    memset(by, 0, 2 * sizeof *by);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
    ck_assert_str_eq(line, "policy,kind,from_cycles,below_cycles,requests\n");
    while (fgets(line, sizeof line, file)) {
        ck_assert_int_eq(sscanf(line, "frfcfs,%15[^,],%lld,%lld,%lld", kind, &from, &below, &n), 4);
        struct bins *b = &by[strcmp(kind, "pim") == 0];
        ck_assert_int_gt(n, 0);
        ck_assert_int_lt(from, below);
        b->low += (double)from * (double)n;
        b->high += (double)below * (double)n;
        b->requests += n;
        const bool hit = strcmp(kind, "l2-hit") == 0, read = strcmp(kind, "mem-read") == 0;
        b->hits += hit ? n : 0;
        b->hits_low += hit ? (double)from * (double)n : 0;
        b->reads += read ? n : 0;
        b->reads_low += read ? (double)from * (double)n : 0;
    }
    check_mean(result, "mem_latency_mean_cycles", &by[0]);
    check_mean(result, "pim_latency_mean_cycles", &by[1]);
    if (requests >= 0)
        ck_assert_int_eq(by[0].requests + by[1].requests, requests);
}

/* 3,000 requests of one channel, some to rows just used, with pauses of several refreshes. */
static const char *mixed_stream(const char *platform, const struct dram_platform *hw)
{
    char csv[80], name[80];
    (void)snprintf(csv, sizeof csv, "%s.csv", platform);
    (void)snprintf(name, sizeof name, "%s.offchip", platform);
    FILE *f = fopen(testing_file(csv), "w");
    ck_assert_ptr_nonnull(f);
    (void)fputs("id,arrival_cycle,kind,bank,row,col\n", f);
    struct random x = {(uint64_t)hw->rows};
    uint32_t bank = 0, row = 0;
    long long t = 0;
    for (int i = 0; i < 3000; i++) {
        t += random_below(&x, 300) ? random_below(&x, 8) : random_below(&x, 60000);
        if (random_below(&x, 2)) {
            bank = random_below(&x, (uint32_t)hw->banks);
            row = random_below(&x, (uint32_t)hw->rows);
        }
        (void)fprintf(f, "%d,%lld,%s,%u,%u,0\n", i, t, random_below(&x, 3) ? "RD" : "WR", bank, row);
    }
    (void)fclose(f);
    return test_import(testing_file(csv), name);
}

static void check_run(const char *platform, const char *const *specs, size_t n, const char *set, bool open_loop,
                      struct bins by[2])
{
    struct replay_result result;
    FILE *files[2];
    run(&result, platform, specs, n, set, "frfcfs", files);
    check_commands(files[0], &result, open_loop);
    check_latencies(files[1], &result, open_loop ? test_stats[0].out[0] + test_stats[0].out[1] : -1, by);
    replay_release(&result);
    (void)fclose(files[0]);
    (void)fclose(files[1]);
}

START_TEST(commands_are_legal_and_counted_on_every_device_and_no_request_is_lost)
{
    static const char *const sets[] = {"front=direct", "front=direct,vcs=1"};
    struct err err;
    char name[64], spec[256];
    int devices = 0;
    for (size_t i = 0; platform_shipped(i, name, sizeof name); i++) {
        struct platform *platform = platform_load(name, &err);
        ck_assert_msg(platform != NULL, "%s", err.msg);
        if (platform_has(platform, "dram") && platform_has(platform, "gpu")) {
            (void)snprintf(spec, sizeof spec, "mem=%s", mixed_stream(name, platform_section_get(platform, "dram")));
            const char *const specs[] = {spec};
            for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
                struct bins by[2];
                check_run(name, specs, 1, sets[s], true, by);
                ck_assert_int_eq(by[0].requests, 3000);
            }
            devices++;
        }
        platform_free(platform);
    }
    ck_assert_int_ge(devices, 10);
}
END_TEST

START_TEST(so_they_are_of_two_sides_in_a_closed_loop)
{
    static const char *const programs[] = {"mem=synth:gpu-g1", "pim=synth:pim-add,ops=20"};
    static const char *const streams[] = {"mem=synth:triad,bytes=2000000", "pim=synth:pim-fc,rows=8,channels=4"};
    struct bins by[2];
    check_run("gv100", programs, 2, "cut=20000", false, by);
    ck_assert_int_gt(by[0].hits, 0); /* and L2 is faster than the memory behind it */
    ck_assert_double_lt(by[0].hits_low / (double)by[0].hits, by[0].reads_low / (double)by[0].reads);
    ck_assert_int_gt(by[1].requests, 0);
    check_run("gv100", streams, 2, "cut=20000", false, by);
    ck_assert_int_gt(by[1].requests, 0);
}
END_TEST

START_TEST(commands_are_of_one_run_and_latencies_of_every_listed_one)
{
    struct err err;
    struct input input;
    ck_assert(!input_open(&input, "synth:triad,bytes=200000", "", false, &err));
    FILE *file = tmpfile();
    const char *set = "front=direct";
    struct replay_request request = {.engine = &engine_dram,
                                     .policy_list = "fcfs,f3fs:mem_cap=64,pim_cap=64",
                                     .sets = &set,
                                     .set_count = 1,
                                     .inputs = &input,
                                     .input_count = 1,
                                     .engine_options = &(struct dram_options){.commands = file},
                                     .single_policy_option = "--commands",
                                     .threads = 1};
    struct replay_result result;
    bool usage;
    ck_assert_int_eq(replay_run(&request, &result, &usage, &err), -1);
    ck_assert(usage);
    ck_assert_str_eq(err.msg, "--commands is of one run: exactly one policy, and no other baseline; found 2");
    request.engine_options = &(struct dram_options){.latencies = file};
    request.single_policy_option = NULL;
    ck_assert(!replay_run(&request, &result, &usage, &err));
    rewind(file);
    char line[128];
    int rows[2] = {0};
    ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file)) {
        const bool second = strncmp(line, "\"f3fs:mem_cap=64,pim_cap=64\",", 29) == 0;
        ck_assert(second || strncmp(line, "fcfs,", 5) == 0);
        rows[second]++;
    }
    ck_assert_int_gt(rows[0], 0);
    ck_assert_int_gt(rows[1], 0);
    replay_release(&result);
    input_close(&input);
    (void)fclose(file);
}
END_TEST

TEST_MAIN("dram_files", commands_are_legal_and_counted_on_every_device_and_no_request_is_lost,
          so_they_are_of_two_sides_in_a_closed_loop, commands_are_of_one_run_and_latencies_of_every_listed_one)
