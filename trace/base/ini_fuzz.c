/* Any bytes as an INI file: sections and keys that are named, each once, or an error, never a crash. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/ini.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take(void *ctx, const char *section, const char *key, const char *value, struct err *err)
{
    size_t *bytes = ctx;
    if (!*section || !key != !value || (key && !*key))
        abort();
    *bytes += key ? strlen(key) + strlen(value) : strlen(section);
    return key && strcmp(key, "bad") == 0 ? err_set(err, "a bad key") : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = {""};
    size_t taken = 0;
    int rc = ini_read_text("fuzz", (const char *)data, size, &(struct ini_reader){take, &taken}, &err);
    if (taken > size || (rc && strncmp(err.msg, "fuzz:", 5) != 0))
        abort();
    return 0;
}
