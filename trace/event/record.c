#include "trace/event/record.h"

#include <string.h>

static const char migration[] = "cause: 0 unknown, 1 user, 2 fault, 3 prefetch, 4 eviction, 5 access counters";
static const char as_migration[] = "cause, as of MIGRATE_H2D";
static const char access_type[] = "access: 1 read, 2 write, 3 atomic, 4 prefetch";

const struct record_kind_info record_kinds[RECORD_KINDS] = {
    [RECORD_NONE] = {"NONE", "", "", ""},
    [RECORD_KERNEL] = {"KERNEL", "time duration addr bytes flags id group",
                       "of a generated launch: actors that share a multiprocessor; bit 31: a phase of the CPU, "
                       "30: the CPU waits for its end",
                       "row of table kernels; of a generated launch addr = actors, bytes = resident per multiprocessor "
                       "(0: by its shape), "
                       "time = threads of a block, duration = registers of a thread << 32 | shared bytes of a block"},
    [RECORD_ALLOC] = {"ALLOC", "time addr bytes flags id group",
                      "1 device, 2 managed, 3 pinned, 4 registered; group 1: written by the CPU before all launches",
                      "allocation number"},
    [RECORD_ADVISE] = {"ADVISE", "time addr bytes flags id",
                       "1 read-mostly, 3 preferred location, 5 accessed-by; 2, 4, 6 unset them", "device"},
    [RECORD_PREFETCH] = {"PREFETCH", "time duration addr bytes id", "", "destination device, -1 the CPU"},
    [RECORD_COPY] = {"COPY", "time duration bytes flags", "1 H2D, 2 D2H, 3 D2D, 4 H2H, 5 peer", ""},
    [RECORD_FAULT] = {"FAULT", "time duration addr bytes flags group", access_type, ""},
    [RECORD_CPU_FAULT] = {"CPU_FAULT", "time addr flags id", "access, as of FAULT", "program counter"},
    [RECORD_MIGRATE_H2D] = {"MIGRATE_H2D", "time duration addr bytes flags", migration, ""},
    [RECORD_MIGRATE_D2H] = {"MIGRATE_D2H", "time duration addr bytes flags", as_migration, ""},
    [RECORD_EVICT] = {"EVICT", "time addr bytes id", "", "address that needed the room, 0: not known"},
    [RECORD_THRASH] = {"THRASH", "time addr bytes", "", ""},
    [RECORD_THROTTLE] = {"THROTTLE", "time duration addr", "", ""},
    [RECORD_REMOTE_MAP] = {"REMOTE_MAP", "time addr bytes flags",
                           "cause: 1 coherence, 2 thrashing, 3 policy, 4 no memory, 5 eviction", ""},
    [RECORD_MIGRATE_D2D] = {"MIGRATE_D2D", "time duration addr bytes flags", as_migration, ""},
    [RECORD_TLP] = {"TLP", "time addr bytes flags id group", "type, direction, status (trace/event/tlp.h)",
                    "requester and tag"},
    [RECORD_ACCESS] = {"ACCESS", "time addr bytes flags id group", "sector mask (bits 0-3), access << 4",
                       "block << 32 | warp in block"},
    [RECORD_TOUCH] =
        {"TOUCH", "time duration addr bytes flags id group",
         "access: 1 read, 2 store (not waited for), 3 atomic, 0 no page; time = step of the actor, duration = ns of "
         "computing after the step, bytes of a step's first touch = page touches of warps; extra columns: "
         "instructions, sectors, turns, waits (KiB) of a step",
         "actor"},
    [RECORD_SCAN] = {"SCAN", "time addr bytes flags id group", "row of table structures", "lane or vertex"},
    [RECORD_DRAM_READ] = {"DRAM_READ", "time addr bytes flags id group", "1: served by L2", "request number"},
    [RECORD_DRAM_WRITE] = {"DRAM_WRITE", "time addr bytes flags id group", "1: served by L2", "request number"},
    [RECORD_DRAM_WRITEBACK] = {"DRAM_WRITEBACK", "time addr bytes flags id group", "1: served by L2", "request number"},
    [RECORD_PIM] = {"PIM", "time addr bytes flags id group", "1: served by L2", "request number"},
    [RECORD_KERNEL_END] = {"KERNEL_END", "time group", "", ""},
    [RECORD_BARRIER] = {"BARRIER", "time group", "", ""},
    [RECORD_RANGE] = {"RANGE", "time duration id group", "", "row of table strings: the name that the program gave"},
    [RECORD_FAULT_ENTRY] = {"FAULT_ENTRY", "time addr flags id group", "access; << 8: fault type; << 16: client type",
                            "GPU time; extra column client: client | GPC << 16"},
    [RECORD_REPLAY] = {"REPLAY", "time flags id group", "<< 16: client type", "GPU time"},
    [RECORD_SKIPPED] = {"SKIPPED", "", "", ""},
};

enum record_kind record_kind_find(const char *name)
{
    for (int k = RECORD_KERNEL; k < RECORD_SKIPPED; k++)
        if (strcmp(record_kinds[k].name, name) == 0)
            return (enum record_kind)k;
    return RECORD_NONE;
}

uint32_t record_copy_find(const char *text)
{
    static const char *const names[][4] = {[RECORD_COPY_H2D] = {"HtoD", "Host-to-Device", "HtoA"},
                                           [RECORD_COPY_D2H] = {"DtoH", "Device-to-Host", "AtoH"},
                                           [RECORD_COPY_D2D] = {"DtoD", "Device-to-Device", "DtoA", "AtoD"},
                                           [RECORD_COPY_H2H] = {"HtoH", "Host-to-Host"},
                                           [RECORD_COPY_P2P] = {"PtoP", "Peer-to-Peer"}};
    for (uint32_t way = RECORD_COPY_H2D; way <= RECORD_COPY_P2P; way++)
        for (int i = 0; i < 4 && names[way][i]; i++)
            if (strstr(text, names[way][i]))
                return way;
    return 0;
}

const char *time_unit_name(enum time_unit unit)
{
    static const char *const names[] = {"none", "ns", "cycles"};
    return names[unit];
}

const char *addr_space_name(enum addr_space space)
{
    static const char *const names[] = {"bytes", "dram-packed"};
    return names[space];
}
