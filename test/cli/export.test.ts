import { beforeAll, expect, test } from 'vitest';
import { doc } from '../api/documents.ts';
import { sharedServer } from './served.ts';

const server = sharedServer();

beforeAll(async () => {
  const files = [{ path: 'groups.yaml', text: `${doc('Group', 'devs', 'name: Developers')}` }];
  await server().api.call('POST', '/api/config/apply', { source: 'office', files });
});

const run = (...args: readonly string[]) => server().heddle(['export', '--kind', 'Group', ...args]);

test('heddle export --format kubernetes writes documents with the given namespace', async () => {
  const { code, out } = await run('--source', 'office', '--format', 'kubernetes', '--namespace', 'team-a');
  expect([code, out]).toEqual([
    0,
    `apiVersion: heddle.dev/v1
kind: Group
metadata:
  name: devs
  namespace: team-a
spec:
  name: Developers
`,
  ]);
});

test('heddle export --format kubernetes without --namespace writes the same as YAML', async () => {
  expect((await run('--format', 'kubernetes')).out).toBe((await run()).out);
  expect((await run('--format', 'yaml')).out).toBe((await run()).out);
});

test.each([
  ['a form that there is not', ['--format', 'helm'], '--format cannot be helm; write yaml or kubernetes.'],
  ['two forms', ['--format', 'kubernetes', '--json'], '--json and --format exclude each other'],
  ['documents of a namespace', ['--namespace', 'team-a'], 'add --format kubernetes'],
  ['a bad namespace', ['--format', 'kubernetes', '--namespace', 'Team_A'], 'lower-case letters'],
])('heddle export refuses %s', async (_, args, message) => {
  const { code, note } = await run(...args);
  expect(code).toBe(1);
  expect(note).toContain(message);
});
