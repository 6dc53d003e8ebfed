// usage: dramsim3 CONFIG.ini STREAM CHANNELS: DRAMsim3 as a library, the stream's requests in order, one a cycle and channel.
#include <deque>
#include <vector>

#include "dramsim3.h"
#include "stream.h"

// rorabgbachco of CONFIG.ini: row, bank group, bank, channel, column of 64, 32 B.
static uint64_t address(const peer_request &r, uint64_t channels)
{
    const uint64_t group = r.bank & 3, bank = r.bank >> 2;
    return ((((r.row * 4ull + group) * 4 + bank) * channels + r.channel) * 64 + r.column) * 32;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    size_t n = 0, left = 0;
    const uint64_t channels = strtoull(argv[3], nullptr, 10);
    const peer_request *r = peer_read(argv[2], &n);
    std::vector<std::deque<size_t>> lines(channels);
    for (size_t i = 0; i < n; i++)
        lines[r[i].channel].push_back(i);
    left = n;
    auto done = [&left](uint64_t) { left--; };
    auto *memory = dramsim3::GetMemorySystem(argv[1], ".", done, done);
    const double start = peer_seconds();
    int64_t t = 0;
    for (; left; t++) {
        memory->ClockTick();
        for (auto &line : lines)
            if (!line.empty() && r[line.front()].arrival <= t) {
                const peer_request &next = r[line.front()];
                const uint64_t at = address(next, channels);
                if (memory->WillAcceptTransaction(at, next.write)) {
                    memory->AddTransaction(at, next.write);
                    line.pop_front();
                }
            }
    }
    peer_print(n, t, peer_seconds() - start);
    return 0;
}
