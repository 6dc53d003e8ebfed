/* What --commands writes, against the checker that knows nothing of a controller and against counters.
 */
#include "replay/dram/dram.h"

#include "models/dram/command_checker.h"
#include "replay/dram/dram_testing.h"
#include "trace/base/random.h"

enum { CHANNELS = 256 };

/* One run of one policy with both files; `set` begins with the front end. Files are rewound. */
static void run(struct replay_result *result, const char *platform, const char *const *specs, size_t n, const char *set,
                const char *policy, FILE **file)
{
    struct err err = {""};
    struct input inputs[2];
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(!input_open(&inputs[i], specs[i] + 4, specs[i][0] == 'm' ? "mem" : "pim", false, &err), "%s",
                      err.msg);
    ck_assert_ptr_nonnull(*file = tmpfile());
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
                                           .engine_options = &(struct dram_options){.commands = *file},
                                           .threads = 2};
    bool usage;
    ck_assert_msg(!replay_run(&request, result, &usage, &err), "%s %s: %s", platform, set, err.msg);
    for (size_t i = 0; i < n; i++)
        input_close(&inputs[i]);
    rewind(*file);
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
    struct command_checker *watch = GIVES(calloc(CHANNELS, sizeof *watch));
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

/* 3,000 requests of one channel, some to rows just used, with pauses of several refreshes. */
static const char *mixed_stream(const char *platform, const struct dram_platform *hw)
{
    const char *csv = testing_text("%s.csv", platform);
    const char *name = testing_text("%s.offchip", platform);
    FILE *f = GIVES(fopen(testing_file(csv), "w"));
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

static void check_run(const char *platform, const char *const *specs, size_t n, const char *set, bool open_loop)
{
    struct replay_result result;
    FILE *file;
    run(&result, platform, specs, n, set, "frfcfs", &file);
    check_commands(file, &result, open_loop);
    replay_release(&result);
    (void)fclose(file);
}

START_TEST(commands_are_legal_and_counted_on_every_device_and_no_request_is_lost)
{
    static const char *const sets[] = {"front=direct", "front=direct,vcs=1"};
    char name[64], spec[256];
    int devices = 0;
    for (size_t i = 0; platform_shipped(i, name, sizeof name); i++) {
        struct platform *platform = GIVES(platform_load(name, &err));
        if (platform_has(platform, "dram") && platform_has(platform, "gpu")) {
            (void)snprintf(spec, sizeof spec, "mem=%s", mixed_stream(name, platform_section_get(platform, "dram")));
            const char *const specs[] = {spec};
            for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
                check_run(name, specs, 1, sets[s], true);
                ck_assert_int_eq(test_stats[0].out[0], 3000);
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
    check_run("gv100", programs, 2, "cut=20000", false);
    check_run("gv100", streams, 2, "cut=20000", false);
}
END_TEST

START_TEST(commands_are_of_one_run)
{
    struct err err;
    struct input input;
    ck_assert(!input_open(&input, "synth:triad,bytes=200000", "", false, &err));
    FILE *file = tmpfile();
    const char *set = "front=direct";
    const struct replay_request request = {.engine = &engine_dram,
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
    ck_assert_str_eq(err.msg, "--commands takes exactly one policy, and no other baseline; found 2");
    input_close(&input);
    (void)fclose(file);
}
END_TEST

TEST_MAIN("dram_files")
