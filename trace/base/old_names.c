#include "trace/base/old_names.h"

#include <stddef.h>
#include <string.h>

/* In the order of the alphabet. */
static const struct {
    const char *name, *now;
} rows[] = {
    {"--adapter-ip", "--set adapter=ADDRESS of import"},
    {"--clock", "--set clock=pcap|adapter"},
    {"--columns", "--set columns=OURS=THEIRS,.."},
    {"--force-injection", "env -u CUDA_INJECTION64_PATH offchip record .."},
    {"--keep-accesses", "record --accesses, and derive from it"},
    {"--keep-dirty", "write-backs are in the trace by their kind"},
    {"--kinds", "--set kinds=KIND|WORD=KIND,.."},
    {"--label-layout", "labels= of synth:gather"},
    {"--labelled-pct", "labelled_pct= of synth:gather"},
    {"--labels", "labels= of synth:gather"},
    {"--nettlp-port", "--set ports=LO-HI of import"},
    {"--no-config", "there is no configuration to leave out"},
    {"--robust-all", "--robust N, of the rows near the best"},
    {"--seed", "--robust N with another N"},
    {"--tie", "--robust N, with the models' measured errors"},
    {"--time-limit", "timeout S offchip record .."},
    {"--time-unit", "--set time_unit=ns|us|ms|s|cycles"},
    {"--tlp-offset", "--set tlp_offset=K of import"},
    {"dram-csv", "csv"},
    {"dramsim3", "csv"},
    {"npz", "csv, or SQL (docs/python.md)"},
    {"ramulator", "csv"},
    {"relaunch_gap", "launch_gap"},
};

const char *old_name(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].now;
    return NULL;
}
