/* call_site: where in the program a call came from, as text: "app+0x11a9:make_arrays app+0x1f03:main
 * libc.so.6+0x271c9".
 *
 * Return addresses, the innermost first, each as MODULE+0xOFFSET[:SYMBOL], joined by a space. MODULE is the file's name
 * without folders, white space, commas and colons in it replaced by '_'; OFFSET is the address less where the module
 * was loaded, in hexadecimal, as `addr2line -e MODULE` takes it (a return address is behind its call). SYMBOL is there
 * where the module exports one. Both are the same in each run of one build of the program, wherever it is loaded. */
#ifndef TRACE_RECORDER_WIRE_CALL_SITE_H
#define TRACE_RECORDER_WIRE_CALL_SITE_H

#include <stdbool.h>
#include <string.h>

enum {
    CALL_SITE_FRAMES = 16, /* of the program, at most */
    CALL_SITE_BYTES = 2048 /* of a text, with its end */
};

/* Whether a call came from this site: its addresses, joined by ',', without symbols, are all in `stack`, in that order,
 * others between them or not. An empty site is anywhere. */
static inline bool call_site_matches(const char *stack, const char *site)
{
    while (*site) {
        size_t n = strcspn(site, ","), there;
        do {
            stack += strspn(stack, " ");
            there = strcspn(stack, " :");
            if (there == 0)
                return false;
            if (there == n && memcmp(stack, site, n) == 0)
                break;
            stack += strcspn(stack, " ");
        } while (true);
        stack += strcspn(stack, " ");
        site += n + (site[n] == ',');
    }
    return true;
}

#endif
