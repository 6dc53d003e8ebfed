#include "models/zerocopy/counter_model.h"

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

bool counter_sizes(uint64_t n, uint64_t s, struct counter_sizes *b)
{
    if (n > UINT64_MAX / LINE_SECTORS || s < n || s > LINE_SECTORS * n)
        return false;
    uint64_t above = s - n, below = LINE_SECTORS * n - s; /* sectors over all-32 B, and under all-128 B */
    for (uint64_t k = 1; k <= LINE_SECTORS; k++) {
        /* c requests of k sectors leave n - c requests, which take any n - c to 4 (n - c) sectors. */
        uint64_t most = n;
        if (k > 1)
            most = smaller(most, above / (k - 1));
        if (k < LINE_SECTORS)
            most = smaller(most, below / (LINE_SECTORS - k));
        b->most[k - 1] = most;
        b->least[k - 1] = 0;
    }
    /* Without 32 B at least 2 sectors each; without 128 B at most 3. One sector over needs a 64 B request, one under a
     * 96 B request; any other number is reached without them. */
    b->least[0] = above < n ? n - above : 0;
    b->least[3] = below < n ? n - below : 0;
    b->least[1] = above == 1;
    b->least[2] = below == 1;
    return true;
}
