#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/clock.h"
#include "trace/event/record.h"
#include "trace/event/uvm_event.h"
#include "trace/recorder/inject/cupti_inject.h"
#include "trace/recorder/wire/uvm_tools_abi.h"

/* The driver writes some 1,000 entries a ms at most (measured: H200, driver 580.159.04): room for 0.2 s. */
enum { ENTRIES = 1 << 18, BATCH = 256, GUARD_BYTES = 1 << 16, CONTROL_BYTES = 1 << 16 };
enum {
    IDLE_LOOKS = 64,    /* that find nothing, between looks at the clocks */
    SHIFT_NS = 20000,   /* of the clocks against each other, that is followed */
    SAME_NS = 20000,    /* between the times of one migration by the queue and by CUPTI */
    DRIFT_SHARE = 10000 /* and a share of the time since the one before */
};
enum { AWAITED = 1 << 18, BATCHES = 1 << 14 };

static struct {
    const struct abi_cupti *cupti;
    pthread_mutex_t lock; /* of the reader */
    uint8_t *queue;
    struct uvm_tools_control *control;
    int tools, uvm; /* descriptors; tools -1: not open */
    bool v2;
    atomic_bool open, on; /* on: what is in it, is taken from it; not any more behind an entry that cannot be one */
    unsigned idle;        /* looks at it that found nothing */
    int64_t offset_ns;    /* CUPTI's clock less CLOCK_MONOTONIC_RAW */
    struct fault_batch {
        struct record_pipe_message m; /* group 0: none */
        uint64_t begin_ns, end_ns;    /* on the GPU's clock: the first fault, behind the replay before; the replay */
    } batches[BATCHES];               /* whose replay is due, by number; the driver may keep hundreds till the end */
    uint64_t replayed_ns;             /* on the GPU's clock: the last replay */
    int64_t ahead_ns[2], since_ns;    /* CUPTI's clock less the GPU's, at most: by the faults since, and before */
    uint64_t reported[2 * UVM_TOOLS_TYPES];
    uint64_t overflows;
    /* Migrations that CUPTI has not delivered yet, and some that it has. */
    struct awaited {
        struct uvm_tools_event event;
        int64_t begin_offset, end_offset; /* CUPTI's clock less the GPU's, where CUPTI delivered it */
        bool delivered;
    } * awaited;
    size_t count, next;    /* next: where the one that CUPTI delivers next is looked for first */
    uint64_t unkept;       /* for which there was no room */
    int64_t gpu_offset_ns; /* of the last that both have */
    uint64_t matched_gpu_ns;
    uint64_t delivered, unmatched; /* migrations that both have */
} faults = {.lock = PTHREAD_MUTEX_INITIALIZER, .tools = -1};

bool inject_faults_on(void)
{
    return atomic_load(&faults.on);
}

/* CUPTI's clock less the driver's: the closest of some looks at both. */
static int64_t clock_offset(void)
{
    int64_t best = INT64_MAX, offset = 0;
    for (int i = 0; i < 5; i++) {
        uint64_t now = 0;
        const int64_t before = clock_ns(CLOCK_MONOTONIC_RAW);
        (void)faults.cupti->get_timestamp(&now);
        const int64_t took = clock_ns(CLOCK_MONOTONIC_RAW) - before;
        offset = took < best ? (int64_t)now - before - took / 2 : offset;
        best = took < best ? took : best;
    }
    return offset;
}

/* --- opening --- */

/* The driver's branch: "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build"; 0: not
 * known. */
static int driver_branch(void)
{
    char line[300] = "";
    FILE *f = fopen("/proc/driver/nvidia/version", "re");
    if (!f)
        return 0;
    if (!fgets(line, sizeof line, f))
        line[0] = 0;
    (void)fclose(f);
    for (const char *p = line; (p = strstr(p, "  ")); p++)
        if (p[2] >= '1' && p[2] <= '9')
            return (int)strtol(p + 2, NULL, 10);
    return 0;
}

/* Whether the descriptor still is that device: a program may close all there are. */
static bool names(int fd, const char *device)
{
    char path[64], name[64];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(path, name, sizeof name - 1);
    return n > 0 && (size_t)n == strlen(device) && memcmp(name, device, (size_t)n) == 0;
}

/* Pages between pages that nobody may touch; a child of the program has none of them. */
static void *guarded(size_t bytes)
{
    uint8_t *p = mmap(NULL, bytes + (size_t)2 * GUARD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const bool good = p != MAP_FAILED && mprotect(p + GUARD_BYTES, bytes, PROT_READ | PROT_WRITE) == 0 &&
                      madvise(p, bytes + (size_t)2 * GUARD_BYTES, MADV_DONTFORK) == 0;
    return good ? p + GUARD_BYTES : NULL;
}

static bool take_room(void)
{
    faults.queue = faults.queue ? faults.queue : guarded((size_t)ENTRIES * UVM_TOOLS_V2_BYTES);
    faults.control = faults.control ? faults.control : guarded(CONTROL_BYTES);
    faults.awaited = faults.awaited ? faults.awaited : malloc(AWAITED * sizeof *faults.awaited);
    return faults.queue && faults.control && faults.awaited;
}

/* Ask for the queue of the address space that a descriptor has. */
static bool ask(int tools, int uvm)
{
    struct uvm_tools_init init = {.queue = (uint64_t)(uintptr_t)faults.queue,
                                  .entries = ENTRIES,
                                  .control = (uint64_t)(uintptr_t)faults.control,
                                  .all_processors = 1,
                                  .uvm_fd = (uint32_t)uvm,
                                  .status = UINT32_MAX};
    struct uvm_tools_events events = {.flags = UVM_TOOLS_WANTED, .status = UINT32_MAX};
    memset(faults.control, 0, sizeof *faults.control);
    return ioctl(tools, faults.v2 ? UVM_TOOLS_INIT_V2 : UVM_TOOLS_INIT_V1, &init) == 0 && init.status == 0 &&
           ioctl(tools, UVM_TOOLS_ENABLE, &events) == 0 && events.status == 0;
}

/* Try each of the program's descriptors of its unified memory: one of two is of the address space. NULL, or why not. */
static const char *open_queue(void)
{
    const char *why = "the program has no descriptor of " UVM_TOOLS_UVM;
    DIR *dir = opendir("/proc/self/fd");
    for (struct dirent *d; dir && !atomic_load(&faults.open) && (d = readdir(dir));) {
        const int uvm = (int)strtol(d->d_name, NULL, 10);
        if (d->d_name[0] == '.' || !names(uvm, UVM_TOOLS_UVM))
            continue;
        const int tools = open(UVM_TOOLS_DEVICE, O_RDWR | O_CLOEXEC);
        if (tools < 0) {
            why = errno == EACCES ? UVM_TOOLS_DEVICE " is not open to this user" : UVM_TOOLS_DEVICE " cannot be opened";
            break;
        }
        why = "the driver refuses it";
        faults.tools = tools;
        faults.uvm = uvm;
        atomic_store(&faults.open, ask(tools, uvm));
        if (!atomic_load(&faults.open))
            close(tools);
    }
    if (dir)
        closedir(dir);
    return atomic_load(&faults.open) ? NULL : why;
}

static const char *open_checked(void)
{
    const int branch = driver_branch();
    if (branch < 535 || branch > 595)
        return branch ? "this driver's is not known, only those of 535 to 595" : "the driver's version is not known";
    if (inject_device_count() > 1)
        return "the program sees several GPUs (show it one: CUDA_VISIBLE_DEVICES)";
    faults.v2 = branch >= 570;
    return take_room() ? open_queue() : "there is no memory for it";
}

bool inject_faults_start(const struct abi_cupti *cupti)
{
    faults.cupti = cupti;
    memset(faults.reported, 0, sizeof faults.reported);
    faults.offset_ns = clock_offset();
    const char *why = open_checked();
    atomic_store(&faults.on, !why);
    if (why)
        inject_problem(RECORD_PIPE_WARNING,
                       "of faults only what CUPTI reports: the driver's own event queue cannot be read (%s)", why);
    else
        inject_fact(RECORD_PIPE_FAULT_SOURCE, "the driver's event queue");
    return !why;
}

/* --- migrations: CUPTI's records are kept, and what it lacks is filled in (it lost 8 to 105 of 253 MiB in five of ten
 * recordings; measured: H200, driver 580.159.04, 2026-11). Its times are the GPU's on another clock, whose offset the
 * migrations tell that both have. --- */

static bool drain(void);

static void await(const struct uvm_tools_event *e)
{
    size_t n = 0;
    for (size_t i = 0; faults.count == AWAITED && i < AWAITED; i++) /* full: forget what was delivered */
        if (!faults.awaited[i].delivered)
            faults.awaited[n++] = faults.awaited[i];
    faults.count = faults.count == AWAITED ? n : faults.count;
    if (faults.count == AWAITED)
        faults.unkept++;
    else
        faults.awaited[faults.count++] = (struct awaited){.event = *e};
}

/* Whether a record of CUPTI's is that migration. */
static bool same(const struct uvm_tools_event *e, const struct abi_um_counter *c)
{
    const int64_t off = (int64_t)(c->start - e->gpu_ns) - faults.gpu_offset_ns;
    const int64_t since = (int64_t)(e->gpu_ns - faults.matched_gpu_ns), most = SAME_NS + llabs(since) / DRIFT_SHARE;
    return e->addr == c->address && e->bytes == c->value &&
           (e->src == 0) == (c->counter_kind == UVM_COUNTER_BYTES_H2D) &&
           (faults.delivered == 0 || (off > -most && off < most));
}

/* Both have it: what the clocks differ by. */
static void match(struct awaited *a, const struct abi_um_counter *c)
{
    a->delivered = true;
    a->begin_offset = faults.gpu_offset_ns = (int64_t)(c->start - a->event.gpu_ns);
    a->end_offset = (int64_t)(c->end - a->event.gpu_end_ns);
    faults.matched_gpu_ns = a->event.gpu_ns;
    faults.delivered++;
}

/* CUPTI delivers them in the queue's order, mostly. */
static bool deliver(const struct abi_um_counter *c)
{
    for (size_t k = 0; k < faults.count; k++) {
        const size_t i = (faults.next + k) % faults.count;
        struct awaited *a = &faults.awaited[i];
        if (a->delivered || !same(&a->event, c))
            continue;
        match(a, c);
        faults.next = i + 1;
        return true;
    }
    return false;
}

void inject_faults_delivered(const struct abi_um_counter *c)
{
    if (!faults.cupti || (c->counter_kind != UVM_COUNTER_BYTES_H2D && c->counter_kind != UVM_COUNTER_BYTES_D2H))
        return;
    pthread_mutex_lock(&faults.lock);
    bool found = deliver(c);
    if (!found) {
        (void)drain();
        found = deliver(c);
    }
    faults.unmatched += !found;
    pthread_mutex_unlock(&faults.lock);
}

/* Pieces of one copy join: the next one that CUPTI delivered says when this one ended. */
static void fill_in(const struct awaited *a, const struct awaited *next, int64_t offset)
{
    const struct uvm_tools_event *e = &a->event;
    const bool joins = next && next->delivered && next->event.gpu_ns == e->gpu_end_ns;
    struct record_pipe_message m = {.type = RECORD_PIPE_UVM,
                                    .kind = e->src == 0 ? UVM_COUNTER_BYTES_H2D : UVM_COUNTER_BYTES_D2H,
                                    .addr = e->addr,
                                    .bytes = e->bytes,
                                    .flags = e->detail,
                                    .group = (uint32_t)getpid()};
    m.time = (int64_t)e->gpu_ns + offset;
    m.duration = (int64_t)e->gpu_end_ns + (joins ? next->begin_offset : offset);
    inject_put(&m, 1);
}

void inject_faults_finish(void)
{
    int64_t offset = faults.gpu_offset_ns;
    uint64_t n = 0;
    if (!faults.cupti)
        return;
    /* Where CUPTI has what the queue does not, one of the two is not understood: nothing is made of that. */
    const bool sure = faults.delivered && faults.unmatched == 0;
    for (size_t i = 0; i < faults.count; i++) {
        const struct awaited *a = &faults.awaited[i];
        offset = a->delivered ? a->end_offset : offset;
        n += !a->delivered;
        if (sure && !a->delivered)
            fill_in(a, i + 1 < faults.count ? a + 1 : NULL, offset);
    }
    inject_fact_number("migrations.filled_in", sure ? (int64_t)n : 0);
    inject_count(RECORD_PIPE_DROP, "migrations that CUPTI did not deliver",
                 faults.unkept + (!sure && n > faults.unmatched ? n - faults.unmatched : 0));
}

/* --- reading --- */

static struct record_pipe_message message(enum record_kind kind, const struct uvm_tools_event *e)
{
    struct record_pipe_message m = {.type = RECORD_PIPE_RECORD, .kind = kind, .id = e->gpu_ns};
    m.time = (int64_t)e->cpu_ns + faults.offset_ns;
    m.addr = e->addr;
    m.bytes = e->bytes;
    m.group = e->batch;
    m.flags = e->access | e->detail << 8 | e->client_type << 16;
    m.extra = e->client | (uint64_t)e->gpc << 16;
    return m;
}

/* A fault is fetched some us behind its writing, or more: the least of what the two clocks say tells how far they are
 * apart. They drift, so only the last seconds count. */
static void compare_clocks(int64_t fetched_ns, uint64_t written_ns)
{
    enum { WINDOW_NS = 1000000000 };
    const int64_t ahead = fetched_ns - (int64_t)written_ns;
    if (faults.since_ns == 0 || fetched_ns - faults.since_ns > WINDOW_NS) {
        faults.ahead_ns[1] = faults.since_ns ? faults.ahead_ns[0] : INT64_MAX;
        faults.ahead_ns[0] = INT64_MAX;
        faults.since_ns = fetched_ns;
    }
    faults.ahead_ns[0] = ahead < faults.ahead_ns[0] ? ahead : faults.ahead_ns[0];
}

/* The batch is over: a record as CUPTI's, from its first fault to its replay, on the GPU. What the CPU says of both is
 * too short: it fetches a fault later, and is done before the copies are. */
static void send_batch(struct fault_batch *batch)
{
    const int64_t ahead = faults.ahead_ns[0] < faults.ahead_ns[1] ? faults.ahead_ns[0] : faults.ahead_ns[1];
    batch->m.time = (int64_t)batch->begin_ns + ahead;
    batch->m.duration = (int64_t)(batch->end_ns - batch->begin_ns);
    if (batch->m.group)
        inject_put(&batch->m, 1);
    batch->m.group = 0;
}

static void send_batches(void)
{
    for (size_t i = 0; i < BATCHES; i++)
        send_batch(&faults.batches[i]);
}

static void to_batch(const struct record_pipe_message *m)
{
    struct fault_batch *batch = &faults.batches[m->group % BATCHES];
    compare_clocks(m->time, m->id);
    if (batch->m.group != m->group) {
        send_batch(batch);
        *batch = (struct fault_batch){*m, m->id, m->id};
        batch->m.kind = RECORD_FAULT;
        batch->m.flags &= 0xff;
        batch->m.id = batch->m.extra = batch->m.bytes = 0;
    }
    batch->begin_ns = m->id < batch->begin_ns ? m->id : batch->begin_ns;
    batch->end_ns = m->id > batch->end_ns ? m->id : batch->end_ns;
    batch->m.bytes++;
}

/* A batch lasts until its replay. */
static void end_batch(const struct record_pipe_message *replay)
{
    struct fault_batch *batch = &faults.batches[replay->group % BATCHES];
    const uint64_t before = faults.replayed_ns;
    faults.replayed_ns = replay->id > before ? replay->id : before;
    if (batch->m.group != replay->group)
        return;
    batch->begin_ns = before > batch->begin_ns && before < replay->id ? before : batch->begin_ns;
    batch->end_ns = replay->id > batch->end_ns ? replay->id : batch->end_ns;
    send_batch(batch);
}

/* Fill *m; false: it makes no record. */
static bool take(const struct uvm_tools_event *e, struct record_pipe_message *m)
{
    switch (e->type) {
    case UVM_TOOLS_GPU_FAULT:
        *m = message(RECORD_FAULT_ENTRY, e);
        to_batch(m);
        return true;
    case UVM_TOOLS_REPLAY:
        *m = message(RECORD_REPLAY, e);
        end_batch(m);
        return true;
    case UVM_TOOLS_EVICTION:
        *m = message(RECORD_EVICT, e);
        m->id = e->cause;
        return true;
    case UVM_TOOLS_MIGRATION:
        if ((e->src == 0) != (e->dst == 0))
            await(e);
        return false;
    case UVM_TOOLS_CPU_FAULT:
        *m = message(RECORD_CPU_FAULT, e);
        m->flags = e->access;
        m->id = e->cause;
        return true;
    case UVM_TOOLS_OVERFLOW:
        faults.overflows++;
        return false;
    default:
        return false;
    }
}

/* Nothing more is read of a queue that is not as it should be. */
static void give_up(void)
{
    atomic_store(&faults.on, false);
    send_batches();
    inject_count(RECORD_PIPE_DROP, "an entry of the driver's queue that is not as specified", 1);
    inject_problem(RECORD_PIPE_WARNING,
                   "the driver's event queue is not as specified: of faults only what CUPTI reports "
                   "from there on");
}

static void read_entries(uint32_t from, uint32_t to)
{
    struct record_pipe_message batch[BATCH];
    size_t n = 0;
    const uint64_t now = (uint64_t)clock_ns(CLOCK_MONOTONIC_RAW);
    const size_t bytes = faults.v2 ? UVM_TOOLS_V2_BYTES : UVM_TOOLS_V1_BYTES;
    for (uint32_t at = from; at != to && atomic_load(&faults.on); at = (at + 1) % ENTRIES) {
        const struct uvm_tools_event e = uvm_tools_read(faults.queue + at * bytes, faults.v2);
        if (!uvm_tools_believable(&e, now)) {
            give_up();
        } else if (take(&e, &batch[n]) && ++n == BATCH) {
            inject_put(batch, n);
            n = 0;
        }
    }
    inject_put(batch, n);
}

/* What found no room, by type. */
static void report_dropped(void)
{
    static const char *const types[UVM_TOOLS_TYPES] = {[UVM_TOOLS_CPU_FAULT] = "CPU faults",
                                                       [UVM_TOOLS_MIGRATION] = "migrations",
                                                       [UVM_TOOLS_GPU_FAULT] = "GPU faults",
                                                       [UVM_TOOLS_REPLAY] = "replays",
                                                       [UVM_TOOLS_EVICTION] = "evictions"};
    for (size_t i = 0; i < UVM_TOOLS_TYPES; i++) {
        char reason[80];
        const uint64_t dropped = __atomic_load_n(&faults.control->dropped[i], __ATOMIC_RELAXED);
        (void)snprintf(reason, sizeof reason, "%s that the driver's queue had no room for",
                       types[i] ? types[i] : "other events");
        inject_count(RECORD_PIPE_DROP, reason, dropped - faults.reported[i]);
        faults.reported[i] = dropped;
    }
}

/* Read what is there; the lock is held. False: nothing was. */
static bool drain(void)
{
    if (!atomic_load(&faults.open) || !inject_faults_on())
        return true;
    struct uvm_tools_control *c = faults.control;
    const uint32_t from = c->get_behind % ENTRIES, to = __atomic_load_n(&c->put_behind, __ATOMIC_ACQUIRE) % ENTRIES;
    if (from == to)
        return false;
    __atomic_store_n(&c->get_ahead, to, __ATOMIC_RELEASE);
    read_entries(from, to);
    __atomic_store_n(&c->get_behind, to, __ATOMIC_RELEASE);
    return true;
}

/* The clocks drift: adjusted between bursts only, and CUPTI is not called with the lock, since it calls us. */
void inject_faults_drain(void)
{
    pthread_mutex_lock(&faults.lock);
    const bool look = !drain() && ++faults.idle % IDLE_LOOKS == 0;
    pthread_mutex_unlock(&faults.lock);
    if (!look)
        return;
    const int64_t offset = clock_offset(), shift = offset - faults.offset_ns;
    pthread_mutex_lock(&faults.lock);
    faults.offset_ns = llabs(shift) > SHIFT_NS ? offset : faults.offset_ns;
    pthread_mutex_unlock(&faults.lock);
}

void inject_faults_stop(void)
{
    if (!atomic_load(&faults.open))
        return;
    struct uvm_tools_events events = {.flags = UVM_TOOLS_WANTED};
    uint32_t status = UINT32_MAX;
    const bool ours = names(faults.tools, UVM_TOOLS_DEVICE);
    if (names(faults.uvm, UVM_TOOLS_UVM))
        (void)ioctl(faults.uvm, UVM_TOOLS_FLUSH, &status);
    if (ours)
        (void)ioctl(faults.tools, UVM_TOOLS_DISABLE, &events);
    inject_faults_drain();
    pthread_mutex_lock(&faults.lock);
    send_batches();
    report_dropped();
    inject_count(RECORD_PIPE_DROP, "faults after the program closed our descriptor of the driver's queue", !ours);
    atomic_store(&faults.open, false);
    if (ours)
        close(faults.tools);
    pthread_mutex_unlock(&faults.lock);
    inject_fact_number("fault_buffer_overflows", (int64_t)faults.overflows);
}

void inject_faults_forget(void)
{
    atomic_store(&faults.open, false);
}
