/* Another user of CUPTI in the program.
 *
 * CUPTI has room for one subscriber in a process, and we are there first: a program that profiles itself (a framework's
 * profiler, PAPI, a program's own timers) would be refused, and some take that badly. So the calls with which a library
 * begins to use CUPTI are led through us: the slots of its linkage table that hold cuptiSubscribe() and its like are
 * pointed at functions here, which give CUPTI free first and then call what the library meant. Only slots of libraries
 * that name libcupti.so as needed are touched; one that looks the function up by hand (dlsym) is not seen, and is
 * refused as it would be beside any other tool.
 * Source: System V ABI, chapter 5 (dynamic linking: DT_NEEDED, DT_JMPREL, DT_RELA, relocations JUMP_SLOT and GLOB_DAT).
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/recorder/inject/cupti_inject.h"

#if defined(__x86_64__)
enum { JUMP_SLOT = R_X86_64_JUMP_SLOT, GLOB_DAT = R_X86_64_GLOB_DAT };
#elif defined(__aarch64__)
enum { JUMP_SLOT = R_AARCH64_JUMP_SLOT, GLOB_DAT = R_AARCH64_GLOB_DAT };
#else
enum { JUMP_SLOT = -1, GLOB_DAT = -1 };
#endif

typedef abi_result (*subscribe_function)(void **subscriber, abi_callback callback, void *user);
typedef abi_result (*subscribe2_function)(void **subscriber, abi_callback callback, void *user, void *params);
typedef abi_result (*register_function)(abi_buffer_requested requested, abi_buffer_completed completed);

static struct {
    void (*step_back)(const char *call);
    char name[128]; /* of the libcupti that they need; "": not known yet */
    void *library;
    subscribe_function subscribe;
    subscribe2_function subscribe2;
    register_function register_callbacks;
    unsigned long long loaded; /* libraries loaded so far, at the last look */
} others;

static abi_result their_subscribe(void **subscriber, abi_callback callback, void *user)
{
    others.step_back("cuptiSubscribe()");
    return others.subscribe(subscriber, callback, user);
}

static abi_result their_subscribe2(void **subscriber, abi_callback callback, void *user, void *params)
{
    others.step_back("cuptiSubscribe_v2()");
    return others.subscribe2(subscriber, callback, user, params);
}

static abi_result their_register(abi_buffer_requested requested, abi_buffer_completed completed)
{
    others.step_back("cuptiActivityRegisterCallbacks()");
    return others.register_callbacks(requested, completed);
}

/* What is to stand in the slot of a function; NULL: it is none of ours. */
static void *instead(const char *name)
{
    if (strcmp(name, "cuptiSubscribe") == 0 && others.subscribe)
        return (void *)(uintptr_t)their_subscribe;
    if (strcmp(name, "cuptiSubscribe_v2") == 0 && others.subscribe2)
        return (void *)(uintptr_t)their_subscribe2;
    if (strcmp(name, "cuptiActivityRegisterCallbacks") == 0 && others.register_callbacks)
        return (void *)(uintptr_t)their_register;
    return NULL;
}

/* --- a loaded library --- */

struct object {
    const ElfW(Rela) * relocations[2];
    size_t bytes[2];
    const ElfW(Sym) * symbols;
    const char *texts, *needed; /* needed: its libcupti, NULL if it needs none */
};

/* glibc has made addresses of these where the section can be written; elsewhere they count from the base. */
static uintptr_t absolute(const struct dl_phdr_info *info, ElfW(Addr) value)
{
    return value < info->dlpi_addr ? info->dlpi_addr + value : value;
}

static bool object_read(const struct dl_phdr_info *info, struct object *o)
{
    const ElfW(Dyn) *dynamic = NULL;
    *o = (struct object){0};
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (const ElfW(Dyn) *d = dynamic; d && d->d_tag != DT_NULL; d++) {
        uintptr_t at = absolute(info, d->d_un.d_ptr);
        if (d->d_tag == DT_STRTAB)
            o->texts = (const char *)at;
        else if (d->d_tag == DT_SYMTAB)
            o->symbols = (const ElfW(Sym) *)at;
        else if (d->d_tag == DT_JMPREL)
            o->relocations[0] = (const ElfW(Rela) *)at;
        else if (d->d_tag == DT_PLTRELSZ)
            o->bytes[0] = d->d_un.d_val;
        else if (d->d_tag == DT_RELA)
            o->relocations[1] = (const ElfW(Rela) *)at;
        else if (d->d_tag == DT_RELASZ)
            o->bytes[1] = d->d_un.d_val;
    }
    for (const ElfW(Dyn) *d = dynamic; d && o->texts && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_NEEDED && strncmp(o->texts + d->d_un.d_val, "libcupti.so", 11) == 0)
            o->needed = o->texts + d->d_un.d_val;
    return o->needed && o->symbols;
}

/* Such a slot is read-only where the library asks for it (RELRO): it is again afterwards. */
static void slot_set(const struct dl_phdr_info *info, void **slot, void *value)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t)slot & ~(page - 1);
    bool guarded = false;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + p->p_vaddr;
        guarded |= p->p_type == PT_GNU_RELRO && (uintptr_t)slot >= begin && (uintptr_t)slot < begin + p->p_memsz;
    }
    if (guarded && mprotect((void *)first, page, PROT_READ | PROT_WRITE))
        return;
    __atomic_store_n(slot, value, __ATOMIC_RELEASE);
    if (guarded)
        (void)mprotect((void *)first, page, PROT_READ);
}

static void object_redirect(const struct dl_phdr_info *info, const struct object *o)
{
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; o->relocations[t] && i < o->bytes[t] / sizeof(ElfW(Rela)); i++) {
            const ElfW(Rela) *r = &o->relocations[t][i];
            int type = (int)ELF64_R_TYPE(r->r_info);
            if (type != JUMP_SLOT && type != GLOB_DAT)
                continue;
            void **slot = (void **)(info->dlpi_addr + r->r_offset);
            void *value = instead(o->texts + o->symbols[ELF64_R_SYM(r->r_info)].st_name);
            if (value && *slot != value)
                slot_set(info, slot, value);
        }
}

/* --- all of them; the loader waits while it is asked: nothing is loaded from here --- */

static int find_name(struct dl_phdr_info *info, size_t size, void *unused)
{
    struct object o;
    (void)size;
    (void)unused;
    if (!object_read(info, &o))
        return 0;
    (void)snprintf(others.name, sizeof others.name, "%s", o.needed);
    return 1;
}

static int redirect(struct dl_phdr_info *info, size_t size, void *unused)
{
    struct object o;
    (void)size;
    (void)unused;
    if (object_read(info, &o) && strcmp(o.needed, others.name) == 0)
        object_redirect(info, &o);
    return 0;
}

static int loads(struct dl_phdr_info *info, size_t size, void *n)
{
    (void)size;
    *(unsigned long long *)n = info->dlpi_adds;
    return 1;
}

static void *function(const char *name)
{
    return dlsym(others.library, name);
}

void inject_others_look(void)
{
    unsigned long long now = 0;
    (void)dl_iterate_phdr(loads, &now);
    if (now == others.loaded || JUMP_SLOT < 0 || !others.step_back)
        return;
    others.loaded = now;
    if (!others.library) {
        if (!dl_iterate_phdr(find_name, NULL))
            return;
        others.library = dlopen(others.name, RTLD_LAZY | RTLD_NOLOAD);
        if (!others.library)
            return;
        others.subscribe = (subscribe_function)(uintptr_t)function("cuptiSubscribe");
        others.subscribe2 = (subscribe2_function)(uintptr_t)function("cuptiSubscribe_v2");
        others.register_callbacks = (register_function)(uintptr_t)function("cuptiActivityRegisterCallbacks");
    }
    (void)dl_iterate_phdr(redirect, NULL);
}

void inject_others_watch(void (*step_back)(const char *call))
{
    others.step_back = step_back;
    inject_others_look();
}
