/* program_folder: where this program lies, to find what stands beside it. */
#pragma once

#include <limits.h>
#include <stdbool.h>

/* Without the slash behind. A program that a bundle's loader runs is not what /proc/self/exe says, but a file that the
 * loader was given the name of. False: that cannot be found out. */
bool program_folder(char folder[PATH_MAX]);
