#!/bin/sh
# make check-slurm: docs/sweep.sbatch for real, as a job array of four shards under slurmctld, slurmd and munged of our own
# on this machine; the merged parts must equal one sweep. One task is cancelled on its way and submitted again.
# Needs Debian's slurm-wlm and munge; says so and ends with 0 where they are not there or cannot run.
# usage: check_slurm.sh PROGRAM
set -u
prog=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
script=$(pwd)/docs/sweep.sbatch
PATH=$PATH:/usr/sbin:/sbin
skip() { echo "check-slurm: skipped: $*"; exit 0; }
for tool in slurmctld slurmd munged sbatch squeue scancel; do
    command -v $tool > /dev/null || skip "no $tool; install the packages slurm-wlm and munge"
done

dir=$(mktemp -d "${TMPDIR:-/tmp}/offchip-slurm-XXXXXX") || exit 1
chmod 755 "$dir" # munged wants to see that nobody else can write
daemons=
stop() {
    [ -n "${SLURM_CONF:-}" ] && scancel -Q -u "$(id -un)" 2> /dev/null && sleep 1
    kill $daemons 2> /dev/null
    for pid in $daemons; do
        for i in $(seq 10); do kill -0 "$pid" 2> /dev/null && sleep 0.5; done
        kill -9 "$pid" 2> /dev/null
    done
    rm -rf "$dir"
}
trap stop EXIT
trap 'exit 1' INT TERM

# Two ports that nobody listens on.
ports=$(python3 -c 'import socket
s = [socket.socket() for _ in range(2)]
for x in s: x.bind(("127.0.0.1", 0))
print(*[x.getsockname()[1] for x in s])') || skip "no free ports"
user=$(id -un) host=$(hostname -s)
mkdir "$dir/state" "$dir/spool" "$dir/munge"
head -c 1024 /dev/urandom > "$dir/munge/key"
chmod 400 "$dir/munge/key"
printf '%s\n' ClusterName=offchip "SlurmctldHost=$host(127.0.0.1)" "SlurmUser=$user" "SlurmdUser=$user" "SlurmctldPort=${ports% *}" \
    "SlurmdPort=${ports#* }" AuthType=auth/munge "AuthInfo=socket=$dir/munge/socket" "StateSaveLocation=$dir/state" \
    "SlurmdSpoolDir=$dir/spool" "SlurmctldPidFile=$dir/slurmctld.pid" "SlurmdPidFile=$dir/slurmd.pid" \
    "SlurmctldLogFile=$dir/slurmctld.log" "SlurmdLogFile=$dir/slurmd.log" ProctrackType=proctrack/linuxproc TaskPlugin=task/none \
    JobAcctGatherType=jobacct_gather/none AccountingStorageType=accounting_storage/none MpiDefault=none \
    SelectType=select/cons_tres SelectTypeParameters=CR_CPU ReturnToService=2 SlurmdParameters=config_overrides \
    "NodeName=$host NodeAddr=127.0.0.1 CPUs=8" "PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP" > "$dir/slurm.conf"

munged --foreground --key-file="$dir/munge/key" --socket="$dir/munge/socket" --pid-file="$dir/munge/pid" \
    --log-file="$dir/munge/log" --seed-file="$dir/munge/seed" > "$dir/munge/out" 2>&1 &
daemons="$!"
for i in $(seq 10); do [ -S "$dir/munge/socket" ] || sleep 0.5; done
[ -S "$dir/munge/socket" ] || skip "munged does not start: $(tail -n 1 "$dir/munge/out")"
SLURM_CONF=$dir/slurm.conf
export SLURM_CONF
slurmctld -D > "$dir/slurmctld.out" 2>&1 &
daemons="$! $daemons"
slurmd -D > "$dir/slurmd.out" 2>&1 &
daemons="$! $daemons"
for i in $(seq 60); do [ "$(sinfo -h -o %T 2> /dev/null)" = idle ] || sleep 0.5; done
[ "$(sinfo -h -o %T 2> /dev/null)" = idle ] || skip "slurmd does not come up: $(tail -qn 1 "$dir/slurmctld.out" "$dir/slurmd.out" | tr '\n' ' ')"

cd "$dir" || exit 1
bad() { echo "check-slurm: FAIL: $*"; exit 1; }
sweep="dram --mem synth:gpu-g1 --mem synth:gpu-g6 --mem synth:gpu-g15 --mem synth:gpu-g19 --pim synth:pim-add
    --pim synth:pim-copy --pim synth:pim-fc --policy fcfs,frfcfs,f3fs --grid vcs=1|2"
# shellcheck disable=SC2086
OFFCHIP=$prog sbatch --parsable --array=1-4 "$script" results $sweep > job || bad "sbatch: $(cat job)"
job=$(cat job)
# Until task 2 has begun, or all is over.
while [ ! -s results/part-2.db ] && squeue -h -j "$job" | grep -q .; do sleep 0.05; done
scancel "${job}_2"
while squeue -h -j "$job" | grep -q .; do sleep 0.2; done
SHARDS=4 OFFCHIP=$prog sbatch --wait --parsable --array=2 "$script" results $sweep > again ||
    bad "the task submitted again failed: $(cat slurm-*.out)"
again=$(cat again)
cat slurm-"${job}"_*.out slurm-"${again}"_2.out > said
cat said
[ "$(grep -cE '^offchip: [0-9]+ points run, [0-9]+ found finished' said)" -ge 4 ] ||
    bad "four tasks should have said how many points they ran"
"$prog" merge -q results/part-*.db -o merged.db || bad "merge"
# shellcheck disable=SC2086
"$prog" sweep -q $sweep -o one.db || bad "sweep"
for f in one merged; do
    "$prog" report $f.db --format csv > $f.csv || bad "report"
done
cmp one.csv merged.csv || bad "four tasks merged are not what one sweep gives"
echo "check-slurm: ok: array $job of 4 tasks, task 2 cancelled and run again as $again; $(wc -l < merged.csv) lines of report" \
    "equal to one sweep's"
