// usage: ramulator2 CONFIG.yaml STREAM: Ramulator 2.1 as a library, the stream's requests in order, one a cycle and channel.
#include <deque>
#include <vector>

#include <ramulator/base/config.h>
#include <ramulator/base/factory.h>
#include <ramulator/base/request.h>
#include <ramulator/frontend/i_frontend.h>
#include <ramulator/memory_system/i_memory_system.h>

#include "stream.h"

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    auto config = Ramulator::Config::parse_config_file(argv[1]);
    auto *frontend = Ramulator::Factory::create_frontend(config);
    auto *memory = Ramulator::Factory::create_memory_system(config);
    frontend->connect_memory_system(memory);
    memory->connect_frontend(frontend);

    size_t n = 0;
    const peer_request *r = peer_read(argv[2], &n);
    std::vector<std::deque<Ramulator::Request>> lines;
    std::vector<std::deque<int64_t>> arrivals;
    size_t reads = 0, done = 0, sent = 0;
    for (size_t i = 0; i < n; i++) {
        if (r[i].channel >= lines.size()) {
            lines.resize(r[i].channel + 1u);
            arrivals.resize(r[i].channel + 1u);
        }
        // Channel, pseudo-channel, bank group, bank, row, column; a bank's group is its number modulo 4, as in offchip.
        Ramulator::AddrVec_t at{r[i].channel, 0, r[i].bank & 3, r[i].bank >> 2, static_cast<int>(r[i].row), r[i].column};
        Ramulator::Request request(at, r[i].write ? Ramulator::Request::Type::Write : Ramulator::Request::Type::Read);
        request.addr = (((r[i].row * 16ll + r[i].bank) * 64 + r[i].column) * 256 + r[i].channel) * 32; // to find equals
        request.size_bytes = memory->get_tx_bytes();
        if (!r[i].write) {
            reads++;
            request.callback = [&done](Ramulator::Request &) { done++; };
        }
        lines[r[i].channel].push_back(std::move(request));
        arrivals[r[i].channel].push_back(r[i].arrival);
    }
    const double start = peer_seconds();
    int64_t t = 0;
    for (; done < reads || sent < n; t++) {
        memory->tick();
        for (size_t c = 0; c < lines.size(); c++)
            if (!lines[c].empty() && arrivals[c].front() <= t && memory->send(lines[c].front())) {
                lines[c].pop_front();
                arrivals[c].pop_front();
                sent++;
            }
    }
    peer_print(n, t, peer_seconds() - start);
    return 0;
}
