#include "trace/recorder/recorder_machine.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include "trace/recorder/testing_recorder.h"

static struct recorder_machine machine;

/* The stand-in for the driver, under the name that the loader finds it by from now on. */
static void load_driver(void)
{
    char path[PATH_MAX + 32];
    (void)snprintf(path, sizeof path, "%s/standin/libcuda.so.1", testing_build());
    unsetenv("STANDIN_MODE");
    ck_assert_ptr_nonnull(dlopen(path, RTLD_NOW));
}

static void look(const char *root)
{
    recorder_machine_look(&machine, root);
}

START_TEST(the_driver_is_asked_and_its_gpus_are_known)
{
    load_driver();
    setenv("STANDIN_DEVICES", "3", 1);
    setenv("STANDIN_DRIVER", "12040", 1);
    setenv("STANDIN_CAPABILITY", "70", 1);
    setenv("CUDA_INJECTION64_PATH", "/nonexistent", 1); /* not loaded by the question */
    look(testing_dir());
    ck_assert(machine.driver);
    ck_assert_int_eq(machine.cuda, 12040);
    ck_assert_int_eq(machine.gpu_count, 3);
    ck_assert_str_eq(machine.gpus[2].name, "Stand-in GPU");
    ck_assert_int_eq(recorder_machine_capability(&machine), 70);
    ck_assert(!machine.gpus[0].pageable);
    setenv("STANDIN_MODE", "ats", 1);
    look(testing_dir());
    ck_assert(machine.gpus[0].pageable && machine.gpus[0].page_tables);
}
END_TEST

START_TEST(a_driver_without_a_gpu_says_so_and_a_missing_one_too)
{
    load_driver();
    setenv("STANDIN_NO_GPU", "1", 1);
    look(testing_dir());
    ck_assert(!machine.driver);
    ck_assert_ptr_nonnull(strstr(machine.why, "no GPU"));
    ck_assert_int_eq(recorder_machine_capability(&machine), 0);
}
END_TEST

START_TEST(permissions_mps_and_the_module_are_read_from_files)
{
    char command[1024];
    load_driver();
    unsetenv("CUDA_MPS_PIPE_DIRECTORY");
    (void)snprintf(command, sizeof command,
                   "cd %s && mkdir -p proc/driver/nvidia tmp/nvidia-mps && : >tmp/nvidia-mps/control && "
                   "echo 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Tue Nov  4' "
                   ">proc/driver/nvidia/version && echo 'RmProfilingAdminOnly: 0' >proc/driver/nvidia/params && "
                   "echo 'Linux version 5.15 microsoft-standard-WSL2' >proc/version",
                   testing_dir());
    ck_assert_int_eq(system(command), 0);
    look(testing_dir());
    ck_assert_str_eq(machine.kernel, "580.159.04");
    ck_assert(machine.counters_for_all && machine.mps && machine.wsl);
    (void)snprintf(command, sizeof command, "echo 'RmProfilingAdminOnly: 1' >%s/proc/driver/nvidia/params",
                   testing_dir());
    ck_assert_int_eq(system(command), 0);
    look(testing_dir());
    ck_assert_int_eq(machine.counters_for_all, geteuid() == 0);
}
END_TEST

TEST_MAIN("recorder_machine")
