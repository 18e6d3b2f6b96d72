import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyEmbedded, temporaryDirectory } from '../setup/database.ts';
import { type Run, runHeddle, type ServedHeddle, serveHeddle } from '../setup/heddle.ts';

const secret = 'planted-in-the-client';
const vendor = (letter: string, member: string, value: string, more: string) => `apiVersion: heddle.dev/v1
kind: EdrVendor${letter.toUpperCase()}
metadata:
  name: vendor-${letter}
spec:
  groups: []
  last_synced_interval: 24
  ${more}
  ${member}: { valueFrom: { ${value} } }
`;

let server: ServedHeddle;
let directory: string;
let documents: string;

beforeAll(async () => {
  directory = await temporaryDirectory();
  documents = join(directory, 'documents');
  await mkdir(join(directory, 'values', 'edr'), { recursive: true });
  await mkdir(documents);
  await writeFile(join(directory, 'values', 'edr', 'a'), `${secret}-file\n`);
  const ownFile = vendor('a', 'api_token', 'fileRef: edr/a', 'api_url: https://a.example.com\n  match_attributes: {}');
  const ownVariable = vendor('b', 'secret', 'envRef: HEDDLE_VALUE_B', 'client_id: c\n  tenant_id: t');
  await writeFile(join(documents, 'edr.yaml'), `${ownFile}---\n${ownVariable}`);
  const env = { HEDDLE_VALUE_B: 'of-the-server', HEDDLE_VALUES_DIR: join(directory, 'nowhere') };
  await copyEmbedded(join(directory, 'data'));
  server = await serveHeddle(['--data-dir', join(directory, 'data')], { env });
});

afterAll(async () => {
  await server.stop();
});

function heddle(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Run> {
  const all = { HEDDLE_SERVER: server.url, HEDDLE_DATA_DIR: join(directory, 'data'), ...env };
  return runHeddle(args, { env: all, cwd: directory });
}

describe('values referenced by documents', () => {
  const flags = ['--values-dir', 'values'];
  const env = { HEDDLE_VALUE_B: `${secret}-variable`, HEDDLE_VALUE_OTHER: 'not asked for' };

  it('E121 are all reported with position and fix when missing, and nothing is applied', async () => {
    for (const command of [
      ['plan', '--source-name', 'team'],
      ['apply', '--source-name', 'team', '--auto-approve'],
    ]) {
      const { code, out, err } = await heddle([...command, 'documents']);
      const reported = out + err;
      expect(code).toBe(5);
      expect(reported).toMatch(
        /documents\/edr\.yaml:10:\d+: fileRef `edr\/a` is not set, or not allowed: put a file edr\/a/,
      );
      expect(reported).toMatch(
        /documents\/edr\.yaml:21:\d+: envRef `HEDDLE_VALUE_B` is not set, or not allowed: set it where/,
      );
    }
    expect((await heddle(['export'])).out).not.toContain('EdrVendor');
  });

  it('are read from variables and files where `heddle` runs, and never printed', async () => {
    const plan = await heddle(['plan', 'documents', '--source-name', 'team', ...flags], env);
    expect([plan.code, plan.out]).toEqual([0, expect.stringContaining('2 to create')]);
    const applied = await heddle(['apply', 'documents', '--source-name', 'team', '--auto-approve', ...flags], env);
    expect([applied.code, applied.out]).toEqual([0, expect.stringContaining('Applied as revision')]);
    const again = await heddle(['plan', 'documents', '--source-name', 'team', '--detailed-exitcode', ...flags], env);
    expect([again.code, again.out]).toEqual([0, expect.stringContaining('No changes')]);
    const changed = await heddle(['plan', 'documents', '--source-name', 'team', '--detailed-exitcode', ...flags], {
      ...env,
      HEDDLE_VALUE_B: 'another',
    });
    expect([changed.code, changed.out]).toEqual([2, expect.stringContaining('secret')]);
    const exported = await heddle(['export']);
    const shown = [plan, applied, again, changed, exported].map(({ out, err }) => out + err).join('\n');
    expect(`${shown}\n${server.lines.join('\n')}`).not.toContain(secret);
  });

  it('are checked by `heddle validate` where they are set; unset ones are counted', async () => {
    const all = await heddle(['validate', 'documents', ...flags], env);
    expect([all.code, all.out]).toEqual([0, '2 documents in 1 file are valid.\n']);
    const some = await heddle(['validate', 'documents', ...flags]);
    expect([some.code, some.out]).toEqual([
      0,
      '2 documents in 1 file are valid. 1 value that the documents use is not set here (env:HEDDLE_VALUE_B); applying them needs it.\n',
    ]);
    const json = JSON.parse((await heddle(['validate', 'documents', '--json'])).out);
    expect(json).toMatchObject({ valid: true, unset: ['env:HEDDLE_VALUE_B', 'file:edr/a'] });
  });
});
