/* The advice and prefetches of a plan (trace/recorder/advice_plan.h), given to the program's managed memory as if it
 * had given them: behind each allocation that has the order and the size that the plan names, and before and behind
 * launches of the kernels that it names. The calls are the driver's own; one that the driver refuses is counted and
 * changes nothing. Each is told to the recorder: which, when, how long it took. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/event/record.h"
#include "trace/recorder/inject/cupti_inject.h"

enum {
    SITE_SAID = 120, /* bytes of a call site, in a sentence */
    CALLS_TOLD = 64  /* in words; all are records */
};

#define GONE UINT64_MAX /* the address of what was matched and is freed */

struct planned {
    long long order, bytes;
    struct advice {
        int number;
        char where;
    } advice[PLAN_ADVICE];
    int advice_count;
    char prefetch;     /* 'g', 'c', '-' */
    bool later;        /* the advice is given before a launch */
    bool brought;      /* to the GPU, once at least */
    uint64_t address;  /* 0: not matched (yet) */
    long long instead; /* what allocation `order` had, if not `bytes` */
    char *site;        /* where it must come from; NULL: anywhere */
    char *elsewhere;   /* where it came from instead */
};

/* What is given at a launch, in the order of its line. */
enum given { PREFETCHED, ADVISED, BACK, GIVEN };

struct planned_kernel {
    long long launch, seen; /* launch -1: each */
    char name[256];         /* "*": any */
    struct orders {
        int items[PLAN_ORDERS], count;
    } orders[GIVEN];
    bool matched;
};

/* Allocations that are due, by their place in the plan. */
struct due {
    short items[PLAN_ORDERS];
    int count;
};

static struct {
    bool active, bring;
    pthread_mutex_t lock;
    const struct abi_cupti *cupti;
    struct planned allocations[PLAN_ALLOCATIONS];
    int allocation_count;
    struct planned_kernel kernels[PLAN_KERNELS];
    int kernel_count;
    long long managed; /* allocations so far */
    uint64_t given, refused, given_ns;
    _Atomic uint64_t captured;
    uint64_t started_ns;
    abi_result (*advise)(uint64_t address, size_t bytes, uint32_t advice, int32_t device);
    abi_result (*prefetch)(uint64_t address, size_t bytes, int32_t device, void *stream);
    abi_result (*synchronize)(void *stream);
    abi_result (*current_device)(int32_t *device);
    abi_result (*capturing)(void *stream, uint32_t *status); /* NULL: an older driver */
} plan = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local bool giving;     /* our own calls are not the program's */
static _Thread_local struct due back; /* behind the launch that this thread makes */

bool inject_plan_gives(void)
{
    return giving;
}

/* The next word of a line, at most `size` - 1 characters of it; "" at the end. */
static const char *next_word(const char *p, char *word, size_t size)
{
    size_t n = strcspn(p, " \n");
    (void)snprintf(word, size, "%.*s", (int)n, p);
    return p + n + (p[n] == ' ');
}

static void read_advice(struct planned *a, const char *text)
{
    char *end;
    while (*text && a->advice_count < PLAN_ADVICE) {
        long number = strtol(text, &end, 10);
        if (end == text || end[0] != ':' || !end[1])
            return;
        a->advice[a->advice_count++] = (struct advice){(int)number, end[1]};
        text = end + 2 + (end[2] == ',');
    }
}

static void read_orders(struct orders *o, const char *text)
{
    char *end;
    for (const char *p = text; *p && o->count < PLAN_ORDERS; p = *end ? end + 1 : end) {
        long order = strtol(p, &end, 10);
        if (end == p)
            return;
        o->items[o->count++] = (int)order;
    }
}

static void read_line(const char *line)
{
    char words[6][PLAN_SITE_BYTES];
    for (int i = 0; i < 6; i++)
        line = next_word(line, words[i], sizeof words[i]);
    plan.bring |= strcmp(words[0], PLAN_BRING) == 0;
    if (*words[0] == 'A' && plan.allocation_count < PLAN_ALLOCATIONS) {
        struct planned *a = &plan.allocations[plan.allocation_count++];
        *a = (struct planned){.order = strtoll(words[1], NULL, 10),
                              .bytes = strtoll(words[2], NULL, 10),
                              .prefetch = *words[4],
                              .instead = -1};
        read_advice(a, words[3]);
        if (*words[5] && strcmp(words[5], "-") != 0)
            a->site = strdup(words[5]);
    } else if (*words[0] == 'K' && plan.kernel_count < PLAN_KERNELS) {
        struct planned_kernel *k = &plan.kernels[plan.kernel_count++];
        *k = (struct planned_kernel){.launch = strtoll(words[1], NULL, 10)};
        (void)snprintf(k->name, sizeof k->name, "%.*s", (int)sizeof k->name - 1, words[2]);
        for (int i = 0; i < GIVEN; i++)
            read_orders(&k->orders[i], words[3 + i]);
    }
}

/* Advice that is given at a launch is not given behind its allocation. */
static void find_later(void)
{
    for (int k = 0; k < plan.kernel_count; k++)
        for (int o = 0; o < plan.kernels[k].orders[ADVISED].count; o++)
            for (int a = 0; a < plan.allocation_count; a++)
                plan.allocations[a].later |= plan.allocations[a].order == plan.kernels[k].orders[ADVISED].items[o];
}

bool inject_plan_start(const struct abi_cupti *cupti, const char *text)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    const struct inject_symbol symbols[] = {{"cuMemAdvise", &plan.advise, true},
                                            {"cuMemPrefetchAsync", &plan.prefetch, true},
                                            {"cuCtxGetDevice", &plan.current_device, true},
                                            {"cuStreamSynchronize", &plan.synchronize, true},
                                            {"cuStreamIsCapturing", &plan.capturing, false}};
    if (!text || !*text)
        return false;
    const char *missing = driver ? inject_symbols(driver, symbols, sizeof symbols / sizeof *symbols) : "libcuda.so.1";
    if (missing) {
        inject_problem(RECORD_PIPE_WARNING, "the plan is not applied: this driver has no %s", missing);
        return false;
    }
    for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n')
        read_line(p);
    find_later();
    (void)cupti->get_timestamp(&plan.started_ns);
    plan.cupti = cupti;
    plan.active = true;
    return true;
}

/* --- calls --- */

static int32_t device_of(char where)
{
    int32_t device = 0;
    if (where == 'c')
        return ABI_DEVICE_CPU;
    (void)plan.current_device(&device);
    return device;
}

/* In words, "allocation 0: prefetch GPU, before triad; 12.1 ms behind the start, took 0.166 ms". */
static void tell(const struct record_pipe_message *m, const struct planned *a, const char *where, uint64_t number)
{
    static const char *const advice[] = {[RECORD_ADVISE_READ_MOSTLY] = "read-mostly",
                                         [RECORD_ADVISE_PREFERRED_LOCATION] = "preferred-location",
                                         [RECORD_ADVISE_ACCESSED_BY] = "accessed-by"};
    const char *what = m->kind == RECORD_PREFETCH                                      ? "prefetch"
                       : m->flags < sizeof advice / sizeof *advice && advice[m->flags] ? advice[m->flags]
                                                                                       : "advice";
    char key[40], text[512];
    (void)snprintf(key, sizeof key, "plan.call.%llu", (unsigned long long)number);
    (void)snprintf(text, sizeof text, "allocation %lld: %s %s, %.300s; %.3f ms behind the start, took %.3f ms",
                   a->order, what, (int64_t)m->id == ABI_DEVICE_CPU ? "CPU" : "GPU", where,
                   (double)((uint64_t)m->time - plan.started_ns) / 1e6, (double)m->duration / 1e6);
    inject_fact(key, text);
}

/* A call of the driver's, and what it stands for in the trace, where it stands as what the program gives itself does.
 * advice: NULL: a prefetch. where: for tell(). */
static void give(const struct planned *a, const struct advice *advice, char to, void *stream, const char *where)
{
    struct record_pipe_message m = {.type = RECORD_PIPE_RECORD, .kind = advice ? RECORD_ADVISE : RECORD_PREFETCH};
    const int32_t device = device_of(to);
    uint64_t from = 0, until = 0;
    uint32_t captures = 0;
    (void)plan.cupti->get_timestamp(&from);
    giving = true;
    if (plan.capturing && (plan.capturing(stream, &captures) != ABI_SUCCESS || captures)) {
        giving = false;
        atomic_fetch_add(&plan.captured, 1); /* what the program captures stays as it is */
        return;
    }
    abi_result result = advice ? plan.advise(a->address, (size_t)a->bytes, (uint32_t)advice->number, device)
                               : plan.prefetch(a->address, (size_t)a->bytes, device, stream);
    giving = false;
    (void)plan.cupti->get_timestamp(&until);
    pthread_mutex_lock(&plan.lock);
    const uint64_t number = plan.given;
    *(result == ABI_SUCCESS ? &plan.given : &plan.refused) += 1;
    plan.given_ns += result == ABI_SUCCESS ? until - from : 0;
    pthread_mutex_unlock(&plan.lock);
    if (result != ABI_SUCCESS)
        return;
    m.id = (uint64_t)(int64_t)device;
    m.time = (int64_t)from;
    m.duration = (int64_t)(until - from);
    m.addr = a->address;
    m.bytes = (uint64_t)a->bytes;
    m.flags = advice ? (uint32_t)advice->number : 0;
    inject_put(&m, 1);
    if (number < CALLS_TOLD)
        tell(&m, a, where, number);
}

static void give_advice(const struct planned *a, const char *where)
{
    for (int i = 0; i < a->advice_count; i++)
        give(a, &a->advice[i], a->advice[i].where, NULL, where);
}

bool inject_plan_wants_sites(void)
{
    for (int i = 0; i < plan.allocation_count; i++)
        if (plan.allocations[i].site)
            return true;
    return false;
}

/* The planned one that has this order gets its address, if the rest is as planned too. */
static bool matches(struct planned *a, uint64_t address, uint64_t bytes, const char *site)
{
    if ((uint64_t)a->bytes != bytes) {
        a->instead = (long long)bytes;
        return false;
    }
    if (a->site && !call_site_matches(site, a->site)) {
        free(a->elsewhere);
        a->elsewhere = strndup(site, SITE_SAID);
        return false;
    }
    a->address = address;
    return true;
}

/* One more that is brought. */
static void keep(uint64_t address, uint64_t bytes)
{
    int i = 0;
    while (i < plan.allocation_count && plan.allocations[i].address != GONE)
        i++;
    inject_count(RECORD_PIPE_DROP, "managed memory that could not be brought to the GPU", i == PLAN_ALLOCATIONS);
    if (i == PLAN_ALLOCATIONS)
        return;
    plan.allocations[i] = (struct planned){.bytes = (long long)bytes, .address = address, .instead = -1};
    plan.allocation_count += i == plan.allocation_count;
}

void inject_plan_allocated(uint64_t address, uint64_t bytes, const char *site)
{
    struct planned found = {0};
    if (!plan.active || giving)
        return;
    pthread_mutex_lock(&plan.lock);
    long long order = plan.managed++;
    if (plan.bring)
        keep(address, bytes);
    for (int i = 0; i < plan.allocation_count && !plan.bring; i++) {
        struct planned *a = &plan.allocations[i];
        if (a->order == order && matches(a, address, bytes, site))
            found = *a;
    }
    pthread_mutex_unlock(&plan.lock);
    if (found.address && !found.later)
        give_advice(&found, "behind its allocation");
    if (found.address && found.prefetch != '-')
        give(&found, NULL, found.prefetch, NULL, "behind its allocation");
}

void inject_plan_freed(uint64_t address)
{
    pthread_mutex_lock(&plan.lock);
    for (int i = 0; plan.active && !giving && i < plan.allocation_count; i++)
        if (plan.allocations[i].address == address)
            plan.allocations[i].address = GONE;
    pthread_mutex_unlock(&plan.lock);
}

static void add_due(const struct orders *orders, struct due *due)
{
    for (int o = 0; o < orders->count; o++)
        for (int a = 0; a < plan.allocation_count && due->count < PLAN_ORDERS; a++)
            if (plan.allocations[a].order == orders->items[o])
                due->items[due->count++] = (short)a;
}

/* A copy of one, if it is there. */
static bool is_there(int place, struct planned *a)
{
    pthread_mutex_lock(&plan.lock);
    *a = plan.allocations[place];
    pthread_mutex_unlock(&plan.lock);
    return a->address && a->address != GONE;
}

/* A name that is cut stands for all that begin so. */
static bool is_of(const struct planned_kernel *k, const char *name)
{
    const size_t n = strlen(k->name);
    return strcmp(k->name, "*") == 0 || (strncmp(k->name, name, n) == 0 && (!name[n] || n == sizeof k->name - 1));
}

/* The allocations that this launch is given. */
static void find_due(const char *name, struct due due[GIVEN])
{
    for (int i = 0; i < plan.kernel_count; i++) {
        struct planned_kernel *k = &plan.kernels[i];
        if (!is_of(k, name))
            continue;
        long long launch = k->seen++;
        if (k->launch >= 0 && k->launch != launch)
            continue;
        k->matched = true;
        for (int g = 0; g < GIVEN; g++)
            add_due(&k->orders[g], &due[g]);
    }
}

void inject_plan_bring(void *stream, bool runs)
{
    struct planned a;
    for (int i = 0; plan.bring && i < plan.allocation_count; i++) {
        if (!is_there(i, &a) || (runs && a.brought))
            continue;
        give(&a, NULL, 'g', stream, "before a launch");
        pthread_mutex_lock(&plan.lock);
        plan.allocations[i].brought = true;
        pthread_mutex_unlock(&plan.lock);
    }
    giving = true;
    (void)(plan.bring && !runs && plan.synchronize(stream));
    giving = false;
}

void inject_plan_launch(const char *name, void *stream)
{
    struct due due[GIVEN];
    struct planned a;
    char where[320];
    back.count = 0;
    if (!plan.active || giving || plan.kernel_count == 0)
        return;
    name = name ? name : "?"; /* a launch all the same */
    for (int g = 0; g < GIVEN; g++)
        due[g].count = 0;
    pthread_mutex_lock(&plan.lock);
    find_due(name, due);
    pthread_mutex_unlock(&plan.lock);
    (void)snprintf(where, sizeof where, "before %s", name);
    for (int i = 0; i < due[ADVISED].count; i++)
        if (is_there(due[ADVISED].items[i], &a))
            give_advice(&a, where);
    for (int i = 0; i < due[PREFETCHED].count; i++)
        if (is_there(due[PREFETCHED].items[i], &a))
            give(&a, NULL, 'g', stream, where);
    back = due[BACK];
}

void inject_plan_launched(const char *name, void *stream)
{
    struct planned a;
    char where[320];
    if (!back.count)
        return;
    (void)snprintf(where, sizeof where, "behind %s", name ? name : "?");
    for (int i = 0; i < back.count; i++)
        if (is_there(back.items[i], &a))
            give(&a, NULL, 'c', stream, where);
    back.count = 0;
}

/* --- what became of it --- */

void inject_plan_finish(void)
{
    if (!plan.active)
        return;
    inject_fact_number("plan.calls", (int64_t)plan.given);
    inject_fact_number("plan.calls_ns", (int64_t)plan.given_ns);
    for (int i = 0; i < plan.allocation_count; i++) {
        const struct planned *a = &plan.allocations[i];
        if (a->instead >= 0)
            inject_problem(RECORD_PIPE_WARNING,
                           "plan: managed allocation %lld has %lld bytes, not %lld: it was left alone", a->order,
                           a->instead, a->bytes);
        else if (a->elsewhere)
            inject_problem(RECORD_PIPE_WARNING,
                           "plan: managed allocation %lld was called for at %s, not at %s: it was left alone", a->order,
                           *a->elsewhere ? a->elsewhere : "a place that the stack does not tell", a->site);
        else if (!a->address)
            inject_problem(RECORD_PIPE_WARNING, "plan: there was no managed allocation %lld", a->order);
    }
    for (int i = 0; i < plan.kernel_count; i++)
        if (!plan.kernels[i].matched)
            inject_problem(RECORD_PIPE_WARNING, "plan: kernel %s was not launched%s", plan.kernels[i].name,
                           plan.kernels[i].seen ? " so often" : "");
    inject_count(RECORD_PIPE_DROP, "prefetches that the driver refused", plan.bring ? plan.refused : 0);
    if (atomic_load(&plan.captured))
        inject_problem(RECORD_PIPE_WARNING, "plan: %llu of its calls were left out: a CUDA graph was being captured",
                       (unsigned long long)atomic_load(&plan.captured));
    if (plan.refused)
        inject_problem(RECORD_PIPE_WARNING, "plan: the driver refused %llu of its calls",
                       (unsigned long long)plan.refused);
}
