/* What a recording says of the machine itself: the driver's version and its memory module's parameters; and the file
 * that it goes to. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace/recorder/recorder_trace.h"
#include "trace/store/store.h"

int recorder_trace_path(const char *pattern, int64_t process, bool numbered, char path[RECORDER_TRACE_PATH],
                        struct err *err)
{
    char host[128] = "host", out[RECORDER_TRACE_PATH];
    size_t n = 0;
    bool named = false;
    (void)gethostname(host, sizeof host - 1);
    for (const char *p = pattern; *p; p++) {
        char piece[160] = {*p};
        if (*p == '%' && p[1] == 'p') {
            (void)snprintf(piece, sizeof piece, "%" PRId64, process);
            named = true;
        } else if (*p == '%' && p[1] == 'h') {
            (void)snprintf(piece, sizeof piece, "%s", host);
        }
        if (*p == '%' && (p[1] == 'p' || p[1] == 'h' || p[1] == '%'))
            p++;
        size_t length = strlen(piece);
        if (n + length >= sizeof out)
            return err_set(err, "%s: the file name is too long", pattern);
        memcpy(out + n, piece, length);
        n += length;
    }
    out[n] = 0;
    const char *base = strrchr(out, '/'), *dot = strrchr(base ? base : out, '.');
    int stem = dot && dot != out && dot[-1] != '/' ? (int)(dot - out) : (int)n;
    int written = numbered && !named
                      ? snprintf(path, RECORDER_TRACE_PATH, "%.*s.%" PRId64 "%s", stem, out, process, out + stem)
                      : snprintf(path, RECORDER_TRACE_PATH, "%s", out);
    return written < 0 || written >= RECORDER_TRACE_PATH ? err_set(err, "%s: the file name is too long", pattern) : 0;
}

/* Every parameter of the driver's memory module, as text. */
static int write_parameters(struct store *store, const char *sysfs, struct err *err)
{
    char folder[300], path[600], name[300], value[256];
    (void)snprintf(folder, sizeof folder, "%s/module/nvidia_uvm/parameters", sysfs);
    DIR *dir = opendir(folder);
    if (!dir)
        return 0; /* no such module here, or not readable: not known */
    struct dirent *e;
    int rc = 0;
    while (rc == 0 && (e = readdir(dir))) {
        if (e->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof path, "%s/%.250s", folder, e->d_name);
        (void)snprintf(name, sizeof name, "nvidia_uvm.%.250s", e->d_name);
        FILE *f = fopen(path, "re");
        if (!f)
            continue; /* some are for root only */
        if (fgets(value, sizeof value, f)) {
            value[strcspn(value, "\n")] = 0;
            const struct store_value row[] = {STORE_V_TEXT(name), STORE_V_TEXT(value)};
            rc = store_row(store, "parameters", row, 2, err);
        }
        (void)fclose(f);
    }
    closedir(dir);
    return rc;
}

static int write_driver(struct store *store, struct err *err)
{
    char line[256];
    FILE *f = fopen("/proc/driver/nvidia/version", "re");
    if (!f)
        return 0;
    int rc = 0;
    if (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        rc = store_origin(store, "driver", line, err);
    }
    (void)fclose(f);
    return rc;
}

int recorder_machine_write(struct store *store, const char *sysfs, struct err *err)
{
    return write_driver(store, err) || write_parameters(store, sysfs, err) ? -1 : 0;
}
