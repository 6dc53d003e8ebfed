#include "trace/base/privilege.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

bool privilege_given(void)
{
    return getauxval(AT_SECURE) != 0;
}

/* Only where there is something to give up: a sandbox may end what calls more than it needs. */
static int clear_ids(void)
{
    uid_t user, users[2];
    gid_t group, groups[2];
    if (getresuid(&user, &users[0], &users[1]) || getresgid(&group, &groups[0], &groups[1]))
        return -1;
    if ((groups[0] != group || groups[1] != group) && setresgid(group, group, group))
        return -1;
    return (users[0] != user || users[1] != user) && setresuid(user, user, user) ? -1 : 0;
}

/* The ambient ones go with the permitted. */
static int clear_capabilities(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct held[_LINUX_CAPABILITY_U32S_3] = {{0}}, none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (syscall(SYS_capget, &head, held) || memcmp(held, none, sizeof held) == 0)
        return 0;
    return (int)syscall(SYS_capset, &head, none);
}

int privilege_drop(struct err *err)
{
    if (clear_ids() || (getuid() && clear_capabilities()))
        return err_set(err, "the rights that the program's file gives cannot be given up: %s", strerror(errno));
    return 0;
}

int privilege_env(const char *variable, const char **value, struct err *err)
{
    const char *given = getenv(variable);
    *value = given && *given ? given : NULL;
    if (*value && privilege_given())
        return err_set(err, "%s is not followed, as " PRIVILEGE_GIVEN ": take a copy of it that has none", variable);
    return 0;
}
