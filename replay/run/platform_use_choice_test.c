#include "replay/run/platform_use.h"

#include "models/base/platform.h"
#include "trace/base/testing.h"

/* A recording with these facts, key and value in turns. */
static struct store *recording(const char *const *facts)
{
    static int number;
    const char *name = testing_text("%d.db", number++);
    struct store *s = GIVES(store_create(testing_file(name), OUTPUT_REPLACE, "test", &err));
    for (; *facts; facts += 2)
        WORKS(store_origin(s, facts[0], facts[1], &err));
    WORKS(store_finish(s, &err));
    store_close(s);
    s = GIVES(store_open(testing_file(name), &err));
    return s;
}

START_TEST(a_recording_is_of_the_platform_that_lists_its_gpu)
{
    static const struct {
        const char *facts[7], *platform, *gpu;
    } known[] = {
        {{"gpu.0.name", "NVIDIA H200", NULL}, "h200", "NVIDIA H200"},
        {{"gpu.name.0", "Tesla V100-PCIE-16GB", NULL}, "v100", "Tesla V100-PCIE-16GB"},
        {{"gpu.0.name", "Tesla T4", "gpu.1.name", "Tesla T4", NULL}, "t4", "Tesla T4"},
        {{"gpu.3.name", "nvidia a100-sxm4-80gb", NULL}, "a100-80", "nvidia a100-sxm4-80gb"},
        {{"host", "box", NULL}, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct err err = {""};
        struct platform_choice choice = {.how = PLATFORM_CHOICE_DEFAULT};
        struct store *s = recording(known[i].facts);
        ck_assert_msg(platform_choice_recorded(s, &choice, &err) == (known[i].platform != NULL), "%s", err.msg);
        if (known[i].platform) {
            ck_assert_int_eq(choice.how, PLATFORM_CHOICE_RECORDED);
            ck_assert_str_eq(choice.name, known[i].platform);
            ck_assert_str_eq(choice.gpu, known[i].gpu);
        }
        ck_assert_pstr_eq(platform_choice_gpu(s), known[i].gpu);
        store_close(s);
    }
}
END_TEST

START_TEST(a_gpu_that_no_platform_is_of_asks_for_one_and_names_the_nearest)
{
    static const struct {
        const char *facts[7], *says;
    } unknown[] = {
        {{"gpu.0.name", "NVIDIA GeForce RTX 3080", NULL},
         "'NVIDIA GeForce RTX 3080', which no platform describes: name one with --platform; the nearest is rtx3090 ("},
        {{"gpu.0.name", "Graphics Device", "gpu.0.compute_major", "9", "gpu.0.compute_minor", "0", NULL},
         "the nearest is h100 ("},
        {{"gpu.0.name", "Graphics Device", NULL}, "name one with --platform ('offchip list platforms')"},
        {{"gpu.0.name", "Tesla V100-SXM2-32GB", NULL}, "the nearest is v100 ("},
        {{"gpu.0.name", "NVIDIA RTX 5000 Ada Generation", NULL}, "the nearest is "},
        {{"gpu.0.name", "NVIDIA H200", "gpu.1.name", "Tesla T4", NULL}, "a machine with 'NVIDIA H200' and 'Tesla T4'"}};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        struct platform_choice choice = {.how = PLATFORM_CHOICE_DEFAULT};
        struct store *s = recording(unknown[i].facts);
        FAILS_WITH(platform_choice_recorded(s, &choice, &err), unknown[i].says);
        store_close(s);
    }
}
END_TEST

START_TEST(names_tell_the_generation)
{
    static const char *const names[][2] = {{"NVIDIA RTX 5000 Ada Generation", "8.9"},
                                           {"Quadro RTX 5000", "7.5"},
                                           {"NVIDIA GeForce RTX 5070 Ti", "12.0"},
                                           {"NVIDIA H200 NVL", "9.0"},
                                           {"NVIDIA H20", "9.0"},
                                           {"NVIDIA A10", "8.6"},
                                           {"NVIDIA A100-SXM4-40GB", "8.0"},
                                           {"NVIDIA RTX A4000", "8.6"},
                                           {"GeForce GTX TITAN X", "5.2"},
                                           {"NVIDIA TITAN X", "6.1"},
                                           {"Tesla P4", "6.1"},
                                           {"a thing", ""}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_str_eq(platform_choice_compute(names[i][0]), names[i][1]);
    /* Shipped platforms agree. */
    char name[64];
    for (size_t i = 0; platform_shipped(i, name, sizeof name); i++) {
        struct platform *p = platform_load(name, NULL);
        if (*p->gpus)
            ck_assert_msg(strcmp(platform_choice_compute(p->gpus), p->compute) == 0, "%s", name);
        platform_free(p);
    }
}
END_TEST

TEST_MAIN("platform_choice")
