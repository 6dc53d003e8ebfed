/* Call sites of the program's calls (call_site.h), by glibc's backtrace(), which loads libgcc's unwinder: in
 * inject_site_start(), not in the middle of a call of the program. Frames of the driver, CUPTI, the runtime's library
 * and ours are left out; a runtime that is linked into the program is a part of it. */
#include <dlfcn.h>
#include <execinfo.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace/recorder/inject/cupti_inject.h"
#include "trace/recorder/wire/call_site.h"

enum { DEPTH = 64 /* of the stack, at most */ };

static char program[PATH_MAX]; /* the file of the process */

void inject_site_start(void)
{
    void *frames[1];
    (void)backtrace(frames, 1);
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = 0;
}

static bool is_ours(const char *module)
{
    static const char *const names[] = {"libcuda.so", "libcupti.so", "libcudart.so", "liboffchip_inject.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(module, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

struct frame {
    const char *module, *symbol; /* symbol NULL: none */
    uintptr_t offset;
};

static bool frame_of(const char *address, struct frame *frame)
{
    struct link_map *map = NULL;
    Dl_info info;
    /* A return address may be that of the next function: its call is not. */
    if (!dladdr1(address - 1, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return false;
    const char *path = map->l_name && *map->l_name ? map->l_name : program, *slash = strrchr(path, '/');
    frame->module = slash ? slash + 1 : path;
    frame->symbol = info.dli_sname;
    frame->offset = (uintptr_t)address - map->l_addr;
    return true;
}

/* Its text, behind a space if it is not the first; 0: it does not fit. */
static size_t frame_text(const struct frame *frame, bool first, char *text, size_t size)
{
    int n = snprintf(text, size, "%s%.200s+0x%llx%s%.100s", first ? "" : " ", *frame->module ? frame->module : "?",
                     (unsigned long long)frame->offset, frame->symbol ? ":" : "", frame->symbol ? frame->symbol : "");
    if (n < 0 || (size_t)n >= size)
        return 0;
    size_t module = strnlen(frame->module, 200);
    for (size_t i = !first; i < !first + module; i++)
        if (strchr(" ,:\t\n", text[i]))
            text[i] = '_';
    return (size_t)n;
}

void inject_site(char text[CALL_SITE_BYTES])
{
    void *frames[DEPTH];
    struct frame frame;
    size_t used = 0;
    int depth = backtrace(frames, DEPTH), kept = 0;
    bool within = false; /* a sanitiser's backtrace() is a frame of its own, in front of ours */
    *text = 0;
    for (int i = 0; i < depth && kept < CALL_SITE_FRAMES; i++) {
        bool known = frame_of(frames[i], &frame), ours = known && is_ours(frame.module);
        within |= ours;
        if (!known || ours || !within)
            continue;
        size_t n = frame_text(&frame, kept == 0, text + used, CALL_SITE_BYTES - used);
        text[used += n] = 0;
        kept += n > 0;
    }
}
