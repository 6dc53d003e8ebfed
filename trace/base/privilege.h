/* privilege: rights that the program's file gives (setcap, set-user-id), which are not the user's.
 *
 * They are given up before anything else is done; only what captures packets keeps them until its capture is open. No
 * code that the user names (an environment variable, an option) is loaded by a program that started with them. */
#pragma once

#include <stdbool.h>

#include "trace/base/err.h"

/* What a sentence says of a program that privilege_given() is true of. */
#define PRIVILEGE_GIVEN "this program's file gives rights that are not the user's (setcap, set-user-id)"

/* Whether the program started with such rights. */
bool privilege_given(void);

/* Be the user who started the program, and hold no capability unless that is root; for good. To be called while there
 * is one thread. -1 with *err set. */
int privilege_drop(struct err *err);

/* *value: of the environment variable, which names what is loaded; NULL: it is not set, or empty. -1 with *err set if
 * it is set and may not be followed. */
int privilege_env(const char *variable, const char **value, struct err *err);
