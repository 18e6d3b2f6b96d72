import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyEmbedded, temporaryDirectory } from '../setup/database.ts';
import { type Run, runHeddle, type ServedHeddle, serveHeddle } from '../setup/heddle.ts';

const quickstart = fileURLToPath(new URL('../../examples/quickstart', import.meta.url));

let server: ServedHeddle;
let directory: string;
let served: string;

beforeAll(async () => {
  directory = await temporaryDirectory();
  served = join(directory, 'quickstart');
  await cp(quickstart, served, { recursive: true });
  await copyEmbedded(join(directory, 'data'));
  server = await serveHeddle(['--data-dir', join(directory, 'data'), '--source', served]);
  await server.line(/documents, revision/);
});

afterAll(async () => {
  await server.stop();
});

/** Runs a command against the server, with access to its data directory. */
function heddle(...args: readonly string[]): Promise<Run> {
  const env = { HEDDLE_SERVER: server.url, HEDDLE_DATA_DIR: join(directory, 'data') };
  return runHeddle(args, { env, cwd: directory });
}

/** Creates a copy of the quickstart in which one text is replaced. Returns its directory. */
async function changedCopy(name: string, file: string, old: string, text: string): Promise<string> {
  const copy = join(directory, name, 'quickstart');
  await cp(quickstart, copy, { recursive: true });
  const path = join(copy, file);
  await writeFile(path, (await readFile(path, 'utf8')).replace(old, text));
  return copy;
}

/** Creates a directory with one file of documents. */
async function documents(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await mkdir(path, { recursive: true });
  await writeFile(join(path, 'documents.yaml'), text);
  return path;
}

const group = (key: string, spec: string) =>
  `apiVersion: heddle.dev/v1\nkind: Group\nmetadata:\n  name: ${key}\nspec:\n  ${spec}\n`;

describe('a plan of documents that serve applied', () => {
  const detailed = ['--source-name', 'quickstart', '--detailed-exitcode'];

  it('has no changes and exits 0', async () => {
    const { code, out } = await heddle('plan', served, ...detailed);
    expect(out).toMatch(/nothing to do|no changes/i);
    expect(code).toBe(0);
  });

  it('shows an edit field by field and exits 2, and 0 without --detailed-exitcode', async () => {
    const copy = await changedCopy('edited', 'routes.yaml', 'metric: 100', 'metric: 200');
    const { code, out } = await heddle('plan', copy, ...detailed);
    expect(out).toMatch(/metric.*100.*200/);
    expect(code).toBe(2);
    expect((await heddle('plan', copy, '--source-name', 'quickstart')).code).toBe(0);
  });

  it('of an export changes nothing', async () => {
    const exported = await heddle('export');
    expect(exported.code).toBe(0);
    const path = join(directory, 'x.yaml');
    await writeFile(path, exported.out);
    const { code, out } = await heddle('plan', path, '--source-name', 'export', '--detailed-exitcode');
    expect(out).not.toMatch(/^\s*[+~-] /m);
    expect(code).toBe(0);
  });
});

describe('apply', () => {
  it('refuses without a terminal and names --auto-approve (E150)', async () => {
    const path = await documents('unasked', group('unasked', 'name: Unasked'));
    const { code, err } = await heddle('apply', path, '--source-name', 'unasked');
    expect(err).toContain('--auto-approve');
    expect(code).toBe(1);
    expect((await heddle('export', '--kind', 'Group')).out).not.toContain('Unasked');
  });

  it('applies with --auto-approve as one revision; a second apply changes nothing', async () => {
    const path = await documents('approved', group('approved', 'name: Approved'));
    const apply = () => heddle('apply', path, '--source-name', 'approved', '--auto-approve', '--json');
    const first = JSON.parse((await apply()).out);
    expect(first).toMatchObject({ applied: true, revision: expect.any(Number) });
    expect(JSON.parse((await apply()).out)).toMatchObject({ applied: false, revision: null });
    expect((await heddle('export', '--kind', 'Group')).out).toContain('Approved');
  });
});

describe('status and validate', () => {
  it('status shows the source of the account', async () => {
    const { code, out } = await heddle('status');
    expect(out).toContain('quickstart');
    expect(code).toBe(0);
  });

  it('validate needs no server, and reports every problem with its position', async () => {
    const path = await documents('wrong', `${group('a', 'nam: A')}---\n${group('b', 'name: 7')}`);
    const { code, out } = await runHeddle(['validate', path]);
    expect(out).toMatch(/documents\.yaml:6:/);
    expect(out).toMatch(/documents\.yaml:13:/);
    expect(code).toBe(5);
    expect((await runHeddle(['validate', quickstart])).code).toBe(0);
  });
});

describe('a command with --json (E146, E147)', () => {
  const cases: readonly (readonly [code: number, what: string, args: () => Promise<readonly string[]>])[] = [
    [0, 'nothing to do', async () => ['plan', served, '--source-name', 'quickstart', '--detailed-exitcode']],
    [
      1,
      'a server that is not there',
      async () => ['plan', served, '--source-name', 'quickstart', '--server', 'http://127.0.0.1:1'],
    ],
    [1, 'a wrong token', async () => ['status', '--token', 'nbp_wrong']],
    [1, 'files that are not there', async () => ['plan', join(directory, 'nowhere'), '--source-name', 'other']],
    [1, 'an unknown flag', async () => ['plan', served, '--unknown']],
    [
      2,
      'changes',
      async () => [
        'plan',
        await documents('new', group('new', 'name: New')),
        '--source-name',
        'other',
        '--detailed-exitcode',
      ],
    ],
    [
      3,
      'a guard',
      async () => ['plan', await documents('few', group('staff', 'name: All staff')), '--source-name', 'quickstart'],
    ],
    [
      4,
      'a conflict with another source',
      async () => ['plan', await documents('other', group('staff', 'name: Others')), '--source-name', 'other'],
    ],
    [
      5,
      'documents that are wrong',
      async () => ['plan', await documents('broken', group('broken', 'nam: Broken')), '--source-name', 'other'],
    ],
    [5, 'documents that are no YAML', async () => ['validate', await documents('torn', 'a: [')]],
  ];

  it.each(cases)('exits with %i and prints one JSON document: %s', async (code, _, args) => {
    const run = await heddle(...(await args()), '--json');
    const parsed: unknown = JSON.parse(run.out);
    expect(parsed).toMatchObject({ formatVersion: expect.stringMatching(/^1\./) });
    expect(run.code).toBe(code);
  });
});
