/* record_pipe: the fixed-size messages that a recorded program sends to `offchip record`.
 *
 * The injected library (trace/recorder/inject/) connects to the Unix socket named by OFFCHIP_RECORD_SOCKET, one
 * connection per process, and sends whole messages of 64 bytes; the recorder (trace/recorder/recorder.c) turns each
 * connection into one trace file. The target therefore never links SQLite, and a killed target loses only what was not
 * yet sent. The first message is HELLO; a connection that ends without BYE is an incomplete recording. Texts travel
 * once, cut into TEXT messages, and are named by number afterwards. Byte order and alignment are the machine's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "trace/base/err.h"

#define RECORD_PIPE_SOCKET       "OFFCHIP_RECORD_SOCKET" /* record_address() */
#define RECORD_PIPE_WANT         "OFFCHIP_RECORD_WANT" /* "uvm,counters-l2": the group of cupti_metrics.h comes last */
#define RECORD_PIPE_COUNTERS     "counters-"           /* of RECORD_PIPE_WANT */
#define RECORD_PIPE_SITES        "sites,"              /* of RECORD_PIPE_WANT: call sites of managed allocations */
#define RECORD_PIPE_FAULTS       "faults,"             /* of RECORD_PIPE_WANT: the driver's event queue is read */
#define RECORD_PIPE_TIME         "time,"               /* of RECORD_PIPE_WANT: nothing is traced, see KERNEL */
#define RECORD_PIPE_FAULT_SOURCE "fault_source"        /* the fact that says that FAULT_ENTRY messages come */
#define RECORD_PIPE_CUPTI        "OFFCHIP_CUPTI"       /* libcupti to load */
#define RECORD_PIPE_PLAN         "OFFCHIP_RECORD_PLAN" /* a plan: below */
#define RECORD_PIPE_FLUSH_US     "OFFCHIP_RECORD_FLUSH_US"  /* how often the helper thread flushes */
#define RECORD_PIPE_BUFFERS      "OFFCHIP_RECORD_MAX_BYTES" /* cap of all buffers together */
#define RECORD_PIPE_STUCK_S      "OFFCHIP_RECORD_STUCK_S" /* counters: after how long a launch call is worth a warning */
#define RECORD_PIPE_LAUNCHES     "OFFCHIP_RECORD_LAUNCHES" /* "A..B": of the launches of chosen kernels, from 0 */
/* Of a recording of accesses. */
#define RECORD_PIPE_TOUCHES      "touches"                   /* of RECORD_PIPE_WANT: first touches of pages only */
#define RECORD_PIPE_EVERY        "OFFCHIP_RECORD_EVERY"      /* record one block of so many; of counters, one launch */
#define RECORD_PIPE_SANITIZER    "OFFCHIP_SANITIZER"         /* libsanitizer-public to load */
#define RECORD_PIPE_PATCH        "OFFCHIP_ACCESS_PATCH"      /* the patch, a fatbin */
#define RECORD_PIPE_KERNELS      "OFFCHIP_RECORD_KERNEL"     /* regular expression of the kernels to record */
#define RECORD_PIPE_LIMIT        "OFFCHIP_RECORD_LIMIT"      /* most accesses */
#define RECORD_PIPE_RING_BYTES   "OFFCHIP_RECORD_RING_BYTES" /* of the host's memory for a ring */
#define RECORD_PIPE_TURN_MS      "OFFCHIP_RECORD_TURN_MS"    /* that a launch waits for another one to be sent */
#define RECORD_PIPE_RING_TICKS   "OFFCHIP_RECORD_RING_TICKS" /* of the GPU's clock that an access waits for room */

enum {
    RECORD_PIPE_VERSION = 4,
    RECORD_PIPE_LOSS_REPORT = 1,
    RECORD_PIPE_TEXT_BYTES = 40,     /* of one fragment */
    RECORD_PIPE_TEXT_MAX = 1 << 16,  /* of one text */
    RECORD_PIPE_TEXTS_MAX = 1 << 20, /* of one connection, whose numbers follow one another */
    RECORD_PIPE_TEXTS_SUM = 1 << 28, /* bytes of these */
    RECORD_PIPE_TEXTS_GAP = 64,      /* numbers that may be left out */
    RECORD_PIPE_MAGIC = 0x4f434850,  /* "OCHP" */
    RECORD_PIPE_LANES_EACH = 6,      /* addresses in one message */
    RECORD_PIPE_NARROW_EACH = 12,    /* distances in one message */
    RECORD_PIPE_PAGES_EACH = 4,      /* touches in one message */
    RECORD_PIPE_LIMIT_DEFAULT = 1000000
};

enum record_pipe_type {
    RECORD_PIPE_HELLO = 1, /* kind = MAGIC; id = process; bytes = VERSION; group = parent process; time = now;
                              flags = RECORD_PIPE_LOSS_REPORT: nothing follows, and addr messages of this process are
                              lost, because the recorder did not take them before it ended */
    RECORD_PIPE_TEXT,      /* a fragment of text number id */
    RECORD_PIPE_FACT,      /* of table origin: id = text of the key, addr = text of the value */
    RECORD_PIPE_UVM,       /* CUPTI's unified-memory counter record as it came: kind = counter kind, time = start,
                              duration = end (absolute), addr, bytes = value, flags, extra = source | destination << 32 */
    RECORD_PIPE_RECORD,    /* a record of enum record_kind `kind`, field by field (COPY, ADVISE, PREFETCH, ALLOC,
                              FAULT, FAULT_ENTRY, REPLAY, EVICT); of an ALLOC extra = text of its call site, 0: not
                              known; of a FAULT_ENTRY extra = client | GPC << 16 */
    RECORD_PIPE_FREE,      /* the allocation at addr ends at `time` */
    RECORD_PIPE_KERNEL,    /* time = start, duration = end (absolute); id = text of the name; group = correlation;
                              kind = stream; flags = device; addr = grid x | y << 32 | z << 48; bytes = block x |
                              y << 16 | z << 32 | registers << 48; extra = static | dynamic << 32 shared bytes.
                              Where nothing is traced: from a launch until the program has waited for it */
    RECORD_PIPE_COUNTER,   /* id = text of the counter's name; addr = text of the kernel's; extra = text of CUPTI's
                              metric;   group = number of the launch; bytes = bits of a double */
    RECORD_PIPE_SKIP,      /* id = text of the reason; bytes = count */
    RECORD_PIPE_DROP,      /* as SKIP */
    RECORD_PIPE_PROBLEM,   /* id = text of a sentence for the user; flags = enum record_pipe_problem */
    RECORD_PIPE_BYE,       /* the process ends in good order */
    RECORD_PIPE_LAUNCH,    /* a launch whose accesses follow: as KERNEL, without times, registers and shared bytes */
    RECORD_PIPE_ACCESS,    /* of one warp: id = program counter; kind = bytes per lane; group = active lanes; flags =
                              read 1, write 2, atomic 4, prefetch 8; time = block << 32 | warp in block; addr = that of
                              the first active lane; duration = messages LANES that follow; if none, extra = distance
                              from one active lane's address to the next;
                              flags bit 31: NARROW messages follow, not LANES */
    RECORD_PIPE_LANES,     /* the addresses of the further active lanes, RECORD_PIPE_LANES_EACH a message */
    RECORD_PIPE_LAUNCH_END,
    RECORD_PIPE_NARROW, /* the further active lanes' distances to the first address, RECORD_PIPE_NARROW_EACH a message
                         */
    RECORD_PIPE_PAGES,  /* pages that warps touch first, one after the other: kind = how many, in `pages` */
    RECORD_PIPE_RANGE,  /* the program's own (NVTX): time; id = text of its name, of an end "?"; kind = 1 a mark, 2 its
                           beginning, 4 its end; addr = number that both have; group = thread */
    RECORD_PIPE_TYPES
};

/* Of an ACCESS: NARROW messages follow. */
#define RECORD_PIPE_ACCESS_NARROW (1u << 31)

enum record_pipe_problem {
    RECORD_PIPE_WARNING, /* something is missing from the recording */
    RECORD_PIPE_FATAL    /* nothing can be recorded; the program runs on without us */
};

struct record_pipe_message {
    uint32_t type; /* enum record_pipe_type */
    uint32_t kind;
    uint64_t id;
    union {
        struct {
            int64_t time, duration; /* ns, CUPTI's clock */
            uint64_t addr, bytes;
            uint32_t group, flags;
            uint64_t extra;
        };
        uint64_t lanes[RECORD_PIPE_LANES_EACH];
        int32_t narrow[RECORD_PIPE_NARROW_EACH];
        struct {
            uint32_t page, block; /* the page's number, of 4 KiB, lower half; block of the launch */
            uint16_t page_high;
            uint8_t warp, flags; /* warp in the block; as ACCESS */
        } pages[RECORD_PIPE_PAGES_EACH];
        struct {
            uint32_t text_offset, text_total; /* bytes; the whole text has no end mark */
            char text[RECORD_PIPE_TEXT_BYTES];
        };
    };
};

_Static_assert(sizeof(struct record_pipe_message) == 64, "messages are 64 bytes");

/* The texts of one connection, on the receiving side. Zeroed to start. */
struct record_pipe_texts {
    struct record_pipe_text {
        char *text;
        uint32_t filled, total;
    } * texts;
    size_t cap, count, bytes; /* count: one more than the last number; bytes: that came */
};

/* Take a TEXT message; its memory follows what came, not what is announced. -1 with *err set if it does not fit what
 * came before, or is too large. */
int record_pipe_text_put(struct record_pipe_texts *texts, const struct record_pipe_message *message, struct err *err);

/* Text number `id`, ended by zero; NULL if it has not come whole. Valid until release. */
const char *record_pipe_text_get(const struct record_pipe_texts *texts, uint64_t id);

void record_pipe_texts_release(struct record_pipe_texts *texts);

/* Check a message that is not TEXT: its type, the texts it names, HELLO's magic and version. */
int record_pipe_check(const struct record_pipe_message *message, const struct record_pipe_texts *texts,
                      struct err *err);

/* --- where in the program a call came from, as text: "app+0x11a9:make_arrays app+0x1f03:main libc.so.6+0x271c9" ---
 *
 * Return addresses, the innermost first, each as MODULE+0xOFFSET[:SYMBOL], joined by a space. MODULE is the file's name
 * without folders, white space, commas and colons in it replaced by '_'; OFFSET is the address less where the module
 * was loaded, in hexadecimal, as `addr2line -e MODULE` takes it (a return address is behind its call). SYMBOL is there
 * where the module exports one. Both are the same in each run of one build of the program, wherever it is loaded. */

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

/* A plan (trace/recorder/advice_plan.h) on its way into the recorded program, through its environment.
 *
 * A line each: "A ORDER BYTES ADVICE PREFETCH SITE", "K LAUNCH NAME PREFETCHED ADVISED BACK". ADVICE: pairs
 * NUMBER:WHERE joined by ',', or "-"; NUMBER as enum record_advice, WHERE 'g' (the GPU of the context) or 'c' (the
 * CPU). PREFETCH: 'g', 'c' or '-'. SITE: as call_site_matches() takes it, or "-". LAUNCH: -1 for each. NAME: "*" for
 * any. The last three: numbers of allocations joined by ',', or "-".
 * PLAN_BRING alone: all managed memory before each launch that nothing runs at, and waited for; before another, in its
 * stream, memory that was never brought. */
#define PLAN_BRING "R"

enum {
    PLAN_TEXT_BYTES = 96 << 10, /* one variable of the environment holds 128 KiB */
    PLAN_ALLOCATIONS = 1024,
    PLAN_KERNELS = 256,
    PLAN_ADVICE = 6,
    PLAN_ORDERS = 64,
    PLAN_SITE_BYTES = 512 /* of a SITE or a list of numbers, with its end */
};

/* --- the Unix socket that a recorded program finds its recorder at ---
 *
 * A name that begins with '@' stands in Linux's abstract namespace: there is no file, so a recorder that is killed
 * leaves nothing behind, and the kernel gives the name free. Any other name is a path. */

/* The address of `name` and its length; 0: the name is too long. */
static inline socklen_t record_address(const char *name, struct sockaddr_un *address)
{
    size_t n = strlen(name);
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (n == 0 || n >= sizeof address->sun_path)
        return 0;
    memcpy(address->sun_path, name, n);
    if (name[0] != '@')
        return (socklen_t)sizeof *address;
    address->sun_path[0] = 0;
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
}
