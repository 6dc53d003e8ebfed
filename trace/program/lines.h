/* lines: the 128 B lines and 32 B sectors that one memory instruction of a program touches, in order of first touch.
 *
 * Lanes a stride apart are answered without going lane by lane where the stride leaves no sector out, or is a multiple
 * of a line; the answer is that of access_lines() for the lanes' addresses, line by line.
 * Worked example: 32 lanes of 4 B, 16 B apart, from byte 96 on: bytes 96 to 595: sector 3 of line 0, lines 128, 256 and
 * 384 whole, sectors 0 to 2 of line 512. */
#ifndef TRACE_PROGRAM_LINES_H
#define TRACE_PROGRAM_LINES_H

#include "trace/access/access.h"
#include "trace/program/program.h"

/* The lines of one access in one turn; their number (0: no lane is active). *sectors: of all of them. */
int program_lines_counted(const struct program_access *access, uint64_t turn,
                          struct access_line lines[2 * ACCESS_LANES], uint32_t *sectors);

/* The same, without the sum. */
static inline int program_lines(const struct program_access *access, uint64_t turn,
                                struct access_line lines[2 * ACCESS_LANES])
{
    uint32_t sectors;
    return program_lines_counted(access, turn, lines, &sectors);
}

#endif
