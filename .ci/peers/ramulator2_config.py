"""Ramulator 2.1 with the numbers of the platform gv100; for `python3 -m ramulator export`. CHANNELS and REFRESH in the
environment."""
import os

import ramulator

# ACT takes two cycles there and all times run from the end of the first command to that of the second: one cycle off.
dram = dict(org_preset="HBM2_8Gb", timing_preset="HBM2_1600Mbps", pseudochannel=1, nBL=1, nCL=12, nCWL=2, nRCDRD=11,
            nRCDWR=8, nRP=13, nRAS=27, nRC=40, nWR=10, nRTPL=3, nCCDS=1, nCCDL=2, nWTRS=3, nWTRL=3, nRRDS=3, nRRDL=3,
            nFAW=12, nREFI=3315, nRFC=298)
controllers = [
    ramulator.controller.HBM12(
        read_buffer_size=64, write_buffer_size=64,
        dram=ramulator.dram.HBM2(**dram),
        scheduler=ramulator.scheduler.FRFCFS(),
        refresh_manager=(ramulator.refresh_manager.AllBank() if os.environ.get("REFRESH") == "on"
                         else ramulator.refresh_manager.NoRefresh()),
        row_policy=ramulator.row_policy.Open(),
        addr_mapper=ramulator.addr_mapper.PassThroughAddrMapper())
    for _ in range(int(os.environ.get("CHANNELS", "1")))]
memory = ramulator.memory_system.GenericDRAM(
    clock_ratio=1, controllers=controllers, channel_mapper=ramulator.channel_mapper.PassThroughChannelMapper())
sim = ramulator.Simulation(ramulator.frontend.External(clock_ratio=1), memory)
sim.run()
