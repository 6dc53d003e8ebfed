#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "trace/base/clock.h"
#include "trace/recorder/inject/cupti_inject.h"
#include "trace/recorder/wire/cupti_metrics.h"

/* Launches whose values are kept before they are decoded and sent: at most LAUNCHES, and as many as CUPTI finds room
 * for in DATA_BYTES. So memory is bounded. They are sent after a second at the latest, and where the program waits for
 * the GPU, unless that would take more than one part in COST_SHARE of the time: a killed program loses what came since.
 * A launch waits TURN_S at most for those of other threads: so each is known by its kernel's name. */
enum { LAUNCHES = 1024, DATA_BYTES = 64 << 20, COST_SHARE = 10, TURN_S = 10 };
static const int64_t SECOND_NS = 1000000000;

/* PAUSED: the profiler is there, and touches nothing of the program's. */
enum state { ASLEEP, WANTED, RUNNING, PAUSED, OVER };

/* One context is counted, the first that launches a kernel. lock is of everything; none of it is held while the program
 * runs its kernel. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t turn; /* a launch call has ended */
    enum state state;
    void *library;
    const struct abi_cupti *cupti;
    const char *group;
    struct abi_profiler call;
    struct abi_host host;
    struct cupti_metrics metrics;
    abi_context context;
    void *profiler;
    uint8_t *data;
    size_t data_bytes, room; /* room: launches that fit */
    struct counted {
        uint64_t name, number; /* text of the kernel's name; which launch of a chosen kernel it is, from 0 */
    } * launches;              /* in order */
    size_t launch_count;       /* since the last decoding */
    size_t under_way;          /* launch calls begun and not ended */
    bool overlapped;           /* several threads launched at once: their order is not known */
    uint64_t elsewhere;        /* launches in other contexts */
    uint64_t passed;           /* launches that were not chosen */
    uint64_t aside;            /* launches while a stream captured a graph */
    uint64_t graphs;           /* launches of CUDA graphs */
    unsigned captures;         /* captures of streams under way */
    uint64_t number;           /* of the next launch of a chosen kernel */
    int64_t every, first, last;
    int64_t decoded_ns, cost_ns; /* when the values were last sent, and what that took */
    time_t since;                /* when the oldest launch call under way began; 0: none is */
} counting = {.lock = PTHREAD_MUTEX_INITIALIZER, .turn = PTHREAD_COND_INITIALIZER};

/* CUPTI's own work may call us back in the same thread. */
static _Thread_local bool inside;
/* This thread's launch call has its turn; it is counted, under this name and number. */
static _Thread_local bool begun, chosen;
static _Thread_local struct counted current;

static const char *load(struct abi_profiler *call, void *library)
{
    const struct inject_symbol symbols[] = {
        {"cuptiProfilerInitialize", &call->initialize, true},
        {"cuptiDeviceGetChipName", &call->chip_name, true},
        {"cuptiRangeProfilerEnable", &call->enable, true},
        {"cuptiRangeProfilerDisable", &call->disable, true},
        {"cuptiRangeProfilerStart", &call->start, true},
        {"cuptiRangeProfilerStop", &call->stop, true},
        {"cuptiRangeProfilerGetCounterDataSize", &call->data_size, true},
        {"cuptiRangeProfilerCounterDataImageInitialize", &call->data_initialize, true},
        {"cuptiRangeProfilerSetConfig", &call->config, true},
        {"cuptiRangeProfilerDecodeData", &call->decode, true},
        {"cuptiRangeProfilerGetCounterDataInfo", &call->info, true},
    };
    return inject_symbols(library, symbols, sizeof symbols / sizeof *symbols);
}

/* Report a step that failed; what to do where it is known. */
static bool step(const char *what, abi_result result)
{
    if (result == ABI_SUCCESS)
        return true;
    inject_problem(RECORD_PIPE_WARNING, "no counters: %s: %s (%u)%s", what, inject_result(counting.cupti, result),
                   result,
                   result == ABI_INSUFFICIENT_PRIVILEGES || result == ABI_VIRTUALIZED_PRIVILEGES
                       ? "; counters are for administrators here (ERR_NVGPUCTRPERM): the driver's option "
                         "NVreg_RestrictProfilingToAdminUsers=0 opens them, or record as root"
                   : result == ABI_MULTIPLE_SUBSCRIBERS ? "; another tool profiles this program"
                                                        : "");
    return false;
}

static void left_out(void *context, const char *counter, const char *why)
{
    inject_problem(RECORD_PIPE_WARNING,
                   "%s is not counted on %s: %s (other groups: --counter-group " CUPTI_METRICS_GROUPS ")", counter,
                   (const char *)context, why);
}

/* Choose the metrics for the context's chip. */
static bool choose(abi_context context)
{
    struct err err;
    uint32_t device = 0;
    (void)counting.cupti->get_device_id(context, &device);
    struct abi_profiler_initialize i = {.size = ABI_PROFILER_SIZE(struct abi_profiler_initialize, unused)};
    struct abi_chip_name n = {.size = ABI_PROFILER_SIZE(struct abi_chip_name, chip), .device = device};
    if (!step("the profiler does not start", counting.call.initialize(&i)) ||
        !step("the chip is not known", counting.call.chip_name(&n)))
        return false;
    inject_fact("chip", n.chip);
    if (cupti_metrics_init(&counting.metrics, &counting.host, n.chip, counting.group, left_out,
                           (void *)(uintptr_t)n.chip, &err)) {
        inject_problem(RECORD_PIPE_WARNING, "no counters: %s", err.msg);
        return false;
    }
    inject_fact("counter_group", counting.group);
    for (size_t m = 0; m < counting.metrics.count; m++)
        inject_fact(counting.metrics.stored[m], counting.metrics.names[m]);
    return true;
}

/* Room for the values: as many launches as fit, at least one. */
static bool make_data(void)
{
    struct abi_range_data_size s = {.size = ABI_PROFILER_SIZE(struct abi_range_data_size, bytes),
                                    .profiler = counting.profiler,
                                    .names = counting.metrics.names,
                                    .count = counting.metrics.count};
    for (counting.room = LAUNCHES;; counting.room /= 2) {
        s.max_ranges = counting.room;
        s.max_nodes = (uint32_t)counting.room;
        if (!step("no room for the values", counting.call.data_size(&s)))
            return false;
        if (s.bytes <= DATA_BYTES || counting.room == 1)
            break;
    }
    counting.data_bytes = s.bytes;
    counting.data = calloc(1, s.bytes + 1);
    counting.launches = calloc(counting.room, sizeof *counting.launches);
    return step("no room for the values", counting.data && counting.launches ? ABI_SUCCESS : ABI_OUT_OF_MEMORY);
}

/* Begin to count with an empty data image. Automatic ranges are the kernels, one after the other. There is one pass, so
 * nobody replays: CUPTI's own replay would keep and bring back the GPU's memory around each (12 ms a launch). */
static bool begin(void)
{
    struct abi_range_data_initialize i = {.size = ABI_PROFILER_SIZE(struct abi_range_data_initialize, data),
                                          .profiler = counting.profiler,
                                          .bytes = counting.data_bytes,
                                          .data = counting.data};
    struct abi_range_config c = {.size = ABI_PROFILER_SIZE(struct abi_range_config, target_nesting),
                                 .profiler = counting.profiler,
                                 .config_bytes = counting.metrics.config_bytes,
                                 .config = counting.metrics.config,
                                 .data_bytes = counting.data_bytes,
                                 .data = counting.data,
                                 .range_mode = ABI_RANGE_AUTO,
                                 .replay_mode = ABI_REPLAY_USER,
                                 .max_ranges_per_pass = counting.room,
                                 .nesting_levels = 1,
                                 .min_nesting = 1,
                                 .target_nesting = 1};
    struct abi_range_object o = {.size = ABI_PROFILER_SIZE(struct abi_range_object, profiler),
                                 .profiler = counting.profiler};
    return step("no room for the values", counting.call.data_initialize(&i)) &&
           step("the profiler takes no configuration", counting.call.config(&c)) &&
           step("the profiler does not start", counting.call.start(&o));
}

static void send_values(size_t range, struct counted launch)
{
    double values[CUPTI_METRICS] = {0};
    if (cupti_metrics_values(&counting.metrics, counting.data, counting.data_bytes, range, values) != ABI_SUCCESS) {
        inject_count(RECORD_PIPE_DROP, "counter values of a launch could not be decoded", 1);
        return;
    }
    for (size_t i = 0; i < counting.metrics.count; i++) {
        struct record_pipe_message m = {.type = RECORD_PIPE_COUNTER, .id = inject_text(counting.metrics.stored[i])};
        m.group = (uint32_t)launch.number;
        m.addr = launch.name;
        m.extra = inject_text(counting.metrics.names[i]);
        memcpy(&m.bytes, &values[i], sizeof values[i]);
        if (isfinite(values[i]) && values[i] >= 0)
            inject_put(&m, 1);
        else
            inject_count(RECORD_PIPE_DROP, "counter values that CUPTI could not give", 1);
    }
}

/* Stop counting, and send what was counted. Names go with values only if there is one range for each launch and their
 * order is known. */
static bool end(void)
{
    struct abi_range_stop s = {.size = ABI_PROFILER_SIZE(struct abi_range_stop, all_submitted),
                               .profiler = counting.profiler};
    struct abi_range_decode d = {.size = ABI_PROFILER_SIZE(struct abi_range_decode, dropped),
                                 .profiler = counting.profiler};
    struct abi_range_info n = {.size = ABI_PROFILER_SIZE(struct abi_range_info, ranges)};
    if (!step("the profiler does not stop", counting.call.stop(&s))) {
        counting.data = NULL; /* it may still write there: never freed */
        return false;
    }
    if (!step("the values cannot be decoded", counting.call.decode(&d)))
        return false;
    n.data = counting.data;
    n.data_bytes = counting.data_bytes;
    if (!step("the values cannot be read", counting.call.info(&n)))
        return false;
    size_t given = n.ranges + d.dropped;
    bool named = given == counting.launch_count && !counting.overlapped;
    if (!named && given > 0)
        inject_problem(RECORD_PIPE_WARNING,
                       "counters without kernel names: CUPTI counted %zu launches, the program made %zu%s", given,
                       counting.launch_count, counting.overlapped ? " from several threads at once" : "");
    if (given < counting.launch_count)
        inject_count(RECORD_PIPE_DROP, "launches that CUPTI did not count", counting.launch_count - given);
    inject_count(RECORD_PIPE_DROP, "launches over the profiler's limit", d.dropped);
    for (size_t r = 0; r < n.ranges; r++)
        send_values(r, named ? counting.launches[r] : (struct counted){0, counting.launches[0].number + r});
    counting.launch_count = 0;
    counting.overlapped = false;
    return true;
}

static void release(void)
{
    struct abi_range_object o = {.size = ABI_PROFILER_SIZE(struct abi_range_object, profiler),
                                 .profiler = counting.profiler};
    if (counting.profiler)
        (void)counting.call.disable(&o);
    counting.profiler = NULL;
    cupti_metrics_release(&counting.metrics);
    free(counting.data);
    free(counting.launches);
    counting.data = NULL;
    counting.launches = NULL;
    counting.state = OVER;
}

/* Count no more for now; the lock is held. No launch call of another thread may be under way, if that can be had. */
static void pause_counting(void)
{
    const int64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
    if (counting.state != RUNNING)
        return;
    counting.state = PAUSED;
    if (!end())
        release();
    counting.decoded_ns = clock_ns(CLOCK_MONOTONIC);
    counting.cost_ns = counting.decoded_ns - begin_ns;
}

/* Count, from the next launch on; the lock is held. */
static void resume_counting(void)
{
    const int64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
    if (counting.state != PAUSED)
        return;
    counting.state = RUNNING;
    if (!begin())
        release();
    counting.cost_ns += clock_ns(CLOCK_MONOTONIC) - begin_ns;
}

static void start(abi_context context)
{
    const char *missing = cupti_metrics_load(&counting.host, counting.library);
    counting.state = OVER;
    if (!missing)
        missing = load(&counting.call, counting.library);
    if (missing) {
        inject_problem(RECORD_PIPE_WARNING,
                       "no counters: this CUPTI has no %s; the range profiler needs CUDA 12.6 or later", missing);
        return;
    }
    if (!choose(context))
        return;
    struct abi_range_enable e = {.size = ABI_PROFILER_SIZE(struct abi_range_enable, profiler), .context = context};
    bool enabled = step("the profiler does not start", counting.call.enable(&e));
    counting.profiler = enabled ? e.profiler : NULL;
    counting.context = context;
    counting.decoded_ns = clock_ns(CLOCK_MONOTONIC);
    if (enabled && make_data() && begin())
        counting.state = RUNNING;
    else
        release();
}

void inject_counters_want(void *library, const struct abi_cupti *cupti, const char *group)
{
    counting.library = library;
    counting.cupti = cupti;
    counting.group = group;
    counting.every = inject_env(RECORD_PIPE_EVERY, 1, INT32_MAX, 1);
    const char *launches = getenv(RECORD_PIPE_LAUNCHES), *dots = launches ? strstr(launches, "..") : NULL;
    counting.first = dots ? strtoll(launches, NULL, 10) : 0;
    counting.last = dots ? strtoll(dots + 2, NULL, 10) : INT64_MAX;
    counting.state = WANTED;
}

static time_t now_s(void)
{
    return clock_ns(CLOCK_MONOTONIC_COARSE) / SECOND_NS;
}

int64_t inject_counters_waits_s(void)
{
    pthread_mutex_lock(&counting.lock);
    int64_t waits = counting.since ? now_s() - counting.since : 0;
    pthread_mutex_unlock(&counting.lock);
    return waits;
}

/* Wait until no launch call of another thread is under way, or long enough; the lock is held. */
static void take_turn(void)
{
    const struct timespec until = clock_after(CLOCK_REALTIME, TURN_S * SECOND_NS);
    while (counting.under_way > 0 && pthread_cond_timedwait(&counting.turn, &counting.lock, &until) == 0)
        ;
}

/* Whether the launch is to be counted; if its kernel is chosen, it has a number. */
static bool choose_launch(const char *kernel)
{
    if (!inject_is_chosen(kernel))
        return false;
    current.number = counting.number++;
    const int64_t n = (int64_t)current.number;
    return n >= counting.first && n <= counting.last && (n - counting.first) % counting.every == 0;
}

/* The launch has its turn: have the profiler run or not, as it wants it. */
static void begin_launch(const char *kernel)
{
    chosen = choose_launch(kernel);
    counting.passed += !chosen;
    if (counting.under_way == 0 &&
        (!chosen || counting.launch_count >= counting.room ||
         (counting.launch_count && clock_ns(CLOCK_MONOTONIC) - counting.decoded_ns > SECOND_NS)))
        pause_counting();
    if (chosen && counting.under_way == 0)
        resume_counting();
    begun = counting.state == RUNNING || counting.state == PAUSED;
    chosen &= counting.state == RUNNING;
    /* The name may be gone when the launch is over: its module may be unloaded meanwhile. */
    current.name = chosen ? inject_text(kernel) : 0;
    counting.overlapped |= counting.under_way > 0;
    counting.under_way += begun;
    if (begun && counting.under_way == 1)
        counting.since = now_s();
}

void inject_counters_launch_begins(abi_context context, const char *kernel, void *stream)
{
    if (inside)
        return;
    pthread_mutex_lock(&counting.lock);
    inside = true;
    begun = false;
    if (counting.captures > 0 && counting.state != ASLEEP && counting.state != OVER)
        counting.aside += !inject_stream_captures(stream);
    else if (counting.state == WANTED)
        start(context);
    if (counting.captures == 0 && (counting.state == RUNNING || counting.state == PAUSED)) {
        if (counting.context == context) {
            take_turn();
            begin_launch(kernel);
        } else
            counting.elsewhere++;
    }
    inside = false;
    pthread_mutex_unlock(&counting.lock);
}

void inject_counters_launch_ends(bool succeeded)
{
    if (inside || !begun)
        return;
    pthread_mutex_lock(&counting.lock);
    begun = false;
    counting.under_way--;
    counting.since = counting.under_way ? now_s() : 0;
    if (succeeded && chosen && counting.state == RUNNING) {
        if (counting.launch_count < counting.room)
            counting.launches[counting.launch_count] = current;
        counting.launch_count++;
    }
    (void)pthread_cond_signal(&counting.turn);
    pthread_mutex_unlock(&counting.lock);
}

/* The profiler is to be off for what comes next; the lock is held. */
static void stand_aside(void)
{
    if (counting.state != RUNNING)
        return;
    take_turn();
    pause_counting();
}

void inject_counters_graph(void)
{
    if (inside)
        return;
    pthread_mutex_lock(&counting.lock);
    inside = true;
    stand_aside();
    counting.graphs += counting.state != ASLEEP && counting.state != OVER;
    inside = false;
    pthread_mutex_unlock(&counting.lock);
}

void inject_counters_capture(bool begins)
{
    if (inside)
        return;
    pthread_mutex_lock(&counting.lock);
    inside = true;
    if (begins && counting.captures++ == 0)
        stand_aside();
    counting.captures -= !begins && counting.captures > 0;
    inside = false;
    pthread_mutex_unlock(&counting.lock);
}

void inject_counters_synced(void)
{
    if (inside)
        return;
    pthread_mutex_lock(&counting.lock);
    inside = true;
    if (counting.state == RUNNING && counting.captures == 0 && counting.under_way == 0 && counting.launch_count > 0 &&
        clock_ns(CLOCK_MONOTONIC) - counting.decoded_ns > COST_SHARE * counting.cost_ns)
        pause_counting();
    inside = false;
    pthread_mutex_unlock(&counting.lock);
}

void inject_counters_finish(abi_context context)
{
    if (inside)
        return;
    pthread_mutex_lock(&counting.lock);
    inside = true;
    if ((counting.state == RUNNING || counting.state == PAUSED) && (!context || context == counting.context)) {
        pause_counting();
        release();
        inject_count(RECORD_PIPE_DROP, "launches in other contexts than the counted one", counting.elsewhere);
        inject_count(RECORD_PIPE_DROP, "launches while a stream captured a CUDA graph, which are not counted",
                     counting.aside);
        inject_count(RECORD_PIPE_DROP, "launches of CUDA graphs, which are not counted", counting.graphs);
        inject_count(RECORD_PIPE_SKIP, "kernel launches not chosen by --kernel, --every or --launches",
                     counting.passed);
    }
    inside = false;
    pthread_mutex_unlock(&counting.lock);
}
