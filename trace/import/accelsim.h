/* accelsim: what an opcode of SASS accesses; of the readers of what NVBit's tools print. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Shared memory of a block lies below this where NVBit names addresses of it. */
enum { ACCELSIM_SHARED_WINDOW = 1 << 24 };

/* Of "LDG.E.64" with n bytes: bytes per lane and enum record_access. False: it accesses no global memory. *async: it
 * copies from there to shared memory, and is named twice. */
bool accelsim_opcode(const char *opcode, size_t n, uint32_t *bytes, uint32_t *access, bool *async);
