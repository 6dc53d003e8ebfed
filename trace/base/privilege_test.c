#include "trace/base/privilege.h"

#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "trace/base/testing.h"

static void set_capabilities(uint32_t effective, uint32_t permitted, uint32_t inheritable)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{effective, permitted, inheritable}};
    if (syscall(SYS_capset, &head, data))
        _exit(10);
}

/* 0: none is left. */
static int capabilities_left(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct held[_LINUX_CAPABILITY_U32S_3] = {{0}}, none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    int left = syscall(SYS_capget, &head, held) || memcmp(held, none, sizeof held) != 0;
    for (int c = 0; c <= CAP_LAST_CAP; c++)
        left |= prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, c, 0, 0) > 0;
    return left;
}

/* A namespace whose users are not mapped has a user who is not root and holds every capability. */
static void capabilities_of_nobody(void)
{
    const uint32_t raw = 1U << CAP_NET_RAW, admin = 1U << CAP_NET_ADMIN;
    if (unshare(CLONE_NEWUSER))
        _exit(77);
    set_capabilities(admin, raw | admin, raw);
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0))
        _exit(11);
    if (!capabilities_left())
        _exit(12);
    _exit(privilege_drop(NULL) || capabilities_left());
}

/* As a program with root's set-user-id and set-group-id bits starts. */
static void ids_of_root(void)
{
    uid_t user[3];
    gid_t group[3];
    if (setresgid(65534, 0, 0) || setresuid(65534, 0, 0))
        _exit(77);
    if (privilege_drop(NULL) || getresuid(&user[0], &user[1], &user[2]) || getresgid(&group[0], &group[1], &group[2]))
        _exit(10);
    for (int i = 0; i < 3; i++)
        if (user[i] != 65534 || group[i] != 65534)
            _exit(11);
    _exit(capabilities_left() || seteuid(0) == 0 || setegid(0) == 0);
}

/* In a process of its own; 77: this machine does not let it. */
static void in_a_process(void (*act)(void))
{
    int status;
    const pid_t child = fork();
    if (child == 0)
        act();
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) != 77)
        ck_assert_int_eq(WEXITSTATUS(status), 0);
}

START_TEST(capabilities_are_given_up_in_every_set)
{
    in_a_process(capabilities_of_nobody);
}
END_TEST

START_TEST(the_user_of_a_set_user_id_program_is_who_started_it)
{
    in_a_process(ids_of_root);
}
END_TEST

START_TEST(a_program_without_rights_follows_its_environment)
{
    const char *value = "";
    ck_assert(!privilege_given());
    setenv("OFFCHIP_TEST", "/some/where", 1);
    WORKS(privilege_env("OFFCHIP_TEST", &value, &err));
    ck_assert_str_eq(value, "/some/where");
    setenv("OFFCHIP_TEST", "", 1);
    WORKS(privilege_env("OFFCHIP_TEST", &value, &err));
    ck_assert_ptr_null(value);
    WORKS(privilege_drop(&err));
}
END_TEST

/* That none is followed by one with rights is the case privilege of fixtures/cli. */
TEST_MAIN("privilege")
