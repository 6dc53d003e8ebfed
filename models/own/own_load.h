/* own_load: policies of one's own, loaded from what `offchip policy build` made.
 *
 * A loaded policy stays for the life of the process. Its code is that of the sealed bytes (models/own/own_file.h),
 * whatever becomes of the file meanwhile. Its table has one more row, `so`: the hash of the content, so that the runs
 * of two builds are two policies wherever runs are compared. It is found by its name too, once loaded. Safe with
 * threads. */
#ifndef MODELS_OWN_OWN_LOAD_H
#define MODELS_OWN_OWN_LOAD_H

#include "models/base/policy.h"
#include "models/own/own.h"
#include "models/own/own_file.h"

#define OWN_ROW "so"

struct own_loaded {
    const struct policy_head *head; /* of the interface's struct, a copy with the row `so` */
    const struct own_policy *own;   /* in the file's memory */
    const char *path;               /* that it was loaded from first */
    char hash[OWN_HASH];
    struct own_loaded *next;
    uint64_t *passed; /* parameters that models/own/own_check.h found well, by hash */
    size_t passed_count, passed_cap;
};

/* "uvm prefetch policy". */
const char *own_interface_name(enum own_interface interface);

/* The policy in a file, for an interface: OWN_ANY for any. `taken` (may be NULL) ends with NULL: names it may not
 * have. NULL with *err set, which names the file. */
const struct own_loaded *own_load(const char *path, enum own_interface interface,
                                  const struct policy_head *const *taken, struct err *err);

/* The loaded one of that name, or whose head it is; NULL: none. */
const struct own_loaded *own_find(enum own_interface interface, const char *name);
const struct own_loaded *own_of(const struct policy_head *head);

/* What `--policy` takes for a file and not for a name: it ends in ".so". */
bool own_is_path(const char *text);

#endif
