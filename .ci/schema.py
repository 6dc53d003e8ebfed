#!/usr/bin/env python3
"""The JSON that commands print against docs/schema/*.json (JSON Schema, draft 2020-12).

usage: schema.py PROGRAM, in an empty folder that has fixtures/. Every schema says what each property is and whether there are
others; every output fits its schema, and with a property more or less it does not."""
import glob
import json
import os
import subprocess
import sys

import jsonschema

PROGRAM = os.path.abspath(sys.argv[1])
FOLDER = os.path.join(os.path.dirname(os.path.realpath(__file__)), '..', 'docs', 'schema')
BUILD = os.path.dirname(PROGRAM)
# Recordings without a GPU: stand-ins for driver and CUPTI.
STANDIN = {'LD_LIBRARY_PATH': BUILD + '/standin', 'OFFCHIP_CUPTI': BUILD + '/standin/libcupti.so', 'STANDIN_EVENTS': 'events.csv',
           'STANDIN_COUNTERS': 'fixtures/standin/counters.csv', 'ASAN_OPTIONS': 'detect_leaks=0'}


def form(node, place):
    """What a schema of ours must be: every property described, every object closed or open on purpose."""
    assert node.get('type') != 'object' or 'additionalProperties' in node, '%s does not say whether there are other properties' % place
    for key, child in node.get('properties', {}).items():
        assert child.get('description'), '%s.%s is not described' % (place, key)
    assert set(node.get('required', [])) <= set(node.get('properties', {})), '%s requires what it does not have' % place
    for child in [*node.get('properties', {}).values(), *node.get('$defs', {}).values(), *node.get('anyOf', []), node.get('items'), node.get('additionalProperties')]:
        if isinstance(child, dict):
            form(child, place + '.')


def fault(v, schema):
    """What is most wrong with a value, or None."""
    worst = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(v))
    return worst and '%s: %s' % (worst.json_path, worst.message[:200])


def broken(value):
    """The document with a property more, and without its first, in its root, or in its first item.
    Rows of sql have any."""
    if isinstance(value, list):
        return [[other] + value[1:] for other in broken(value[0])]
    return [{**value, 'no_such_property': {}}, dict(list(value.items())[1:])]


def run(*args):
    done = subprocess.run([PROGRAM, *args[:1], '-q', *args[1:]], capture_output=True, text=True)
    assert done.returncode == 0, '%s: %s' % (' '.join(args), done.stderr)
    return done.stdout


def make_inputs():
    run('import', 'fixtures/traces/uvm_seq_256MiB_complete.csv.xz', '-o', 's.db')
    run('import', 'fixtures/captures/matching.pcap', '-o', 'pcie.db')
    run('import', 'fixtures/captures/damaged.pcap', '-o', 'damaged.db')
    os.environ.update({k: v for k, v in STANDIN.items()})
    run('record', '--counters', '-o', 'counters.db', '--', BUILD + '/standin/target', 'init', 'context', 'kernel:bfs_naive*5')
    with open('events.csv', 'w') as f:
        f.write('K,9000,19000,triad\n1,10000,12000,7f0000020000,4096,0,0,0,0,2\n')
    run('record', '-o', 'managed.db', '--', BUILD + '/standin/target', 'init', 'context', 'managed:65536', 'play')
    for name, pct in (('a.db', 0), ('b.db', 125)):
        run('replay', 'uvm', 'synth:bicg,bytes=4MiB', '--policy', 'tree,none', '--set', 'oversubscription_pct=%d' % pct, '-o', name)
    with open('r.csv', 'w') as f:
        f.write('kind,time_cycles,addr,bytes,id\n' + ''.join('DRAM_READ,%d,%d,64,%d\n' % (i * 5, i * 4096, i) for i in range(50)))
    run('import', 'r.csv', '-o', 'r.db')
    with open('plan.ini', 'w') as f:
        f.write('[plan]\nversion = 1\npredicted_time_ns = 38000000\npredicted_faults = 3\n[allocation 0]\nbytes = 4096\nadvise = read-mostly\n')


DOCUMENTS = [
    ('info', ['info', 's.db']), ('info', ['info', 's.db', '--by', 'kernel']), ('info', ['info', 's.db', '--by', 'batch']),
    ('info', ['info', 'pcie.db']), ('info', ['info', 'damaged.db']),
    ('info', ['info', 'counters.db']), ('info', ['info', 'managed.db', '--by', 'allocation']),
    ('verify', ['verify', 's.db']), ('verify', ['verify', 'a.db']),
    ('replay', ['replay', 'uvm', 'synth:bicg,bytes=4MiB', '--policy', 'tree,none', '--baseline', 'fixed', '--robust', '1']),
    ('replay', ['replay', 'uvm', 's.db', '--policy', 'tree,none']), ('replay', ['replay', 'dram', '--mem', 'r.db', '--mem', 'r.db', '--policy', 'fcfs']),
    ('replay', ['replay', 'zerocopy', 'synth:triad,bytes=1MiB']), ('replay', ['replay', 'placement', 'synth:bicg,bytes=4MiB']),
    ('report', ['report', 'a.db', 'b.db']), ('report', ['report', 'a.db', '--by', 'kernel']),
    ('report', ['report', 'a.db', 'b.db', '--pivot', 'oversubscription_pct']),
    ('report', ['sweep', 'uvm', 'synth:bicg,bytes=4MiB', '--policy', 'tree', '--grid', 'oversubscription_pct=0|125', '-o', 'c.db']),
    ('diff', ['diff', 'a.db', 'b.db']), ('diff', ['diff', 'a.db#1', 'a.db#2']), ('diff', ['diff', 'plan.ini', 's.db']), ('diff', ['diff', 's.db', 'managed.db']),
    ('compare', ['compare', 'synth:triad,bytes=1MiB', '--robust', '2', '--top', '2']),
    ('calibrate', ['calibrate', 'zerocopy', 'fixtures/calibrate/h200.csv', '-o', 'x.ini', '--base', 'h200', '--predict', 'fixtures/calibrate/h200_others.csv']),
    ('graph-score', ['graph', 'score', 'synth:kron,scale=8,k=4', '--top', '3']),
    ('sql', ['sql', 's.db', "SELECT 1 AS a, 'x' AS b, NULL AS c"]),
    *[('list', ['list', what]) for what in ('engines', 'policies', 'platforms', 'programs', 'formats', 'figures', 'metrics', 'settings',
                                            'parameters', 'keys', 'numbers')],
    ('list', ['list', 'platforms', 'h200'])]


def main():
    schemas = {}
    for path in sorted(glob.glob(os.path.join(FOLDER, '*.json'))):
        with open(path) as f:
            schemas[os.path.basename(path)[:-5]] = json.load(f)
    for name, schema in schemas.items():
        jsonschema.Draft202012Validator.check_schema(schema)
        form(schema, name)
    make_inputs()
    bad = 0
    for name, args in DOCUMENTS:
        value = json.loads(run(*args, '--format', 'json'))
        wrong = [w for w in [fault(value, schemas[name])] if w]
        wrong += ['a property more or less is not refused' for other in broken(value) if name != 'sql' and not fault(other, schemas[name])]
        bad += bool(wrong)
        for w in wrong:
            print('%s: %s' % (' '.join(args), w))
    print('%d documents of %d schemas, %d wrong' % (len(DOCUMENTS), len(schemas), bad))
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
