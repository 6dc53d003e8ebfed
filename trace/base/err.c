#include "trace/base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *err, const char *format, ...)
{
    if (err) {
        va_list ap;
        va_start(ap, format);
        (void)vsnprintf(err->msg, sizeof err->msg, format, ap);
        va_end(ap);
    }
    return -1;
}

bool err_is_memory(const struct err *err)
{
    return strstr(err->msg, "out of memory") != NULL;
}

int err_pass_memory(const struct err *why, struct err *err)
{
    return err_is_memory(why) ? err_set(err, "%s", why->msg) : 0;
}

int err_at(struct err *err, const char *format, ...)
{
    if (err) {
        char old[sizeof err->msg];
        memcpy(old, err->msg, sizeof old);
        va_list ap;
        va_start(ap, format);
        int n = vsnprintf(err->msg, sizeof err->msg, format, ap);
        va_end(ap);
        const int room = (int)sizeof err->msg - n - 3;
        if (n >= 0 && room > 0)
            (void)snprintf(err->msg + n, sizeof err->msg - (size_t)n, ": %.*s", room, old);
    }
    return -1;
}
