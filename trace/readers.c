/* The formats that `import` reads. A new one is its files in a folder of trace/import/ and a line here. */
#include "trace/import/access/accelsim.h"
#include "trace/import/access/accesses.h"
#include "trace/import/dram/dram_csv.h"
#include "trace/import/dram/dramsim3.h"
#include "trace/import/dram/ramulator.h"
#include "trace/import/own/csv.h"
#include "trace/import/own/offchip.h"
#include "trace/import/pcie/nettlp.h"
#include "trace/import/reader.h"
#include "trace/import/uvm/cupti_csv.h"
#include "trace/import/uvm/nsys.h"
#include "trace/import/uvm/uvmeval.h"

/* In the order of probing: formats with a signature first, plain text last. */
const struct reader *const readers[] = {
    &read_nettlp,    &read_offchip,  &read_nsys,     &read_accelsim,  &read_accesses, &read_uvmeval,
    &read_cupti_csv, &read_dram_csv, &read_dramsim3, &read_ramulator, &read_csv,      NULL,
};
