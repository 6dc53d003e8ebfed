#!/usr/bin/env python3
"""make check-examples: every example that a reader may try is tried.

usage: examples.py PROGRAM [WORD]. Commands come from `offchip COMMAND --help` and from the code blocks of README.md and
docs/*.md: lines in which offchip is run, and after them the page's blocks of Python. Each must end with status 0, and
print what its ```console block shows, or what fixtures/examples/PAGE keeps; UPDATE=1 mends both. Each page runs in order
in a fresh folder of inputs that have the names of the examples, made here from fixtures/. What needs hardware or takes
minutes is not run, and said so. With WORD, only pages whose name holds it."""
import concurrent.futures
import difflib
import glob
import gzip
import lzma
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

PROGRAM = os.path.abspath(sys.argv[1])
BUILD = os.path.dirname(PROGRAM)
ROOT = os.getcwd()
NOT_RUN = [(r'--interface|tcpdump', 'a network card and root'), (r'record .*--(counters|accesses|touches|apply|check)|advise (--|--try) ', 'a GPU'), (r'\bmpirun\b', 'MPI'),
           (r'seq 20', 'minutes'), (r'graph=uk5', 'the graph itself'), (r'\.load /usr/local', 'make install'),
           (r'\bsynth:blur\b', "the page's own program, which its test compiles and runs")]


def from_help():
    listing = subprocess.run([PROGRAM, '--help'], capture_output=True, text=True, check=True).stdout
    for command in re.findall(r'^  ([a-z]+) ', listing, re.M):
        text = subprocess.run([PROGRAM, command, '--help'], capture_output=True, text=True, check=True).stdout
        yield 'offchip %s --help' % command, text.partition('\nExamples:\n')[2].partition('\n\n')[0]


ASKED, OUTPUTS = {}, {}  # what came of a command; of ```console blocks: a page's command, and what it prints


def from_docs():
    for page in ['README.md'] + sorted(glob.glob('docs/*.md')):
        text = Path(page).read_text()
        OUTPUTS.update({(page, command): out for command, out in re.findall(r'^```console\n\$ ([^\n]*)\n(.*?)^```', text, re.M | re.S)})
        yield page, '\n'.join(re.sub(r'^\$ ', '    ', line) for line in text.split('\n') if re.match('    |\\$ ', line))


def has(interpreter, package):
    return os.path.exists(interpreter) and subprocess.run([interpreter, '-c', 'import ' + package], capture_output=True).returncode == 0


def python_for(packages):
    """An interpreter that has the packages, this one or Debian's, and those that it lacks."""
    return min(((i, [p for p in packages if not has(i, p)]) for i in (sys.executable, '/usr/bin/python3')), key=lambda one: len(one[1]))


def blocks_of_python(page):
    """Scripts of a page, each with its interpreter and the packages that it needs and no interpreter here has."""
    for block in re.findall(r'^```python\n(.*?)^```', Path(page).read_text() if page.endswith('.md') else '', re.M | re.S):
        yield block, *python_for(re.findall(r'^import (numpy|pandas)\b', block, re.M))


def commands(text):
    """Whole commands: lines joined at a backslash and inside quotes."""
    whole = ''
    for line in text.split('\n'):
        whole = whole[:-1] + line.strip() if whole.endswith('\\') else (whole + '\n' + line.strip()) if whole else line.strip()
        if whole.endswith('\\'):
            continue
        try:
            words = shlex.split(whole, comments=True)
        except ValueError:
            if whole.count('\n') < 5:
                continue
            words = []
        run = any(w in ('offchip', 'build/offchip') and (i == 0 or words[i - 1] in ('|', '&&')) for i, w in enumerate(words))
        if run or '<(offchip' in whole:
            yield whole
        whole = ''


def make_inputs(folder):
    """Files of the names that examples use."""
    path = lambda name: os.path.join(folder, name)
    offchip = lambda command, *args: subprocess.run([PROGRAM, command, '-q', *args], check=True, stdout=subprocess.DEVNULL)
    write = lambda name, lines: Path(path(name)).write_text(''.join(lines))
    os.mkdir(folder)
    recording = 'fixtures/traces/uvm_seq_256MiB_complete.csv.xz'
    shutil.copy(recording, path('recording.csv.xz'))
    rows = lzma.open(recording).read()
    half = rows.index(b'\n', len(rows) // 2) + 1
    for name, part in (('capture.csv.gz', rows), ('part1.csv.gz', rows[:half]), ('part2.csv.gz', rows[half:])):
        Path(path(name)).write_bytes(gzip.compress(part))
    Path(path('events.csv')).write_bytes(rows)
    offchip('import', recording, '-o', path('s.db'))
    write('plan.ini', ['[plan]\nversion = 1\npredicted_time_ns = 38000000\n[allocation 0]\nbytes = 268435456\nadvise = read-mostly\n'])
    for name in ('recording.db', 'trace.db', 't.db', 'app.db', 'applied.db', 'faults.db', 'before.db', 'after.db', 'changed.db'):
        shutil.copy(path('s.db'), path(name))
    offchip('diff', path('plan.ini'), path('t.db'), '--ledger', path('ledger.csv'))
    write('t.csv', ['seq,ts,address,op\n', *('%d,%g,%d,%s\n' % (i, i / 4, i * 4096, 'RW'[i % 2]) for i in range(20))])
    offchip('sweep', '-j', '1', 'uvm', 'synth:bicg,bytes=16MiB', 'synth:nw,bytes=16MiB', '--policy', 'tree,adaptive,fixed', '--grid',
            'oversubscription_pct=0|125', '-o', path('results.db'))
    for i, name in enumerate(('shard-1.db', 'shard-2.db', 'monday.db', 'tuesday.db')):
        offchip('replay', 'uvm', 'synth:bicg,bytes=%dMiB' % (4 + i), '--policy', 'tree,adaptive', '-o', path(name))
    for i in (1, 2):
        offchip('import', path('part%d.csv.gz' % i), '-o', path('app.104%d.db' % i))
        offchip('sweep', '-j', '1', 'dram', '--mem', 'synth:gpu-g1', '--mem', 'synth:gpu-g2', '--pim', 'synth:pim-add', '--policy', 'frfcfs,f3fs', '--grid', 'vcs=1|2', '--shard', '%d/8' % i, '-o', path('part%d.db' % i))
        os.makedirs(path('results'), exist_ok=True)
        shutil.copy(path('shard-%d.db' % i), path('results/part-%d.db' % i))
    offchip('sweep', '-j', '1', 'dram', '--mem', 'synth:gpu-g1', '--mem', 'synth:gpu-g2', '--pim', 'synth:pim-add,ops=100', '--policy',
            'fcfs,f3fs', '-o', path('pairs.db'))
    offchip('import', 'fixtures/traces/accesses_h200.txt.xz', '-o', path('accesses.db'))
    shutil.copy(path('accesses.db'), path('bfs.db'))
    offchip('import', 'fixtures/captures/matching.pcap', '-o', path('pcie.db'))
    for source, name in (('captures/matching.pcap', 'capture.pcap'), ('calibrate/h200.csv', 'rows.csv'), ('calibrate/h200_others.csv', 'others.csv'),
                         ('graphs/scipy_csr.npz', 'reddit.npz'), ('calibrate/placement_board.csv', 'board.csv')):
        shutil.copy('fixtures/' + source, path(name))
    for name in ('traces', 'hw_run/bfs'):
        shutil.copytree('fixtures/accelsim', path(name))
    write('requests.csv', ['kind,time_cycles,addr,bytes,id\n', *('DRAM_READ,%d,%d,64,%d\n' % (i * 3, i * 4096 % 65536, i) for i in range(500))])
    write('microbenchmarks.csv', ['what,bytes,ms\n', *('%s,%d,%g\n' % (what, 1 << k, 0.1 + (1 << k) / 8e6) for what in ('copy_hd', 'copy_dh') for k in range(16, 24))])
    edges = [(i, (i * 7 + k * k * 5 + 1) % 64) for i in range(64) for k in range(6)]
    write('web.mtx', ['%%%%MatrixMarket matrix coordinate pattern general\n64 64 %d\n' % len(edges), *('%d %d\n' % (a + 1, b + 1) for a, b in edges)])
    Path(path('soc.txt.gz')).write_bytes(gzip.compress(''.join('%d\t%d\n' % (a * 10, b * 10) for a, b in edges).encode()))
    for name in ('NAME.bel', 'kron20.bel'):
        offchip('graph', 'convert', 'synth:kron,scale=12,k=8', '-o', path(name))
    for name in ('kron20.bel.col', 'kron20.bel.dst'):
        shutil.move(path(name), path('small-' + name))
    write('rows.txt', ['%d\n' % (i * i % 5000) for i in range(20000)])
    write('query.sql', ['SELECT count(*) AS n FROM records;\n'])
    for name, line in (('app', 'exec %s/standin/target init context alloc play destroy' % BUILD), ('launcher', '"$@" && "$@"')):
        write(name, ['#!/bin/sh\n%s\n' % line])
        os.chmod(path(name), 0o755)
    for code in re.findall(r'^```c\n(/\* ([a-z]+):.*?\nOFFCHIP_.*?)^```', Path('docs/adding-a-policy.md').read_text(), re.M | re.S):
        write(code[1] + '.c', [code[0]])
    os.symlink(os.path.join(ROOT, 'fixtures'), path('fixtures'))
    os.mkdir(path('build'))
    os.symlink(PROGRAM, path('build/offchip'))


def told(done):
    """What a command printed, without what differs from run to run; of much the beginning, and a sum of all."""
    text = re.sub(r'^origin:\n(  .*\n?)+|^  "origin": \{.*?^  \},?\n|(?<=process )\d+|(?<=over )\d{6}(?= s)', '', done.stdout + done.stderr, flags=re.M | re.S)
    lines = text.splitlines(True)
    return text if len(lines) <= 50 else ''.join(lines[:24]) + '(of %d lines, crc32 %08x)\n' % (len(lines), zlib.crc32(text.encode()))


def clean(command, folder):
    """Outputs of the command that lie there as inputs of another: the example makes its own."""
    for name in re.findall(r'(?:-o|--html|--mapping) (\S+)', command):
        for found in filter(os.path.isfile, glob.glob(os.path.join(folder, name) + '*')):
            os.unlink(found)


def try_page(page, text, work, env):
    """What is to be said, and how many commands passed, failed and were skipped."""
    passed, failed, skipped, said, folder = 0, 0, 0, '', tempfile.mkdtemp(dir=work)
    shutil.copytree(os.path.join(work, 'inputs'), folder, symlinks=True, dirs_exist_ok=True)
    keeps = Path('fixtures/examples', re.sub('^offchip | --.*', '', page).replace('/', '-'))
    kept = dict(re.findall(r'^\$ (.*?)\n-+\n(.*?)(?=^\$ |\Z)', keeps.read_text() if keeps.exists() else '', re.M | re.S))
    tries = [(command, ['bash', '-o', 'pipefail', '-c', command.replace('offchip sweep', 'offchip sweep -j 1')], None, [why for sign, why in NOT_RUN if re.search(sign, command)]) for command in commands(text)]
    tries += [(block.split('\n')[0], [interpreter, '-'], block, lacking) for block, interpreter, lacking in blocks_of_python(page)]
    for what, argv, text, lacking in tries:
        if lacking:
            skipped += 1
            said += 'skip %s: %s\n     needs %s\n' % (page, what, ', '.join(lacking))
            continue
        clean(what, folder)
        try:
            # What has no file but a page that it writes comes out alike wherever it stands.
            alone = 'synth:' in what and not re.search(r' -o |[./<>|&]', re.sub(r' --html \S+', '', what))
            done = alone and ASKED.get(what) or subprocess.run(argv, input=text or '', text=True, errors='replace', cwd=folder, env=env, capture_output=True, timeout=900)
            ASKED[what] = done
            status, error = done.returncode, done.stderr
        except subprocess.TimeoutExpired:
            status, error = 124, 'took more than a quarter of an hour'
        good = status == 0 or (status == 141 and '| head' in what)  # head has seen enough
        now, shown = (done.stdout, OUTPUTS[page, what]) if (page, what) in OUTPUTS else (told(done), kept.get(what, '')) if good else ('', '')
        if now != shown and 'pandas' not in (text or ''):
            if good and os.environ.get('UPDATE') and (page, what) in OUTPUTS:
                Path(page).write_text(Path(page).read_text().replace('$ %s\n%s```' % (what, shown), '$ %s\n%s```' % (what, now)))
            good, error = False, 'prints otherwise:\n' + '\n'.join(list(difflib.unified_diff(shown.splitlines(), now.splitlines(), lineterm='', n=0))[2:])
        kept[what] = now if good or now else kept.get(what, '')
        passed, failed = passed + good, failed + (not good)
        if not good:
            said += 'FAIL %s: %s\n     status %d: %s\n' % (page, what, status, error.strip())
    shutil.rmtree(folder)
    text = ''.join('$ %s\n----\n%s' % (what, kept[what]) for what, *_ in tries if what in kept and (page, what) not in OUTPUTS)
    if os.environ.get('UPDATE') and text:
        keeps.write_text(text)
    return said, passed, failed, skipped


def main():
    word = sys.argv[2] if len(sys.argv) > 2 else ''
    work = tempfile.mkdtemp(prefix='offchip-examples-')
    env = dict(os.environ, PATH=BUILD + ':' + os.environ['PATH'], HOME=work, LC_ALL='C',
               LD_LIBRARY_PATH=BUILD + '/standin', STANDIN_EVENTS=os.path.join(work, 'inputs/events.csv'))
    os.makedirs(os.path.join(work, '.local/share/bash-completion/completions'))
    make_inputs(os.path.join(work, 'inputs'))
    passed = failed = skipped = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for said, p, f, k in pool.map(lambda page: try_page(*page, work, env), [page for page in [*from_help(), *from_docs()] if word in page[0]]):
            print(said, end='')
            passed, failed, skipped = passed + p, failed + f, skipped + k
    shutil.rmtree(work)
    print('examples: %d run, %d not' % (passed + failed, skipped))
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
