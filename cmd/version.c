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

enum { FACTS = 12, VALUE_BYTES = 256 };

/* The libraries are asked, not their headers: what runs may be newer than what was compiled against. */
static const char *fact(size_t index, char *buf)
{
    switch (index) {
    case 0:
        (void)snprintf(buf, VALUE_BYTES, "%s (%s)", __VERSION__, offchip_build);
        return "compiler";
    case 1:
        (void)snprintf(buf, VALUE_BYTES, "version %d", SCHEMA_TRACE_VERSION);
        return "trace files";
    case 2:
        (void)snprintf(buf, VALUE_BYTES, "version %d", SCHEMA_RESULTS_VERSION);
        return "results files";
    case 3:
        (void)snprintf(buf, VALUE_BYTES, "of CUDA %s, loaded when recording", ABI_CUDA_VERSION);
        return "CUPTI interface";
    case 4:
        (void)snprintf(buf, VALUE_BYTES, "%s", sqlite3_libversion());
        return "SQLite";
    case 5:
        (void)snprintf(buf, VALUE_BYTES, "%s", blosc_get_version_string());
        return "blosc";
    case 6:
        (void)snprintf(buf, VALUE_BYTES, "%s", ZSTD_versionString());
        return "zstd";
    case 7:
        (void)snprintf(buf, VALUE_BYTES, "%s", zlibVersion());
        return "zlib";
    case 8:
        (void)snprintf(buf, VALUE_BYTES, "%s", lzma_version_string());
        return "liblzma";
    case 9: {
        unsigned version = XXH_versionNumber();
        (void)snprintf(buf, VALUE_BYTES, "%u.%u.%u", version / 10000, version / 100 % 100, version % 100);
        return "xxHash";
    }
    case 10:
        (void)snprintf(buf, VALUE_BYTES, "%s", jansson_version_str());
        return "jansson";
    default:
        (void)snprintf(buf, VALUE_BYTES, "%s", pcap_lib_version());
        return "libpcap";
    }
}

const char *version_fact(size_t index, const char **value)
{
    static char buf[VALUE_BYTES];
    *value = buf;
    return index < FACTS ? fact(index, buf) : NULL;
}
