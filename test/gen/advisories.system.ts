import { spawnSync } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../sources/mount.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Output of npm 11: one package with an advisory, and one package that only depends on it. */
const found = {
  auditReportVersion: 2,
  vulnerabilities: {
    lodash: {
      ...{ name: 'lodash', severity: 'high', isDirect: false, effects: ['product'], range: '<4.17.21' },
      via: [
        {
          ...{ source: 1106913, name: 'lodash', dependency: 'lodash', title: 'Command Injection in lodash' },
          ...{ url: 'https://github.com/advisories/GHSA-35jh-r3h4-6jhm', severity: 'high', range: '<4.17.21' },
        },
      ],
      ...{ nodes: ['node_modules/lodash'], fixAvailable: true },
    },
    product: {
      ...{ name: 'product', severity: 'high', isDirect: true, via: ['lodash'], effects: [], range: '*' },
      ...{ nodes: ['node_modules/product'], fixAvailable: true },
    },
  },
  metadata: { vulnerabilities: { high: 2, total: 2 } },
};
const none = { auditReportVersion: 2, vulnerabilities: {}, metadata: { vulnerabilities: { total: 0 } } };
/** Output of npm 11 when a registry does not support audits. */
const refused = {
  message: '405 Method Not Allowed - POST /-/npm/v1/security/advisories/bulk',
  ...{
    method: 'POST',
    headers: { allow: ['GET,HEAD'] },
    statusCode: 405,
    body: '',
    error: { summary: '', detail: '' },
  },
};
const waiver = (until: string) => [{ advisory: 'GHSA-35jh-r3h4-6jhm', until, reason: 'only templates of ours' }];

/** Runs the check with an `npm` that prints the recorded answer. */
async function check(answer: string, waivers: unknown = []) {
  const bin = await temporaryDirectory();
  await writeFile(join(bin, 'answer'), answer);
  await writeFile(join(bin, 'npm'), `#!/bin/sh\ncat ${bin}/answer\nexit 1\n`);
  await chmod(join(bin, 'npm'), 0o755);
  await writeFile(join(bin, 'waivers.json'), JSON.stringify(waivers));
  const args = ['src/gen/advisories/main.ts', '--waivers', join(bin, 'waivers.json')];
  const env = { PATH: `${bin}:${process.env['PATH']}` };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('the check for published vulnerabilities of dependencies', () => {
  test('fails and reports each vulnerability once', async () => {
    expect(await check(JSON.stringify(found))).toMatchObject({
      status: 1,
      stdout:
        'lodash: Command Injection in lodash (high, GHSA-35jh-r3h4-6jhm); use a version without it, or waive it temporarily.\n',
    });
  });

  test('passes waived vulnerabilities until the waiver ends, and fails then', async () => {
    const waived = await check(JSON.stringify(found), waiver('2999-01-01'));
    expect([waived.status, waived.stdout]).toEqual([0, expect.stringContaining('waived until 2999-01-01: only')]);
    const expired = await check(JSON.stringify(found), waiver('2020-01-01'));
    expect([expired.status, expired.stdout]).toEqual([1, expect.stringContaining('its waiver ended on 2020-01-01')]);
    const other = await check(JSON.stringify(found), [{ ...waiver('2999-01-01')[0], advisory: 'GHSA-xxxx' }]);
    expect([other.status, other.stdout]).toEqual([
      1,
      expect.stringContaining('GHSA-xxxx is waived but affects no dependency'),
    ]);
  });

  test('passes when there are none', async () => {
    const { status, stdout } = await check(JSON.stringify(none));
    expect([status, stdout]).toEqual([0, 'No dependency has a published vulnerability.\n']);
  });

  test.each([
    [
      'a registry that knows no audits',
      JSON.stringify(refused),
      ' (405 Method Not Allowed - POST /-/npm/v1/security/advisories/bulk)',
    ],
    ['no answer', '', ''],
    ['a page', '<html>', ''],
  ])('passes with a loud warning for %s', async (_, answer, why) => {
    const { status, stdout } = await check(answer, waiver('2020-01-01'));
    expect(status).toBe(0);
    expect(stdout.split('\n')).toEqual([
      `WARNING: the package registry did not answer an audit, so the dependencies were NOT checked for published vulnerabilities${why}.`,
      'WARNING: before a release, run `npm run advisories` where the registry answers.',
      'WARNING: the waiver of GHSA-35jh-r3h4-6jhm ended on 2020-01-01, and fails the check where the registry answers.',
      '',
    ]);
  });

  test('refuses waivers without a date and a reason', async () => {
    for (const wrong of [
      {},
      [{ advisory: 'x', until: 'soon', reason: 'y' }],
      [{ advisory: 'x', until: '2999-01-01' }],
    ]) {
      const { status, stderr } = await check(JSON.stringify(none), wrong);
      expect([status, stderr]).toEqual([
        1,
        expect.stringMatching(/^error: \S+waivers\.json: .*(must be a list|waiver 1 needs).*\n$/),
      ]);
    }
  });

  test('is part of the CI script', async () => {
    expect(await readFile(join(root, '.ci/run'), 'utf8')).toMatch(/^npm run --silent advisories$/m);
  });
});
