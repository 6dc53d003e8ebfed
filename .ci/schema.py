#!/usr/bin/env python3
"""The JSON that commands print against docs/schema/*.json (JSON Schema, draft 2020-12, as much of it as they use).

usage: schema.py PROGRAM [-v], in an empty folder that has fixtures/. Every schema says what each property is and refuses others;
every output fits its schema; with a property more, or a required one less, it does not; and properties that
are in none of the outputs are named with -v."""
import copy
import glob
import json
import os
import subprocess
import sys

PROGRAM = os.path.abspath(sys.argv[1])
FOLDER = os.path.join(os.path.dirname(os.path.realpath(__file__)), '..', 'docs', 'schema')
BUILD = os.path.dirname(PROGRAM)
# Recordings without a GPU: stand-ins for driver and CUPTI.
STANDIN = {'LD_LIBRARY_PATH': BUILD + '/standin', 'OFFCHIP_CUPTI': BUILD + '/standin/libcupti.so', 'STANDIN_EVENTS': 'events.csv',
           'STANDIN_COUNTERS': 'fixtures/standin/counters.csv', 'ASAN_OPTIONS': 'detect_leaks=0'}
KEYWORDS = {'$schema', '$id', '$ref', '$defs', 'title', 'description', 'type', 'properties', 'required', 'additionalProperties',
            'items', 'minItems', 'maxItems', 'enum', 'const', 'anyOf'}
TYPES = {'object': lambda v: isinstance(v, dict), 'array': lambda v: isinstance(v, list), 'string': lambda v: isinstance(v, str),
         'boolean': lambda v: isinstance(v, bool), 'null': lambda v: v is None,
         'integer': lambda v: isinstance(v, int) and not isinstance(v, bool),
         'number': lambda v: isinstance(v, (int, float)) and not isinstance(v, bool)}


class Schema:
    def __init__(self, name):
        with open(os.path.join(FOLDER, name + '.json')) as f:
            self.root = json.load(f)
        self.name, self.seen, self.all = name, set(), set()
        self.look(self.root, name)

    def look(self, node, place):
        """What the form of a schema itself must be."""
        assert set(node) <= KEYWORDS, '%s: %s' % (place, set(node) - KEYWORDS)
        if node.get('type') == 'object':
            assert 'additionalProperties' in node, '%s does not say whether there are other properties' % place
        for key, child in node.get('properties', {}).items():
            assert child.get('description'), '%s.%s is not described' % (place, key)
            self.all.add(id(child))
            self.look(child, place + '.' + key)
        for key in node.get('required', []):
            assert key in node['properties'], '%s requires %s, which it does not have' % (place, key)
        for key in ('items', 'additionalProperties'):
            if isinstance(node.get(key), dict):
                self.look(node[key], place + '.' + key)
        for key, child in node.get('$defs', {}).items():
            self.look(child, place + '.' + key)
        for child in node.get('anyOf', []):
            self.look(child, place + '.anyOf')

    def fits(self, value):
        return self.errors(value, self.root, '$')

    def errors(self, v, node, place):
        """The first thing that is wrong, or None."""
        if '$ref' in node:
            wrong = self.errors(v, self.root['$defs'][node['$ref'].rsplit('/', 1)[1]], place)
            if wrong:
                return wrong
        if 'anyOf' in node:
            wrongs = [self.errors(v, child, place) for child in node['anyOf']]
            if None not in wrongs:
                return max(wrongs, key=len)
        types = node.get('type', [])
        if types and not any(TYPES[t](v) for t in ([types] if isinstance(types, str) else types)):
            return '%s is %s, not %s' % (place, json.dumps(v)[:60], types)
        if 'const' in node and v != node['const'] or 'enum' in node and v not in node['enum']:
            return '%s is %s, not %s' % (place, json.dumps(v)[:60], node.get('const', node.get('enum')))
        if isinstance(v, list) and not node.get('minItems', 0) <= len(v) <= node.get('maxItems', len(v)):
            return '%s has %d items' % (place, len(v))
        for i, item in enumerate(v if isinstance(v, list) and 'items' in node else []):
            wrong = self.errors(item, node['items'], '%s[%d]' % (place, i))
            if wrong:
                return wrong
        return self.object_errors(v, node, place) if isinstance(v, dict) else None

    def object_errors(self, v, node, place):
        for key in node.get('required', []):
            if key not in v:
                return '%s has no %s' % (place, key)
        for key, item in v.items():
            child = node.get('properties', {}).get(key, node.get('additionalProperties', True))
            if child is False:
                return '%s.%s is in no schema' % (place, key)
            if child is True:
                continue
            self.seen.add(id(child))
            wrong = self.errors(item, child, place + '.' + key)
            if wrong:
                return wrong
        return None

    def unseen(self, node, place):
        for key, child in node.get('properties', {}).items():
            if id(child) not in self.seen:
                yield place + '.' + key
            yield from self.unseen(child, place + '.' + key)
        for key in ('items', 'additionalProperties'):
            if isinstance(node.get(key), dict):
                yield from self.unseen(node[key], place)
        for child in list(node.get('$defs', {}).values()) + node.get('anyOf', []):
            yield from self.unseen(child, place)


def broken(value):
    """Copies of a document, each with one thing wrong: another property, or one that is gone."""
    for path in list(objects(value, [])):
        for how in ('more', 'less'):
            other = copy.deepcopy(value)
            at = other
            for step in path:
                at = at[step]
            if how == 'more':
                at['no_such_property'] = {}
            elif at:
                del at[next(iter(at))]
            yield how, path, other


def objects(value, path):
    """Paths of objects; of each array the first item's only, of tables of objects those of the first three."""
    if isinstance(value, dict):
        yield path
        table = all(isinstance(item, dict) for item in value.values())
        for key, item in list(value.items())[:3 if table else None]:
            yield from objects(item, path + [key])
    elif isinstance(value, list) and value:
        yield from objects(value[0], path + [0])


def run(*args):
    done = subprocess.run([PROGRAM, *args[:1], '-q', *args[1:]], capture_output=True, text=True)
    assert done.returncode == 0, '%s: %s' % (' '.join(args), done.stderr)
    return done.stdout


def make_inputs():
    run('import', 'fixtures/traces/uvm_seq_256MiB_complete.csv.xz', '-o', 's.db')
    run('import', 's.db', '--from', '150ms', '--to', '152ms', '-o', 'sample.db')
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
    run('diff', 'plan.ini', 's.db', '--ledger', 'ledger.csv')


DOCUMENTS = [
    ('info', ['info', 's.db']), ('info', ['info', 's.db', '--by', 'kernel']), ('info', ['info', 's.db', '--by', 'batch']),
    ('info', ['info', 'sample.db']), ('info', ['info', 'pcie.db']), ('info', ['info', 'damaged.db']),
    ('info', ['info', 'counters.db']), ('info', ['info', 'managed.db', '--by', 'allocation']),
    ('verify', ['verify', 's.db']), ('verify', ['verify', 'a.db']),
    ('replay', ['replay', 'uvm', 'synth:bicg,bytes=4MiB', '--policy', 'tree,none', '--baseline', 'fixed', '--robust', '1']),
    ('replay', ['replay', 'uvm', 's.db', '--policy', 'tree,none']), ('replay', ['replay', 'dram', '--mem', 'r.db', '--mem', 'r.db', '--policy', 'fcfs']),
    ('replay', ['replay', 'zerocopy', 'synth:triad,bytes=1MiB']), ('replay', ['replay', 'placement', 'synth:bicg,bytes=4MiB']),
    ('report', ['report', 'a.db', 'b.db']), ('report', ['report', 'a.db', '--by', 'kernel']),
    ('report', ['report', 'a.db', 'b.db', '--pivot', 'oversubscription_pct']),
    ('report', ['sweep', 'uvm', 'synth:bicg,bytes=4MiB', '--policy', 'tree', '--grid', 'oversubscription_pct=0|125', '-o', 'c.db']),
    ('diff', ['diff', 'a.db', 'b.db']), ('diff', ['diff', 'a.db#1', 'a.db#2']), ('diff', ['diff', 'plan.ini', 's.db']),
    ('compare', ['compare', 'synth:triad,bytes=1MiB', '--robust', '2', '--top', '2']),
    ('calibrate', ['calibrate', 'ledger', 'ledger.csv']),
    ('calibrate', ['calibrate', 'zerocopy', 'fixtures/calibrate/h200.csv', '-o', 'x.ini', '--base', 'h200', '--predict', 'fixtures/calibrate/h200_others.csv']),
    ('graph-score', ['graph', 'score', 'synth:kron,scale=8,k=4', '--top', '3']),
    ('sql', ['sql', 's.db', "SELECT 1 AS a, 'x' AS b, NULL AS c"]),
    *[('list', ['list', what]) for what in ('engines', 'policies', 'platforms', 'programs', 'formats', 'figures', 'metrics', 'settings',
                                            'parameters', 'keys', 'numbers')],
    ('list', ['list', 'platforms', 'h200'])]


def main():
    schemas = {os.path.basename(p)[:-5]: None for p in sorted(glob.glob(os.path.join(FOLDER, '*.json')))}
    schemas = {name: Schema(name) for name in schemas}
    make_inputs()
    bad = changed = 0
    for name, args in DOCUMENTS:
        value = json.loads(run(*args, '--format', 'json'))
        wrong = schemas[name].fits(value)
        if wrong:
            bad += 1
            print('%s: %s' % (' '.join(args), wrong))
            continue
        seen = set(schemas[name].seen)
        for how, path, other in broken(value):
            refused = schemas[name].fits(other) is not None
            changed += refused
            if how == 'more' and not refused and path == []:
                bad += 1
                print('%s: another property at the root is not refused' % ' '.join(args))
        schemas[name].seen = seen
    for name, schema in schemas.items() if '-v' in sys.argv else ():
        for place in schema.unseen(schema.root, name):
            print('in none of these outputs: %s' % place)
    print('%d documents of %d schemas, %d wrong' % (len(DOCUMENTS), len(schemas), bad))
    return 1 if bad or not changed else 0


if __name__ == '__main__':
    sys.exit(main())
