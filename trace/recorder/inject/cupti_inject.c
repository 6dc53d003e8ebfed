#include "trace/recorder/inject/cupti_inject.h"

#include <dirent.h>
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/clock.h"

/* Flushing every 0.2 to 5 ms loses nothing (measured: H200, driver 580.159.04, 256 MiB recordings). */
enum {
    FLUSH_US = 1000,
    MAX_BYTES = 256 << 20,
    STUCK_S = 30,
    FINAL_WAIT_MS = 1000,
    SIGNAL_WAIT_MS = 500,
    HELPER_WAIT_S = 2,
    GAP = 10,       /* times FLUSH_US: a flush that is late */
    COST_SHARE = 10 /* flushes in the program's own threads take a tenth of its time at most */
};
enum { LOOK_US = 100000 }; /* between looks at the other threads */

enum ask { ASK_NONE, ASK_DRAIN, ASK_END };

static struct {
    struct abi_cupti cupti;
    void *library, *subscriber;
    bool want_unified_memory, want_counters, want_faults, want_time, planned;
    pid_t owner;
    long flush_us, stuck_s;
    pthread_t helper;
    bool helper_runs;
    sem_t wake;
    atomic_int ask;           /* enum ask, to the helper */
    atomic_bool drained;      /* ASK_DRAIN is done */
    atomic_bool ended;        /* at exit: leave everything alone */
    atomic_bool stepped_back; /* the program has CUPTI for itself */
    atomic_int contexts;      /* that exist */
    atomic_bool pending;      /* unified memory is still to be enabled */
    atomic_bool device_facts_wanted;
    atomic_int_least64_t flushed_ns, flush_cost_ns; /* when CUPTI was last asked for all it has, and what that took */
    atomic_int_least64_t gaps, longest_gap_ns;      /* between flushes, of more than GAP times the usual */
} inject;

/* CUPTI's buffers fill while nobody flushes: gaps are counted. how: 1 waits for buffers that are being written. */
static void flush(uint32_t how)
{
    const int64_t begin = clock_ns(CLOCK_MONOTONIC), gap = begin - atomic_load(&inject.flushed_ns);
    if (atomic_load(&inject.flushed_ns) && gap > 1000L * GAP * inject.flush_us) {
        atomic_fetch_add(&inject.gaps, 1);
        if (gap > atomic_load(&inject.longest_gap_ns))
            atomic_store(&inject.longest_gap_ns, gap);
    }
    inject_faults_drain();
    if (!inject.want_time) /* there is nothing, and this takes a lock of CUPTI's */
        (void)inject.cupti.activity_flush_all(how);
    atomic_store(&inject.flushed_ns, clock_ns(CLOCK_MONOTONIC));
    atomic_store(&inject.flush_cost_ns, clock_ns(CLOCK_MONOTONIC) - begin);
}

void inject_synced(void)
{
    inject_counters_synced();
    if (clock_ns(CLOCK_MONOTONIC) - atomic_load(&inject.flushed_ns) < COST_SHARE * atomic_load(&inject.flush_cost_ns))
        return;
    flush(0);
    (void)inject_outbox_send(0);
}

/* --- CUPTI --- */

static bool load_cupti(const char *path)
{
    static const char *const words[] = {"CUPTI",
                                        "install the CUDA toolkit's CUPTI, or name the library in OFFCHIP_CUPTI",
                                        "a CUPTI of CUDA 9 or later is needed"};
    struct abi_cupti *cupti = &inject.cupti;
    const struct inject_symbol symbols[] = {
        {"cuptiGetVersion", &cupti->get_version, true},
        {"cuptiGetResultString", &cupti->get_result_string, true},
        {"cuptiGetTimestamp", &cupti->get_timestamp, true},
        {"cuptiGetDeviceId", &cupti->get_device_id, true},
        {"cuptiSubscribe", &cupti->subscribe, true},
        {"cuptiUnsubscribe", &cupti->unsubscribe, true},
        {"cuptiEnableCallback", &cupti->enable_callback, true},
        {"cuptiActivityRegisterCallbacks", &cupti->activity_register_callbacks, true},
        {"cuptiActivityEnable", &cupti->activity_enable, true},
        {"cuptiActivityDisable", &cupti->activity_disable, false},
        {"cuptiActivityFlushAll", &cupti->activity_flush_all, true},
        {"cuptiActivityGetNextRecord", &cupti->activity_get_next_record, true},
        {"cuptiActivityGetNumDroppedRecords", &cupti->activity_get_dropped, true},
        {"cuptiActivityConfigureUnifiedMemoryCounter", &cupti->activity_configure_um, false},
    };
    return inject_load(&inject.library, path && *path ? path : "libcupti.so", symbols, sizeof symbols / sizeof *symbols,
                       words);
}

const char *inject_result(const struct abi_cupti *cupti, abi_result result)
{
    const char *text = NULL;
    if (cupti->get_result_string(result, &text) != ABI_SUCCESS || !text)
        return "unknown CUPTI error";
    return text;
}

/* --- callbacks --- */

/* The counters are the process's: they are configured with its first context, for all its devices, and again when
 * there was none in between (cudaDeviceReset()). */
static void context_created(void)
{
    atomic_store(&inject.device_facts_wanted, true);
    if (atomic_fetch_add(&inject.contexts, 1) != 0 || !inject.want_unified_memory)
        return;
    inject.want_faults = inject.want_faults && inject_faults_start(&inject.cupti);
    if (!inject_activity_unified_memory(&inject.cupti, inject_device_count()))
        atomic_store(&inject.pending, true); /* too early even now: the helper tries again */
}

static void context_over(abi_context context)
{
    inject_counters_finish(context);
    flush(0);
    if (atomic_fetch_sub(&inject.contexts, 1) > 1)
        return;
    inject_faults_stop();
    atomic_store(&inject.pending, false);
}

static void callback(void *user, uint32_t domain, uint32_t id, const void *data)
{
    (void)user;
    if (atomic_load(&inject.ended) || atomic_load(&inject.stepped_back) || !data)
        return;
    if (domain != ABI_DOMAIN_RESOURCE) {
        inject_calls_callback(&inject.cupti, domain, id, data);
        return;
    }
    const struct abi_resource_data *resource = data;
    if (id == ABI_RESOURCE_CONTEXT_CREATED)
        context_created();
    else if (id == ABI_RESOURCE_CONTEXT_DESTROY && resource->context)
        context_over(resource->context);
}

/* The program begins to use CUPTI itself: it gets it. */
static void step_back(const char *call)
{
    if (getpid() != inject.owner || atomic_load(&inject.ended) || atomic_exchange(&inject.stepped_back, true))
        return;
    inject_counters_finish(NULL);
    inject_faults_stop();
    inject_activity_stop(&inject.cupti);
    (void)inject.cupti.unsubscribe(inject.subscriber);
    inject_count(RECORD_PIPE_DROP, "all that followed the program's own use of CUPTI", 1);
    inject_problem(RECORD_PIPE_WARNING,
                   "the program uses CUPTI itself (%s): the recording ends there, and the program goes on; switch its "
                   "own profiler off to record all of it",
                   call);
}

/* Once, some time after the first context. */
static void send_device_facts(void)
{
    static bool sent;
    if (!atomic_exchange(&inject.device_facts_wanted, false))
        return;
    if (!sent)
        inject_device_facts();
    sent = true;
}

/* With counters every launch waits for its kernel: one that itself waits for a later launch never comes back. */
static void watch_launch(void)
{
    static bool told;
    const int64_t waits = inject.want_counters ? inject_counters_waits_s() : 0;
    if (waits >= inject.stuck_s && !told)
        inject_problem(RECORD_PIPE_WARNING,
                       "a kernel has not come back for %lld s: with --counters kernels run one at a time, and one that "
                       "waits for a later one waits for ever",
                       (long long)waits);
    told = waits >= inject.stuck_s;
}

/* What is to be done outside the program's own threads. */
static void helper_turn(void)
{
    if (!atomic_load(&inject.stepped_back)) {
        inject_others_look();
        if (atomic_load(&inject.pending) && inject_activity_unified_memory(&inject.cupti, inject_device_count()))
            atomic_store(&inject.pending, false);
        flush(0);
    }
    send_device_facts();
    watch_launch();
    (void)inject_outbox_send(0);
}

static void last_records(void)
{
    if (atomic_load(&inject.stepped_back))
        return;
    flush(1);
    inject_activity_dropped(&inject.cupti);
}

/* Memory that the GPU reaches without any of the calls that we hear of. */
static void say_unseen(void)
{
    const char *how = inject_pageable_access();
    if (!*how || !inject.want_unified_memory)
        return;
    inject_fact("unseen", "what the GPU does with memory of malloc(), stacks and files, which it reaches by itself");
    if (inject_activity_um_records() == 0 && !inject_calls_managed())
        inject_problem(RECORD_PIPE_WARNING,
                       "no managed memory was used, but this GPU reaches all memory of the program by %s, and of that "
                       "CUPTI reports nothing: an empty recording does not say that nothing moved",
                       how);
}

/* A main thread that has ended by pthread_exit() leaves the process to its other threads, and it ends with the last of
 * them: which must not be ours. */
static bool only_we_are_left(void)
{
    char line[512] = "";
    int threads = 0;
    (void)snprintf(line, sizeof line, "/proc/self/task/%ld/stat", (long)inject.owner);
    FILE *f = fopen(line, "re");
    if (!f)
        return false;
    const char *state = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    (void)fclose(f);
    if (!state || strncmp(state, ") Z", 3) != 0)
        return false;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *e; tasks && (e = readdir(tasks));)
        threads += e->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return threads == 2; /* the dead one and this one */
}

static void *helper(void *unused)
{
    (void)unused;
    for (int64_t turn = 1;; turn++) {
        if (turn % (1 + LOOK_US / inject.flush_us) == 0 && only_we_are_left())
            return NULL; /* the last thread's end is the end of the program, at_exit() included */
        const struct timespec until = clock_after(CLOCK_REALTIME, inject.flush_us * 1000);
        (void)sem_timedwait(&inject.wake, &until);
        switch (atomic_load(&inject.ask)) {
        case ASK_END:
            return NULL;
        case ASK_DRAIN: /* the program dies of a signal: everything out, once */
            atomic_store(&inject.ask, ASK_NONE);
            last_records();
            (void)inject_outbox_send(SIGNAL_WAIT_MS);
            atomic_store(&inject.drained, true);
            break;
        default:
            helper_turn();
        }
    }
}

/* In order: the last records, what was lost, the end mark. */
static void at_exit(void)
{
    if (getpid() != inject.owner || atomic_exchange(&inject.ended, true))
        return;
    if (!atomic_load(&inject.stepped_back)) {
        inject_counters_finish(NULL);
        inject_faults_stop();
        flush(1);
    }
    if (inject.helper_runs && !pthread_equal(pthread_self(), inject.helper)) {
        atomic_store(&inject.ask, ASK_END);
        sem_post(&inject.wake);
        inject_join(inject.helper, HELPER_WAIT_S);
    }
    send_device_facts();
    if (atomic_load(&inject.gaps)) {
        inject_fact_number("flush_gaps", atomic_load(&inject.gaps));
        inject_fact_number("flush_gap_longest_us", atomic_load(&inject.longest_gap_ns) / 1000);
    }
    inject_plan_finish();
    inject_calls_finish();
    inject_faults_finish();
    say_unseen();
    if (!atomic_load(&inject.stepped_back))
        inject_activity_dropped(&inject.cupti);
    inject_outbox_goodbye(FINAL_WAIT_MS);
}

/* The program is about to die. The helper does the work, since nothing of it may run in a signal handler; this thread
 * waits for it a moment (the thread that crashed may hold a lock the helper needs) and lets the signal do its duty. */
static void on_fatal_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    int saved = errno;
    if (getpid() == inject.owner && !atomic_load(&inject.ended) && !pthread_equal(pthread_self(), inject.helper)) {
        atomic_store(&inject.ask, ASK_DRAIN);
        sem_post(&inject.wake);
        const struct timespec ms = {0, 1000000};
        for (int i = 0; i < SIGNAL_WAIT_MS && !atomic_load(&inject.drained); i++)
            nanosleep(&ms, NULL);
    }
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigaction(number, &standard, NULL);
    /* A fault happens again when we return; a signal that was sent must be sent again. */
    if (!info || info->si_code <= 0)
        raise(number);
    errno = saved;
}

static void signals_start(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGSYS, SIGTERM, SIGINT, SIGHUP, SIGQUIT};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction old, ours = {.sa_sigaction = on_fatal_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
        sigemptyset(&ours.sa_mask);
        if (sigaction(numbers[i], NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) && old.sa_handler == SIG_DFL)
            sigaction(numbers[i], &ours, NULL);
    }
}

static void in_child(void)
{
    atomic_store(&inject.ended, true);
    inject_faults_forget();
    inject_outbox_abandon();
}

static bool subscribe(void)
{
    abi_result result = inject.cupti.subscribe(&inject.subscriber, callback, NULL);
    if (result == ABI_MULTIPLE_SUBSCRIBERS) {
        inject_problem(
            RECORD_PIPE_FATAL,
            "another tool already uses CUPTI in this process (error 39; nsys, a framework's profiler or a "
            "debugger): run without it, or record with nsys (--export=sqlite, --cuda-um-gpu-page-faults=true, "
            "--cuda-um-cpu-page-faults=true) and use offchip import");
        return false;
    }
    if (result != ABI_SUCCESS) {
        inject_problem(RECORD_PIPE_FATAL, "CUPTI refused to start: %s (%u)", inject_result(&inject.cupti, result),
                       result);
        return false;
    }
    (void)inject.cupti.enable_callback(1, inject.subscriber, ABI_DOMAIN_RESOURCE, ABI_RESOURCE_CONTEXT_CREATED);
    (void)inject.cupti.enable_callback(1, inject.subscriber, ABI_DOMAIN_RESOURCE, ABI_RESOURCE_CONTEXT_DESTROY);
    if (inject_calls_enable(&inject.cupti, inject.subscriber, inject.want_counters || inject.planned, inject.want_time))
        inject_problem(RECORD_PIPE_WARNING, "allocations, advice and prefetches are not recorded: CUPTI offers no "
                                            "callbacks");
    return true;
}

void inject_start(void)
{
    uint32_t version = 0;
    size_t max_bytes = (size_t)inject_env(RECORD_PIPE_BUFFERS, 1 << 20, 1L << 40, MAX_BYTES);
    const char *path = getenv(RECORD_PIPE_SOCKET), *want = getenv(RECORD_PIPE_WANT);
    if (!path || inject_outbox_open(path, max_bytes / 2))
        return;
    inject.owner = getpid();
    inject.want_unified_memory = !want || strstr(want, "uvm");
    const char *group = want ? strstr(want, RECORD_PIPE_COUNTERS) : NULL;
    inject.want_counters = group != NULL;
    inject.want_faults = want && strstr(want, RECORD_PIPE_FAULTS);
    inject.want_time = want && strstr(want, RECORD_PIPE_TIME);
    inject.stuck_s = inject_env(RECORD_PIPE_STUCK_S, 1, 86400, STUCK_S);
    inject.flush_us = inject_env(RECORD_PIPE_FLUSH_US, 100, 1000000, FLUSH_US);
    bool loaded = load_cupti(secure_getenv(RECORD_PIPE_CUPTI));
    if (group && loaded && inject_choose_by(getenv(RECORD_PIPE_KERNELS)))
        inject_counters_want(inject.library, &inject.cupti, group + strlen(RECORD_PIPE_COUNTERS));
    inject.planned = loaded && inject_plan_start(&inject.cupti, getenv(RECORD_PIPE_PLAN));
    if ((want && strstr(want, RECORD_PIPE_SITES)) || (inject.planned && inject_plan_wants_sites()))
        inject_calls_want_sites();
    inject_process_facts();
    if (inject.cupti.get_version && inject.cupti.get_version(&version) == ABI_SUCCESS)
        inject_fact_number("cupti_version", version);
    if (!loaded || !subscribe() || inject_activity_start(&inject.cupti, max_bytes / 2, inject.want_unified_memory)) {
        inject_outbox_goodbye(FINAL_WAIT_MS);
        inject_outbox_abandon();
        return;
    }
    (void)pthread_atfork(NULL, NULL, in_child);
    inject_others_watch(step_back); /* before the helper, which looks from then on */
    inject.helper_runs = sem_init(&inject.wake, 0, 0) == 0 && inject_thread(&inject.helper, helper, NULL);
    if (!inject.helper_runs)
        inject_problem(RECORD_PIPE_WARNING, "no thread for flushing could be started: long kernels will lose records");
    signals_start();
    (void)atexit(at_exit);
    (void)inject_outbox_send(0); /* the greeting: a process that dies at once is known */
}
