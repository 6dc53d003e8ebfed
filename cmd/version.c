#include "cmd/cmd.h"

#include <blosc.h>
#include <jansson.h>
#include <lzma.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

#include "trace/base/version.h"
#include "trace/recorder/wire/cupti_abi.h"
#include "trace/store/schema.h"

/* Ask the libraries, not their headers: the running version may be newer. */
const char *version_fact(size_t index, const char **value)
{
    static char compiler[256], trace[32], results[32], xxhash[32];
    const unsigned xxh = XXH_versionNumber();
    const struct {
        const char *name, *value;
    } facts[] = {{"compiler", compiler},
                 {"trace files", trace},
                 {"results files", results},
                 {"CUPTI interface", "of CUDA " ABI_CUDA_VERSION ", loaded when recording"},
                 {"SQLite", sqlite3_libversion()},
                 {"blosc", blosc_get_version_string()},
                 {"zstd", ZSTD_versionString()},
                 {"zlib", zlibVersion()},
                 {"liblzma", lzma_version_string()},
                 {"xxHash", xxhash},
                 {"jansson", jansson_version_str()},
                 {"libpcap", pcap_lib_version()}};
    if (index >= sizeof facts / sizeof *facts)
        return NULL;
    (void)snprintf(compiler, sizeof compiler, "%s (%s)", __VERSION__, offchip_build);
    (void)snprintf(trace, sizeof trace, "version %d", SCHEMA_TRACE_VERSION);
    (void)snprintf(results, sizeof results, "version %d", SCHEMA_RESULTS_VERSION);
    (void)snprintf(xxhash, sizeof xxhash, "%u.%u.%u", xxh / 10000, xxh / 100 % 100, xxh % 100);
    *value = facts[index].value;
    return facts[index].name;
}
