#include "replay/uvm/uvm_version.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { ADAPTS = 590, LEAST = 100, MOST = 9999 };

int64_t uvm_version_in(const char *text)
{
    for (const char *at = text; at && *at; at += strcspn(at, " \t\n")) {
        at += strspn(at, " \t\n");
        char *end;
        if (!isdigit((unsigned char)*at))
            continue;
        long major = strtol(at, &end, 10);
        if (*end == '.' && isdigit((unsigned char)end[1]) && major >= LEAST && major <= MOST)
            return major;
    }
    return 0;
}

enum uvm_lapse uvm_version_lapse(int64_t driver)
{
    return driver >= ADAPTS ? UVM_LAPSE_WRITTEN : UVM_LAPSE_FIXED;
}

bool uvm_version_discards(int64_t driver)
{
    return driver >= UVM_VERSION_DISCARDS;
}
