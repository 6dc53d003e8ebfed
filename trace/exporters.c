/* The formats that `export` writes. A new one is its files in trace/export/ and a line here. */
#include "trace/export/export_csv.h"
#include "trace/export/export_dram.h"
#include "trace/export/export_npz.h"
#include "trace/export/exporter.h"
#include "trace/export/perfetto.h"

const struct exporter *const exporters[] = {
    &export_csv, &export_npz, &export_perfetto, &export_dram_csv, &export_dramsim3, &export_ramulator, NULL,
};
