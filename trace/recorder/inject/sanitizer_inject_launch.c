#include <dlfcn.h>
#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/recorder/inject/sanitizer_inject.h"

/* --- which kernels --- */

/* The C++ runtime's own, from the program or from libstdc++; without either only mangled names are matched. */
typedef char *(*demangle_function)(const char *name, char *out, size_t *bytes, int *status);

static struct {
    bool all;
    regex_t regex;
    demangle_function demangle;
} choice = {.all = true};

static demangle_function find_demangle(void)
{
    void *p = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    if (!p) {
        void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
        p = library ? dlsym(library, "__cxa_demangle") : NULL;
    }
    demangle_function f;
    memcpy(&f, &p, sizeof f);
    return f;
}

bool sanitizer_choose(const char *regex)
{
    if (!regex || !*regex)
        return true;
    if (regcomp(&choice.regex, regex, REG_EXTENDED | REG_NOSUB)) {
        inject_problem(RECORD_PIPE_FATAL, "'%.200s' is not a regular expression", regex);
        return false;
    }
    choice.all = false;
    choice.demangle = find_demangle();
    return true;
}

bool sanitizer_chosen(const char *name)
{
    if (choice.all)
        return true;
    if (!name)
        return false;
    if (regexec(&choice.regex, name, 0, NULL, 0) == 0)
        return true;
    int status = -1;
    char *plain = choice.demangle ? choice.demangle(name, NULL, NULL, &status) : NULL;
    bool chosen = plain && status == 0 && regexec(&choice.regex, plain, 0, NULL, 0) == 0;
    free(plain);
    return chosen;
}

/* --- launches --- */

enum { STREAMS = 1024 };

/* Reasons in table dropped. */
static const char past_limit[] = "warp accesses past --limit",
                  past_ring[] = "warp accesses for which the ring had no room in time",
                  not_over[] = "kernel launches that had not come back when the program ended",
                  past_table[] = "touches of pages for whose blocks the table on the device had no room",
                  not_sampled[] = "thread blocks that --every left out",
                  not_recorded[] = "kernel launches that could not be recorded",
                  not_sent[] = "kernel launches that were over while another one ran on for too long",
                  not_read[] = "kernel launches whose accesses could not be read back",
                  not_chosen[] = "kernel launches not chosen by --kernel";

static struct {
    struct san_api api;
    pthread_mutex_t lock; /* of what follows */
    uint64_t limit, left, every;
    bool touches;
    const void *streams[STREAMS];
    uint32_t stream_count;
    uint64_t cost;          /* accesses past the limit */
    uint64_t uncounted;     /* of them, those that came out of rings and are not yet counted as dropped */
    uint64_t taken, passed; /* launches, chosen and not */
    char first_passed[200]; /* name of a kernel */
} launches = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Of the launch that this thread has begun. */
static _Thread_local struct sanitizer_ring *mine;

void sanitizer_launch_start(const struct san_api *api, const struct sanitizer_wish *wish)
{
    launches.api = *api;
    launches.limit = launches.left = wish->touches ? UINT64_MAX : wish->limit;
    launches.every = wish->every;
    launches.touches = wish->touches;
    sanitizer_send_start(wish->turn_ms);
    sanitizer_ring_start(&launches.api, wish);
}

static uint32_t stream_number(const void *stream)
{
    uint32_t i = 0;
    while (i < launches.stream_count && launches.streams[i] != stream)
        i++;
    if (i == launches.stream_count && i < STREAMS)
        launches.streams[launches.stream_count++] = stream;
    return i;
}

/* --- a launch begins --- */

/* An access out of a ring. */
static void take_slot(const struct access_slot *slot)
{
    pthread_mutex_lock(&launches.lock);
    const bool kept = launches.left > 0;
    launches.left -= kept;
    launches.cost += !kept;
    launches.uncounted += !kept;
    pthread_mutex_unlock(&launches.lock);
    if (kept)
        sanitizer_send_slot(slot);
}

static struct record_pipe_message launch_message(const struct san_launch *l, uint32_t stream)
{
    struct record_pipe_message m = {
        .type = RECORD_PIPE_LAUNCH, .kind = stream, .id = inject_text(l->name ? l->name : "?")};
    m.flags = (uint32_t)l->device;
    m.addr = l->grid[0] | (uint64_t)(l->grid[1] & UINT16_MAX) << 32 | (uint64_t)(l->grid[2] & UINT16_MAX) << 48;
    m.bytes = (l->block[0] & UINT16_MAX) | (uint64_t)(l->block[1] & UINT16_MAX) << 16 |
              (uint64_t)(l->block[2] & UINT16_MAX) << 32;
    return m;
}

/* Blocks of a launch that the sample leaves out: all but those whose number + phase is a multiple of `every`. */
static uint64_t left_out(const struct san_launch *l, uint64_t phase)
{
    uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2], every = launches.every;
    if (every < 2 || launches.touches)
        return 0;
    uint64_t first = (every - phase % every) % every;
    return blocks - (blocks > first ? (blocks - first - 1) / every + 1 : 0);
}

static bool choose(const struct san_launch *l)
{
    bool chosen = sanitizer_chosen(l->name);
    pthread_mutex_lock(&launches.lock);
    launches.taken += chosen;
    if (!chosen && launches.passed++ == 0 && l->name)
        (void)snprintf(launches.first_passed, sizeof launches.first_passed, "%s", l->name);
    pthread_mutex_unlock(&launches.lock);
    return chosen;
}

/* A ring for the launch; NULL: it cannot be recorded. Launches that overlap may all get what is left of the limit: the
 * first accesses to arrive keep it. */
static struct sanitizer_ring *prepare(const struct san_launch *l)
{
    pthread_mutex_lock(&launches.lock);
    const struct record_pipe_message message = launch_message(l, stream_number(l->stream_handle));
    const uint64_t left = launches.left, phase = launches.taken;
    pthread_mutex_unlock(&launches.lock);
    struct sanitizer_ring *ring = sanitizer_ring_begin(l, left, phase, &message, take_slot);
    inject_count(RECORD_PIPE_DROP, not_sampled, ring ? left_out(l, phase) : 0);
    return ring;
}

void sanitizer_launch_begin(const struct san_launch *l)
{
    if (mine) /* the launch before has had no end */
        sanitizer_ring_give_back(mine);
    const bool chosen = choose(l);
    mine = chosen ? prepare(l) : NULL;
    if (mine)
        return;
    (void)launches.api.set_launch_callback_data(l->launch, l->function, l->stream_handle, NULL);
    inject_count(chosen ? RECORD_PIPE_DROP : RECORD_PIPE_SKIP, chosen ? not_recorded : not_chosen, 1);
}

/* --- a launch ends --- */

void sanitizer_launch_end(const struct san_launch *l)
{
    if (!mine)
        return;
    const struct sanitizer_ring_totals totals = sanitizer_ring_end(mine, l);
    mine = NULL;
    const uint64_t past = totals.taken > totals.capacity ? totals.taken - totals.capacity : 0;
    pthread_mutex_lock(&launches.lock);
    launches.cost += past;
    const uint64_t cost = past + launches.uncounted; /* or another launch's */
    launches.uncounted = 0;
    pthread_mutex_unlock(&launches.lock);
    inject_count(RECORD_PIPE_DROP, not_sent, !totals.sent);
    inject_count(RECORD_PIPE_DROP, past_limit, cost);
    inject_count(RECORD_PIPE_DROP, past_ring, totals.lost);
    inject_count(RECORD_PIPE_DROP, past_table, totals.full);
    inject_count(RECORD_PIPE_DROP, not_read, !totals.read);
    (void)inject_outbox_send(0);
}

void sanitizer_launch_finish(void)
{
    uint64_t busy = sanitizer_ring_finish();
    pthread_mutex_lock(&launches.lock);
    uint64_t limit = launches.limit, cost = launches.cost, passed = launches.taken ? 0 : launches.passed;
    pthread_mutex_unlock(&launches.lock);
    inject_count(RECORD_PIPE_DROP, not_over, busy);
    if (passed)
        inject_problem(RECORD_PIPE_WARNING,
                       "none of the %llu kernel launches is of a kernel that --kernel matches; the "
                       "first was of %s",
                       (unsigned long long)passed, launches.first_passed);
    if (cost)
        inject_problem(RECORD_PIPE_WARNING,
                       "the limit of %llu warp accesses was reached: %llu more were counted and not kept (--limit N "
                       "records more, --kernel REGEX fewer kernels)",
                       (unsigned long long)limit, (unsigned long long)cost);
}
