#include "trace/recorder/recorder_machine.c"

#include <sys/stat.h>

#include "trace/recorder/testing_recorder.h"

static struct err err;
static struct recorder_libraries search;

/* A copy of the stand-in CUPTI at root/path that says it is of this API version; empty: a file that is no library. */
static void install(const char *root, const char *path, unsigned api)
{
    char command[2 * PATH_MAX];
    (void)snprintf(
        command, sizeof command,
        api ? "f='%s%s'; mkdir -p \"${f%%/*}\" && cp '%s/standin/libcupti.so' \"$f\" && echo %u >\"$f.version\""
            : "f='%s%s'; mkdir -p \"${f%%/*}\" && : >\"$f\" # %s %u",
        root, path, testing_build(), api);
    ck_assert_int_eq(system(command), 0);
}

/* An empty root, and nothing of the machine's own in the environment. */
static const char *new_root(const char *name)
{
    static const char *const variables[] = {"CUDA_HOME",        "CUDA_PATH",  "CUDA_ROOT",
                                            "CUDATOOLKIT_HOME", "NVHPC_ROOT", "VIRTUAL_ENV",
                                            "CONDA_PREFIX",     "PYTHONPATH", "OFFCHIP_CUPTI"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    const char *root = testing_file(name);
    ck_assert_int_eq(mkdir(root, 0700), 0);
    setenv("HOME", root, 1);
    return root;
}

static void look(const char *root, const char *program)
{
    ck_assert_msg(recorder_libraries_find(&search, PART_CUPTI, program, root, &err) == 0, "%s", err.msg);
}

static struct recorder_machine machine_of(int cuda, int capability)
{
    return (struct recorder_machine){
        .driver = true, .cuda = cuda, .gpu_count = 1, .gpus = {{.capability = capability}}};
}

/* The version taken, 0: none. */
static int taken(int cuda, int capability, bool counters)
{
    struct recorder_machine machine = machine_of(cuda, capability);
    const struct recorder_library *l = recorder_libraries_choose(&search, PART_CUPTI, &machine, counters, &err);
    return l ? l->cuda : 0;
}

START_TEST(versions_are_numbers_not_texts)
{
    const char *root = new_root("numbers");
    install(root, "/usr/local/cuda-12.4/extras/CUPTI/lib64/libcupti.so.2024.1.1", 22);
    install(root, "/usr/local/cuda-12.10/extras/CUPTI/lib64/libcupti.so.2025.9.0", 29); /* later than this page */
    install(root, "/usr/local/cuda-12.9/extras/CUPTI/lib64/libcupti.so.2025.2.1", 28);
    look(root, NULL);
    ck_assert_int_eq(search.count, 3);
    ck_assert_int_eq(search.found[0].cuda, 12100);
    ck_assert_int_eq(search.found[1].cuda, 12090);
    ck_assert_int_eq(search.found[2].cuda, 12040);
    ck_assert_int_eq(taken(12080, 90, false), 12100);
    recorder_libraries_release(&search);
}
END_TEST

START_TEST(each_place_is_looked_at_and_one_file_under_several_names_is_one)
{
    static const struct {
        const char *path, *from;
        unsigned api;
    } places[] = {
        {"/opt/venv/lib/python3.11/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12", "pip", 24},
        {"/usr/lib/python3/dist-packages/nvidia/cu13/lib/libcupti.so.13", "pip", 130000},
        {"/opt/conda/lib/libcupti.so.12", "conda", 22},
        {"/opt/conda/lib/python3.12/site-packages/nvidia/cuda_cupti/lib/libcupti.so.11.8", "pip in conda", 18},
        {"/miniconda3/extras/CUPTI/lib64/libcupti.so", "conda", 20},
        {"/opt/nvidia/hpc_sdk/Linux_x86_64/24.5/cuda/12.4/extras/CUPTI/lib64/libcupti.so", "HPC SDK", 22},
        {"/usr/lib/x86_64-linux-gnu/libcupti.so.12", "the distribution", 19},
        {"/usr/local/cuda-12.6/targets/x86_64-linux/lib/libcupti.so.2024.3.2", "CUDA toolkit", 24},
    };
    const char *root = new_root("places");
    char command[1024];
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        install(root, places[i].path, places[i].api);
    (void)snprintf(command, sizeof command,
                   "cd %s/usr/local && ln -s cuda-12.6 cuda && mkdir -p cuda-12.6/extras/CUPTI && ln -s "
                   "../../targets/x86_64-linux/lib cuda-12.6/extras/CUPTI/lib64",
                   root);
    ck_assert_int_eq(system(command), 0);
    look(root, NULL);
    ck_assert_int_eq(search.count, (int)(sizeof places / sizeof *places));
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        bool there = false;
        for (int f = 0; f < search.count; f++)
            there |= strstr(search.found[f].path, places[i].path) &&
                     strcmp(search.found[f].from, places[i].from) == 0 &&
                     search.found[f].cuda == cuda_of_api(places[i].api);
        ck_assert_msg(there, "%s", places[i].path);
    }
    recorder_libraries_release(&search);
}
END_TEST

START_TEST(the_python_that_is_recorded_and_the_environment_are_asked_for_theirs)
{
    const char *root = new_root("python");
    char program[PATH_MAX], environment[PATH_MAX];
    (void)snprintf(program, sizeof program, "%s/venv/bin/python", root);
    (void)snprintf(environment, sizeof environment, "%s/env", root);
    install(root, "/venv/lib/python3.10/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12", 21);
    install(root, "/env/lib/python3.10/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12", 20);
    install(root, "/venv/bin/python", 0);
    setenv("VIRTUAL_ENV", environment, 1);
    look(root, program);
    ck_assert_int_eq(search.count, 2);
    ck_assert_str_eq(search.found[0].from, "the program's Python");
    ck_assert_str_eq(search.found[1].from, "pip (VIRTUAL_ENV)");
    recorder_libraries_release(&search);
}
END_TEST

START_TEST(what_gpu_and_driver_cannot_work_with_is_passed_over)
{
    const char *root = new_root("fit");
    install(root, "/usr/local/cuda-13.0/lib64/libcupti.so.13", 130001);
    install(root, "/usr/local/cuda-12.9/lib64/libcupti.so.12", 28);
    install(root, "/usr/local/cuda-12.4/lib64/libcupti.so.12", 22);
    install(root, "/usr/local/cuda-11.8/lib64/libcupti.so.11.8", 18);
    look(root, NULL);
    ck_assert_int_eq(taken(13000, 90, true), 13000);
    ck_assert_int_eq(taken(13000, 70, true), 12090); /* Volta: 13 dropped it */
    ck_assert_int_eq(taken(12090, 90, false), 12090);
    ck_assert_int_eq(taken(12040, 90, false), 12090); /* of the same major version */
    ck_assert_int_eq(taken(11080, 90, false), 11080);
    ck_assert_int_eq(taken(11080, 90, true), 0);
    ck_assert_ptr_nonnull(strstr(err.msg, "12.6"));
    recorder_libraries_release(&search);
}
END_TEST

START_TEST(what_cannot_be_loaded_comes_last_and_its_fault_is_told)
{
    const char *root = new_root("broken");
    install(root, "/usr/local/cuda-13.0/lib64/libcupti.so.13", 0);
    install(root, "/usr/local/cuda-12.4/lib64/libcupti.so.12", 22);
    look(root, NULL);
    ck_assert_int_eq(search.count, 2);
    ck_assert_int_eq(taken(13000, 90, false), 12040);
    ck_assert(!search.found[1].good);
    ck_assert_ptr_nonnull(strstr(search.found[1].why, "too short"));
    recorder_libraries_release(&search);
    root = new_root("nothing");
    look(root, NULL);
    ck_assert_int_eq(search.count, 0);
    ck_assert_int_eq(taken(13000, 90, false), 0);
    ck_assert_ptr_nonnull(strstr(err.msg, "OFFCHIP_CUPTI"));
    ck_assert_ptr_nonnull(strstr(err.msg, "pip install"));
    recorder_libraries_release(&search);
}
END_TEST

START_TEST(a_variable_that_names_a_library_is_taken_at_its_word)
{
    const char *root = new_root("named");
    char path[PATH_MAX];
    install(root, "/own/libcupti.so", 18);
    install(root, "/usr/local/cuda-12.4/lib64/libcupti.so.12", 22);
    (void)snprintf(path, sizeof path, "%s/own/libcupti.so", root);
    setenv("OFFCHIP_CUPTI", path, 1);
    look(root, NULL);
    ck_assert_int_eq(search.count, 1);
    ck_assert_int_eq(taken(13000, 90, true), 11080);
    recorder_libraries_release(&search);
    setenv("OFFCHIP_CUPTI", "/nonexistent.so", 1);
    ck_assert_int_eq(recorder_libraries_find(&search, PART_CUPTI, NULL, root, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "/nonexistent.so"));
}
END_TEST

START_TEST(versions_are_read_from_api_numbers_and_paths)
{
    ck_assert_int_eq(cuda_of_api(18), 11080);
    ck_assert_int_eq(cuda_of_api(24), 12060);
    ck_assert_int_eq(cuda_of_api(130001), 13000);
    ck_assert_int_eq(cuda_of_api(130102), 13010);
    ck_assert_int_eq(cuda_of_api(99), 0);
    ck_assert_int_eq(cuda_of_path("/usr/local/cuda-12.10/x/libcupti.so.12"), 12100);
    ck_assert_int_eq(cuda_of_path("/a/nvidia/cuda_cupti/lib/libcupti.so.12"), 12000);
    ck_assert_int_eq(cuda_of_path("/hpc_sdk/24.5/cuda/12.4/libcupti.so.2024.1.1"), 12040);
    ck_assert_int_eq(cuda_of_path("/opt/libcupti.so"), 0);
}
END_TEST

TEST_MAIN("recorder_machine_libraries")
