/* table_forms: the tables that the profilers of NVIDIA print (nvprof --print-gpu-trace, as csv or not; nsys stats -r
 * cuda_gpu_trace), as the lists that option columns and kinds of reader table take. */
#pragma once

static const char table_known_columns[] =
    "kind=Name,name=Name,time=Start,dur=Duration,addr=Virtual Address,bytes=Unified Memory,bytes=Size,bytes=Bytes,"
    "device=Device,grid=Grid Size,block=Block Size,grid_x=Grid X,grid_x=GrdX,grid_y=Grid Y,grid_y=GrdY,grid_z=Grid Z,"
    "grid_z=GrdZ,block_x=Block X,block_x=BlkX,block_y=Block Y,block_y=BlkY,block_z=Block Z,block_z=BlkZ,"
    "registers=Regs*,registers=Registers Per Thread,registers=Reg/Trd,stream=Stream,stream=Strm";

static const char table_known_kinds[] =
    "[Unified Memory Memcpy HtoD]=MIGRATE_H2D,[Unified Memory Memcpy DtoH]=MIGRATE_D2H,"
    "[Unified Memory Memcpy DtoD]=MIGRATE_D2D,[Unified Memory GPU page faults]=FAULT,"
    "[Unified Memory CPU page faults]=CPU_FAULT,[Unified Memory thrashing]=THRASH,"
    "[Unified Memory page throttle]=THROTTLE,[Unified Memory remote mapping]=REMOTE_MAP,"
    "[CUDA Unified Memory memcpy HtoD]=MIGRATE_H2D,[CUDA Unified Memory memcpy DtoH]=MIGRATE_D2H,"
    "[CUDA Unified Memory memcpy DtoD]=MIGRATE_D2D,[CUDA Unified Memory memcpy Host-to-Device]=MIGRATE_H2D,"
    "[CUDA Unified Memory memcpy Device-to-Host]=MIGRATE_D2H,[CUDA Unified Memory memcpy Device-to-Device]=MIGRATE_D2D,"
    "[CUDA memcpy *]=COPY,*=KERNEL";
