import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isWellFormedToken } from '../../src/lib/token.ts';
import { runHere, runIn } from './collect.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'heddle-validate-'));
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

function document(kind: string, name: string, spec: string): string {
  return `apiVersion: heddle.dev/v1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;
}

const codesOf = (out: string) => [...out.matchAll(/\((\w+)\)$/gm)].map(([, code]) => code);

describe('heddle validate', () => {
  test('accepts the quickstart without a warning', async () => {
    const { code, out, note } = await runIn(repository, ['validate', 'examples/quickstart']);
    expect([code, out, note]).toEqual([0, '15 documents in 5 files are valid.\n', '']);
  });

  test('assumes the features of the hosted edition, and that ports are free on the server', async () => {
    const ranges = 'port_ranges: [{start: 80, end: 80, protocol: tcp}]';
    write({ 'port.yaml': document('IngressPort', 'web-http', `{peer: web, name: http, ${ranges}}`) });
    const { code, out } = await runHere(['validate', root]);
    expect([code, out]).toEqual([0, expect.stringContaining('1 document in 1 file is valid.')]);
  });

  // The settings of a server are not documents.
  const folders = readdirSync(join(repository, 'examples'))
    .filter((name) => name !== 'server')
    .map((name) => (name === 'ci' ? 'ci/gitops/documents' : name));
  test.each(folders)('accepts examples/%s', async (name) => {
    const { code, out } = await runIn(repository, ['validate', `examples/${name}`]);
    expect([code, out]).toEqual([0, expect.stringMatching(/ valid\./)]);
  });

  test('reports every unreadable file, and checks the others', async () => {
    write({ 'a.yaml': document('Grup', 'g', '{}'), 'c.yaml': document('Group', 'c', '{}'), 'deep/b.yaml': '' });
    writeFileSync(join(root, 'b.yaml'), Buffer.from([0x61, 0xff]));
    writeFileSync(join(root, 'deep/d.yaml'), Buffer.from([0xc0]));
    symlinkSync('/nowhere', join(root, 'e.yaml'));
    const { code, out } = await runHere(['validate', root]);
    expect(out).toContain(`"${join(root, 'b.yaml')}" is not UTF-8 text; save it as UTF-8. (file_unreadable)`);
    expect(out).toContain('"e.yaml" is a broken symbolic link; repair or remove it. (file_unreadable)');
    expect(out).toContain('4 problems in 4 files.');
    expect([code, codesOf(out).sort()]).toEqual([
      5,
      ['file_unreadable', 'file_unreadable', 'file_unreadable', 'kind_unknown'],
    ]);
    rmSync(join(root, 'a.yaml'));
    expect((await runHere(['validate', root])).code).toBe(1);
    const single = await runHere(['validate', join(root, 'b.yaml'), join(root, 'c.yaml')]);
    expect([single.code, codesOf(single.out), single.note]).toEqual([1, ['file_unreadable'], '']);
    // A plan must fail when one of the files cannot be read.
    const planned = await runHere(['plan', root, '--source-name', 'x']);
    expect([planned.code, planned.note]).toEqual([1, expect.stringContaining('is a broken symbolic link')]);
  });

  test('reports all problems of all files at once with their positions, and exits with 5', async () => {
    write({
      'a.yaml': `${document('Grup', 'g', '{}')}---\n${document('Group', 'g', '{nam: x}')}`,
      'deep/b.yaml': document('Route', 'r', '{network_id: r, network: 10.0.0.1/8, peer_groups: [All], groups: [All]}'),
      'c.yaml': 'kind: [\n',
      'd.yaml': `${document('Group', 'twice', '{}')}---\n${document('Group', 'twice', '{}')}`,
    });
    const { code, out } = await runIn(root, ['validate', '.']);
    expect(code).toBe(5);
    expect(out).toContain('a.yaml:2:7: unknown kind `Grup`; did you mean `Group`? (kind_unknown)\n    Grup g  /kind\n');
    expect(out).toMatch(/a\.yaml:9:\d+: unknown field `nam`; did you mean `name`\? \(field_unknown\)/);
    expect(out).toMatch(
      /deep\/b\.yaml:4:\d+: `10\.0\.0\.1\/8` has host bits set after its prefix; write `10\.0\.0\.0\/8`/,
    );
    expect(out).toMatch(/c\.yaml:\d+:\d+: /);
    expect(out).toContain('d.yaml:6:1: The Group "twice" is declared twice');
    expect(out).toMatch(/\n\n\d+ problems in 4 files\.\n$/);
  });

  test('assumes that referenced values are set on the server where the reference is allowed', async () => {
    const service = (name: string, value: string) =>
      document('ProxyService', name, `{domain: ${name}.example.com, auth: {pin_auth: {enabled: true, pin: ${value}}}}`);
    const from = (origin: string, name: string) => `{valueFrom: {${origin}: ${name}}}`;
    write({
      'a.yaml': service('a', from('envRef', 'HEDDLE_VALUE_PIN')),
      'b.yaml': service('b', from('fileRef', 'pin')),
      'c.yaml': service('c', from('envRef', 'HOME')),
      'd.yaml': service('d', '"1234"'),
    });
    const { out } = await runIn(root, ['validate', '.']);
    expect(codesOf(out)).toEqual(['secret_unset', 'secret_literal']);
    expect(out).not.toContain('1234');
  });

  test('assumes that stored secrets, clusters and the addresses of referenced resources exist on the server', async () => {
    const target = '{target_id: office/db, target_type: subnet, host: 10.0.0.9, protocol: tcp, port: 5432}';
    const secret = '{pin_auth: {enabled: true, pin: {valueFrom: {stored: true}}}}';
    write({
      'a.yaml': document('ProxyService', 'a', `{domain: a.example.com, auth: ${secret}}`),
      'b.yaml': document(
        'ProxyService',
        'b',
        `{domain: b.example.com, mode: tcp, listen_port: 5432, targets: [${target}]}`,
      ),
      'c.yaml': document(
        'ProxyService',
        'c',
        '{domain: c.example.com, access_restrictions: {reputation_mode: observe}}',
      ),
    });
    const { code, out } = await runIn(root, ['validate', '.']);
    expect([code, codesOf(out)]).toEqual([0, ['reference_unknown']]);
    expect(out).toContain('3 documents in 3 files are valid.');
  });

  test('checks the rules of valid documents also when others are invalid', async () => {
    const rule = '{name: r, action: accept, protocol: icmp, ports: ["1"], sources: [g], destinations: [All]}';
    write({ 'a.yaml': document('Group', 'g', '{nam: x}'), 'b.yaml': document('Policy', 'p', `{rules: [${rule}]}`) });
    const { out } = await runIn(root, ['validate', '.']);
    expect(codesOf(out)).toEqual(['field_unknown', 'policy_ports_unused']);
  });

  test('assumes that objects without a document exist on the server, with a warning', async () => {
    const rule = '{name: r, action: accept, protocol: tcp, sources: [devz], destinations: ["id:x", "name:Y", All]}';
    write({
      'a.yaml': document('Group', 'devs', '{}'),
      'b.yaml': document('Policy', 'p', `{rules: [${rule}]}`),
      'c.yaml': document('DNSRecord', 'r', '{zone: far, name: a.example, type: A, content: 192.0.2.1}'),
    });
    const { code, out } = await runIn(root, ['validate', '.']);
    expect(code).toBe(0);
    expect(out).toContain('no document here states the Group `devz`: did you mean `devs`, or is it on the server?');
    expect(out).toContain('no document here states the DNSZone `far`; it must exist on the server');
    expect(codesOf(out)).toHaveLength(4);
    expect(out).toContain('\n3 documents in 3 files are valid.\n');
  });

  test('does not check references while a file cannot be parsed', async () => {
    const rule = '{name: r, action: accept, protocol: tcp, sources: [devs], destinations: [All]}';
    write({ 'a.yaml': 'kind: [\n', 'b.yaml': document('Policy', 'p', `{rules: [${rule}]}`) });
    expect((await runIn(root, ['validate', '.'])).out).not.toContain('reference_unknown');
  });

  test('counts references to objects that documents cannot create, such as peers', async () => {
    write({ 'a.yaml': document('Group', 'g', '{peers: [ana, bo]}') });
    const { code, out } = await runIn(root, ['validate', '.']);
    expect(code).toBe(0);
    expect(out).toContain(
      '2 references to objects that documents never create (such as peers) can only be checked by a server.',
    );
  });

  test('accepts an `adopt` annotation', async () => {
    const annotated = document('Group', 'g', '{}').replace(
      '{name: g}',
      '{name: g, annotations: {heddle.dev/adopt: "id:x"}}',
    );
    expect((await runIn(root, ['validate', '-'], { readInput: async () => annotated })).code).toBe(0);
  });

  test('reads each file once, and standard input for -', async () => {
    write({ 'a.yaml': document('Group', 'g', '{}') });
    const { code, out } = await runIn(root, ['validate', 'a.yaml', '.', '-'], {
      readInput: async () => document('Grp', 'h', '{}'),
    });
    expect(code).toBe(5);
    expect(out).toContain('-:2:7: unknown kind');
    expect(out).toContain('1 problem in 1 file.');
  });

  test('with --json prints one JSON document with problems and warnings', async () => {
    write({ 'a.yaml': document('Grup', 'g', '{}') });
    const { code, out } = await runIn(root, ['validate', '--json', 'a.yaml']);
    expect(code).toBe(5);
    expect(JSON.parse(out)).toMatchObject({
      ...{ formatVersion: '1.0', valid: false, documents: 1, files: 1, warnings: [] },
      problems: [{ code: 'kind_unknown', file: 'a.yaml', line: 2, column: 7, path: '/kind' }],
    });
  });

  test('reports that an empty directory contains no documents, and exits with 0', async () => {
    const { code, note } = await runIn(root, ['validate', '.']);
    expect([code, note]).toEqual([0, '"." holds no .yaml, .yml or .json file.\n']);
  });

  test('refuses a path that does not exist', async () => {
    const { code, note } = await runIn(root, ['validate', 'nowhere']);
    expect([code, note]).toEqual([1, 'error: "nowhere" does not exist; create it or correct the path.\n']);
  });
});

describe('the heddle program', () => {
  test('`heddle token new` prints a new token and nothing else', async () => {
    const tokens = [await runHere(['token', 'new']), await runHere(['token', 'new'])].map(({ code, out, note }) => {
      expect([code, note]).toEqual([0, '']);
      return out.trimEnd();
    });
    expect(tokens.map((token) => isWellFormedToken('nbp_', token))).toEqual([true, true]);
    expect(tokens[0]).not.toBe(tokens[1]);
  });

  test('prints its version', async () => {
    expect((await runHere(['version'])).out).toMatch(/^heddle \d+\.\d+\.\d+ \(Node \d+\.\d+\.\d+\)\n$/);
    expect((await runHere(['--version'])).out).toBe((await runHere(['version'])).out);
  });

  test('refuses to start with a malformed bootstrap token', async () => {
    const file = join(root, 'token');
    writeFileSync(file, 'secret-thing\n');
    const { code, note } = await runHere(['serve', '--data-dir', root], { HEDDLE_BOOTSTRAP_TOKEN_FILE: file });
    expect([code, note]).toEqual([
      1,
      'error: HEDDLE_BOOTSTRAP_TOKEN_FILE contains no well-formed token; make one with `heddle token new`.\n',
    ]);
  });
});
