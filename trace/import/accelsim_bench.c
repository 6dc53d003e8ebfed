/* accelsim_bench FILE WARP_INSTRUCTIONS: the grouped trace that `make bench` imports: vector add, one instruction in
 * four arithmetic, addresses in all three modes. */
#include <stdio.h>
#include <stdlib.h>

#include "trace/import/testing_accelsim.h"

int main(int argc, char **argv)
{
    FILE *f = argc == 3 ? fopen(argv[1], "wb") : NULL;
    if (!f)
        return 1;
    build_vector_add(f, 5, (unsigned)strtoul(argv[2], NULL, 10) / 4 * 32);
    return fclose(f) != 0;
}
