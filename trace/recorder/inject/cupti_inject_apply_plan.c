/* The advice and prefetches of a plan (trace/recorder/advice_plan.h), given to the program's managed memory as if it
 * had given them: behind each allocation that has the order and the size that the plan names, and before launches of
 * the kernels that it names. The calls are the driver's own; one that the driver refuses is counted and changes
 * nothing. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/event/record.h"
#include "trace/recorder/inject/cupti_inject.h"

enum { SITE_SAID = 120 /* bytes of a call site, in a sentence */ };

#define GONE UINT64_MAX /* the address of what was matched and is freed */

struct planned {
    long long order, bytes;
    struct advice {
        int number;
        char where;
    } advice[PLAN_ADVICE];
    int advice_count;
    char prefetch;     /* 'g', 'c', '-' */
    uint64_t address;  /* 0: not matched (yet) */
    long long instead; /* what allocation `order` had, if not `bytes` */
    char *site;        /* where it must come from; NULL: anywhere */
    char *elsewhere;   /* where it came from instead */
};

struct planned_kernel {
    long long launch, seen; /* launch -1: each */
    char name[256];
    int orders[PLAN_ORDERS], order_count;
    bool matched;
};

static struct {
    bool active;
    pthread_mutex_t lock;
    const struct abi_cupti *cupti;
    struct planned allocations[PLAN_ALLOCATIONS];
    int allocation_count;
    struct planned_kernel kernels[PLAN_KERNELS];
    int kernel_count;
    long long managed; /* allocations so far */
    uint64_t given, refused;
    abi_result (*advise)(uint64_t address, size_t bytes, uint32_t advice, int32_t device);
    abi_result (*prefetch)(uint64_t address, size_t bytes, int32_t device, void *stream);
    abi_result (*current_device)(int32_t *device);
} plan = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local bool giving; /* our own calls are not the program's */

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

static void read_kernel(struct planned_kernel *k, const char *orders)
{
    char *end;
    for (const char *p = orders; *p && k->order_count < PLAN_ORDERS; p = *end ? end + 1 : end) {
        long order = strtol(p, &end, 10);
        if (end == p)
            return;
        k->orders[k->order_count++] = (int)order;
    }
}

static void read_line(const char *line)
{
    char words[6][PLAN_SITE_BYTES];
    for (int i = 0; i < 6; i++)
        line = next_word(line, words[i], sizeof words[i]);
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
        read_kernel(k, words[3]);
    }
}

bool inject_plan_start(const struct abi_cupti *cupti, const char *text)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    const struct inject_symbol symbols[] = {{"cuMemAdvise", &plan.advise, true},
                                            {"cuMemPrefetchAsync", &plan.prefetch, true},
                                            {"cuCtxGetDevice", &plan.current_device, true}};
    if (!text || !*text)
        return false;
    const char *missing = driver ? inject_symbols(driver, symbols, 3) : "libcuda.so.1";
    if (missing) {
        inject_problem(RECORD_PIPE_WARNING, "the plan is not applied: this driver has no %s", missing);
        return false;
    }
    for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n')
        read_line(p);
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

/* What was given stands in the trace as what the program gives itself does. */
static void note(abi_result result, uint32_t kind, const struct planned *a, uint32_t advice, int32_t device)
{
    struct record_pipe_message m = {.type = RECORD_PIPE_RECORD, .kind = kind, .id = (uint64_t)(int64_t)device};
    uint64_t now = 0;
    pthread_mutex_lock(&plan.lock);
    *(result == ABI_SUCCESS ? &plan.given : &plan.refused) += 1;
    pthread_mutex_unlock(&plan.lock);
    if (result != ABI_SUCCESS)
        return;
    (void)plan.cupti->get_timestamp(&now);
    m.time = (int64_t)now;
    m.addr = a->address;
    m.bytes = (uint64_t)a->bytes;
    m.flags = advice;
    inject_put(&m, 1);
}

static void give_prefetch(const struct planned *a, char where, void *stream)
{
    int32_t device = device_of(where);
    giving = true;
    abi_result result = plan.prefetch(a->address, (size_t)a->bytes, device, stream);
    giving = false;
    note(result, RECORD_PREFETCH, a, 0, device);
}

static void give_all(const struct planned *a)
{
    for (int i = 0; i < a->advice_count; i++) {
        int32_t device = device_of(a->advice[i].where);
        giving = true;
        abi_result result = plan.advise(a->address, (size_t)a->bytes, (uint32_t)a->advice[i].number, device);
        giving = false;
        note(result, RECORD_ADVISE, a, (uint32_t)a->advice[i].number, device);
    }
    if (a->prefetch != '-')
        give_prefetch(a, a->prefetch, NULL);
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

void inject_plan_allocated(uint64_t address, uint64_t bytes, const char *site)
{
    struct planned found = {0};
    if (!plan.active || giving)
        return;
    pthread_mutex_lock(&plan.lock);
    long long order = plan.managed++;
    for (int i = 0; i < plan.allocation_count; i++) {
        struct planned *a = &plan.allocations[i];
        if (a->order == order && matches(a, address, bytes, site))
            found = *a;
    }
    pthread_mutex_unlock(&plan.lock);
    if (found.address)
        give_all(&found);
}

void inject_plan_freed(uint64_t address)
{
    pthread_mutex_lock(&plan.lock);
    for (int i = 0; plan.active && !giving && i < plan.allocation_count; i++)
        if (plan.allocations[i].address == address)
            plan.allocations[i].address = GONE;
    pthread_mutex_unlock(&plan.lock);
}

/* The allocations to prefetch before this launch; how many. */
static int due(const char *name, struct planned out[PLAN_ORDERS])
{
    int n = 0;
    for (int i = 0; i < plan.kernel_count; i++) {
        struct planned_kernel *k = &plan.kernels[i];
        if (strcmp(k->name, name) != 0)
            continue;
        long long launch = k->seen++;
        if (k->launch >= 0 && k->launch != launch)
            continue;
        k->matched = true;
        for (int o = 0; o < k->order_count; o++)
            for (int a = 0; a < plan.allocation_count && n < PLAN_ORDERS; a++)
                if (plan.allocations[a].order == k->orders[o] && plan.allocations[a].address &&
                    plan.allocations[a].address != GONE)
                    out[n++] = plan.allocations[a];
    }
    return n;
}

void inject_plan_launch(const char *name, void *stream)
{
    struct planned prefetches[PLAN_ORDERS];
    if (!plan.active || giving || !name || plan.kernel_count == 0)
        return;
    pthread_mutex_lock(&plan.lock);
    int n = due(name, prefetches);
    pthread_mutex_unlock(&plan.lock);
    for (int i = 0; i < n; i++)
        give_prefetch(&prefetches[i], 'g', stream);
}

/* --- what became of it --- */

void inject_plan_finish(void)
{
    if (!plan.active)
        return;
    inject_fact_number("plan.calls", (int64_t)plan.given);
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
    if (plan.refused)
        inject_problem(RECORD_PIPE_WARNING, "plan: the driver refused %llu of its calls",
                       (unsigned long long)plan.refused);
}
