/* plugin_load: policies loaded from what `offchip policy build` made.
 *
 * A loaded policy stays for the life of the process. Its table has one more row, `so`: the path that it was loaded
 * from, which tells policies of two files apart. Once loaded it is found by name. Thread-safe. */
#pragma once

#include "models/base/policy.h"

/* "uvm prefetch policy". */
const char *plugin_interface_name(enum policy_interface interface);

/* Loads the policy in a file, for an interface: POLICY_ANY for any. `taken` (may be NULL) ends with NULL: names it may
 * not have. Returns the head of a copy of the interface's struct, with the row `so`; NULL with *err set. */
const struct policy_head *plugin_load(const char *path, enum policy_interface interface,
                                      const struct policy_head *const *taken, struct err *err);

/* The loaded one of that name; NULL: none. */
const struct policy_head *plugin_find(enum policy_interface interface, const char *name);

/* What a loaded head is of. */
enum policy_interface plugin_interface(const struct policy_head *head);

/* What `--policy` takes for a file and not for a name: it ends in ".so". */
bool plugin_is_path(const char *text);
