#include "trace/recorder/wire/cupti_metrics.h"

#include <dlfcn.h>

#include <limits.h>

#include "trace/base/testing.h"
#include "trace/recorder/recorder.h"
#include "trace/recorder/recorder_machine.h"

/* Two libraries answer here: the stand-in, everywhere, and the real CUPTI's host side where the toolkit is installed,
 * which needs no GPU. */

struct outcome {
    int counted; /* -1: nothing */
    char text[400];
};

static void note_left_out(void *context, const char *counter, const char *why)
{
    struct outcome *o = context;
    size_t n = strlen(o->text);
    (void)snprintf(o->text + n, sizeof o->text - n, "-%s(%s) ", counter, why);
}

/* What a library makes of a chip and a group: "counter=metric ..." and what it leaves out. */
static struct outcome ask(const struct abi_host *call, const char *chip, const char *group)
{
    struct outcome o = {.counted = -1};
    struct cupti_metrics metrics;
    struct err err;
    if (cupti_metrics_init(&metrics, call, chip, group, note_left_out, &o, &err))
        return o;
    o.counted = (int)metrics.count;
    for (size_t i = 0; i < metrics.count; i++) {
        size_t n = strlen(o.text);
        (void)snprintf(o.text + n, sizeof o.text - n, "%s=%s ", metrics.stored[i], metrics.names[i]);
    }
    /* What was configured is one pass. */
    struct abi_host_passes p = {.size = ABI_PROFILER_SIZE(struct abi_host_passes, passes),
                                .bytes = metrics.config_bytes,
                                .config = metrics.config};
    ck_assert_uint_eq(call->passes(&p), ABI_SUCCESS);
    ck_assert_uint_eq(p.passes, 1);
    cupti_metrics_release(&metrics);
    return o;
}

static struct abi_host standin(void)
{
    char path[PATH_MAX];
    struct abi_host call;
    (void)snprintf(path, sizeof path, "%.4000s/standin/libcupti.so", testing_build());
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library, "%s", dlerror());
    ck_assert_ptr_null(cupti_metrics_load(&call, library));
    return call;
}

START_TEST(hopper_counts_requests_sectors_and_dram_in_one_pass)
{
    struct abi_host call = standin();
    ck_assert_str_eq(ask(&call, "GH100", "l2").text,
                     "l2_sysmem_requests=lts__t_requests_srcunit_tex_aperture_sysmem.sum "
                     "l2_sysmem_sectors=lts__t_sectors_srcunit_tex_aperture_sysmem.sum "
                     "dram_read_sectors=dram__sectors_read.sum dram_write_sectors=dram__sectors_write.sum ");
    ck_assert_str_eq(ask(&call, "GH100", "pcie").text,
                     "pcie_read_bytes=pcie__read_bytes.sum pcie_write_bytes=pcie__write_bytes.sum ");
    ck_assert_int_eq(ask(&call, "GH100", "sectors").counted, 1);
    ck_assert_int_eq(ask(&call, "GH100", "dram").counted, 2);
}
END_TEST

START_TEST(volta_needs_a_second_recording_for_the_sectors)
{
    struct abi_host call = standin();
    struct outcome o = ask(&call, "GV100", "l2");
    ck_assert_int_eq(o.counted, 3);
    ck_assert_ptr_nonnull(strstr(o.text, "-l2_sysmem_sectors(the chip does not count it in one pass with the others)"));
    ck_assert_int_eq(ask(&call, "GV100", "sectors").counted, 1);
}
END_TEST

START_TEST(blackwell_has_other_names_and_integrated_chips_lack_counters)
{
    struct abi_host call = standin();
    ck_assert_ptr_nonnull(
        strstr(ask(&call, "GB202", "l2").text, "=syslts__t_requests_srcunit_tex_aperture_sysmem.sum"));
    ck_assert_ptr_nonnull(strstr(ask(&call, "GB202", "dram").text, "=dram__sectors_op_read.sum"));
    struct outcome o = ask(&call, "GA10B", "l2");
    ck_assert_int_eq(o.counted, 2);
    ck_assert_ptr_nonnull(strstr(o.text, "-dram_read_sectors(the chip has no such counter)"));
    ck_assert_int_eq(ask(&call, "GA10B", "pcie").counted, -1);
}
END_TEST

START_TEST(an_unknown_chip_or_group_is_an_error_that_names_it)
{
    struct abi_host call = standin();
    struct cupti_metrics metrics;
    struct outcome o = {0};
    struct err err;
    ck_assert_int_eq(cupti_metrics_init(&metrics, &call, "XY999", "l2", note_left_out, &o, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "XY999"));
    ck_assert_int_eq(cupti_metrics_init(&metrics, &call, "GH100", "l", note_left_out, &o, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "nothing of group l"));
}
END_TEST

static const char *next_group(const char **names, char group[16])
{
    if (!**names)
        return NULL;
    size_t n = strcspn(*names, "|");
    (void)snprintf(group, 16, "%.*s", (int)n, *names);
    *names += n + ((*names)[n] == '|');
    return group;
}

/* CUPTI loads its parts in a way that the address sanitiser refuses. */
#if defined __SANITIZE_ADDRESS__
enum { SANITISED = 1 };
#else
enum { SANITISED = 0 };
#endif

/* The stand-in is as good as its answers: each chip that the real library knows, each group. */
START_TEST(the_real_cupti_where_it_is_installed_answers_as_the_stand_in_does)
{
    char path[PATH_MAX], group[16];
    struct err err;
    struct abi_host fake, real;
    abi_result (*chips)(struct abi_host_chips *) = NULL;
    unsetenv("OFFCHIP_CUPTI");
    void *library = SANITISED || recorder_find_part(PART_CUPTI, NULL, false, path, sizeof path, &err)
                        ? NULL
                        : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library && !cupti_metrics_load(&real, library))
        *(void **)&chips = dlsym(library, "cuptiProfilerHostGetSupportedChips");
    if (!chips) {
        (void)fprintf(stderr,
                      "cupti_metrics: no CUPTI with a range profiler can be loaded here: the comparison is left out\n");
        return;
    }
    fake = standin();
    struct abi_host_chips c = {.size = ABI_PROFILER_SIZE(struct abi_host_chips, chips)};
    ck_assert_uint_eq(chips(&c), ABI_SUCCESS);
    ck_assert_uint_gt(c.count, 10);
    for (size_t i = 0; i < c.count; i++) {
        const char *names = CUPTI_METRICS_GROUPS;
        while (next_group(&names, group)) {
            struct outcome theirs = ask(&real, c.chips[i], group), ours = ask(&fake, c.chips[i], group);
            /* A CUPTI newer than the stand-in may know more chips. */
            if (ours.counted < 0 && ours.text[0] == 0 && theirs.counted > 0)
                continue;
            ck_assert_msg(theirs.counted == ours.counted && strcmp(theirs.text, ours.text) == 0,
                          "%s %s: the real one: %s; the stand-in: %s", c.chips[i], group, theirs.text, ours.text);
        }
    }
}
END_TEST

TEST_MAIN("cupti_metrics")
