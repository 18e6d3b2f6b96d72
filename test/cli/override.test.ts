import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { doc } from '../api/documents.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { sharedServer } from './served.ts';

const server = sharedServer();
let directory: string;
let made = 0;
let name: string;
let folder: string;

beforeAll(async () => {
  directory = await temporaryDirectory();
});

/** Applies a route and a group, as a separate source for each test. */
beforeEach(async () => {
  made += 1;
  name = `office-${made}`;
  folder = join(directory, name);
  mkdirSync(folder);
  const route = `network_id: ${name}\nnetwork: 10.${made}.0.0/16\npeer_groups: [All]\ngroups: [All]\nmetric: 100`;
  writeFileSync(join(folder, 'a.yaml'), [doc('Route', name, route), doc('Group', `ops-${made}`, '{}')].join('---\n'));
  const { code } = await server().heddle(['apply', folder, '--source-name', name, '--auto-approve']);
  expect(code).toBe(0);
});

async function routeNow() {
  const { body } = await server().api.call('GET', '/api/routes');
  return body.find((one: { network_id: string }) => one.network_id === name);
}

const plan = () => server().heddle(['plan', folder, '--source-name', name]);
const why = ['--reason', 'incident 4711'];

it('an override by kind and key is shown by plan, sources and the list until it is ended', async () => {
  const { code, out, note } = await server().heddle(['override', 'route', name, 'metric=5', ...why, '--ttl', '30m']);
  expect([code, note]).toEqual([0, '']);
  expect(out).toMatch(/metric: 100 → 5\n +until \S+Z by machine owner: incident 4711\n$/);
  expect((await routeNow()).metric).toBe(5);
  const listed = await server().json('override', 'list', '--source', name);
  expect(listed.document).toMatchObject({
    formatVersion: '1.0',
    overrides: [
      { kind: 'Route', key: name, path: 'metric', value: 5, stated: 100, source: name, reason: 'incident 4711' },
    ],
  });
  const left = Date.parse(listed.document.overrides[0].until) - Date.now();
  expect(left / 60_000).toBeGreaterThan(28);
  expect(left / 60_000).toBeLessThanOrEqual(30);
  const planned = (await plan()).out;
  expect(planned).toMatch(
    /Running overrides:\nRoute .*\n +~ metric: 100 → 5\n +until .* by machine owner: incident 4711\n/,
  );
  // The reason is printed only once.
  expect(planned.match(/incident 4711/g)).toHaveLength(1);
  const { document } = await server().json('plan', folder, '--source-name', name);
  expect(document.overrides ?? document.plan.overrides).toEqual(listed.document.overrides);
  expect((await server().heddle(['sources'])).out).toContain('1 unit until');
  const ended = await server().heddle(['override', 'end', 'Route', name, 'metric']);
  expect([ended.code, ended.out, (await routeNow()).metric]).toEqual([0, 'The object has no overrides now.\n', 100]);
  expect((await plan()).out).not.toContain('Running overrides');
  const again = await server().heddle(['override', 'end', 'Route', name]);
  expect([again.code, again.note]).toEqual([1, expect.stringContaining(`no override sets anything of Route ${name}`)]);
});

it('ending an override ends only the named fields, and the list can be limited to one source', async () => {
  const other = `${name}-other`;
  const text = doc('SetupKey', other, 'type: reusable\nexpires_in: 86400\nusage_limit: 0\nrevoked: false');
  const path = join(directory, `${other}.yaml`);
  writeFileSync(path, text);
  expect((await server().heddle(['apply', path, '--source-name', other, '--auto-approve'])).code).toBe(0);
  expect((await server().heddle(['override', 'Route', name, 'metric=5', `groups=[ops-${made}]`, ...why])).code).toBe(0);
  expect((await server().heddle(['override', 'list', '--source', other])).out).toBe('No overrides are running.\n');
  const ended = await server().heddle(['override', 'end', 'Route', name, 'metric']);
  expect([ended.code, ended.out]).toEqual([0, expect.stringMatching(/groups\[/)]);
  expect(ended.out).not.toContain('metric');
  expect(await routeNow()).toMatchObject({ metric: 100, groups: [expect.any(String)] });
  expect((await server().heddle(['override', 'list', '--source', name])).out).toContain(`ops-${made}`);
  const restricts = await server().heddle(['override', 'SetupKey', other, 'revoked=true', ...why]);
  expect([restricts.code, restricts.out]).toEqual([
    0,
    expect.stringContaining('revoked is a restriction now: it has no end'),
  ]);
});

it('an override accepts names instead of ids, in whole lists and as elements', async () => {
  const ops = `ops-${made}`;
  const [group] = (await server().api.call('GET', `/api/groups?name=${ops}`)).body;
  expect((await server().heddle(['override', 'Route', name, `groups=[${ops}]`, ...why])).code).toBe(0);
  expect((await routeNow()).groups).toEqual([group.id]);
  const more = await server().heddle(['override', 'Route', name, `peer_groups[${ops}]=true`, ...why]);
  expect([more.code, more.out]).toEqual([0, expect.stringContaining(`+ peer_groups[${ops}]`)]);
  expect((await routeNow()).peer_groups).toHaveLength(2);
  // Ending the override removes the elements that it added and restores those that it removed.
  expect((await server().heddle(['override', 'end', 'Route', name])).code).toBe(0);
  const [all] = (await server().api.call('GET', '/api/groups?name=All')).body;
  expect(await routeNow()).toMatchObject({ groups: [all.id], peer_groups: [all.id] });
  const unknown = await server().heddle(['override', 'Route', name, `groups=[ops-${made}x]`, ...why]);
  expect([unknown.code, unknown.note]).toEqual([5, expect.stringContaining(`did you mean Group/${ops}`)]);
});

it('the override command in the error of a refused change works as printed', async () => {
  const route = await routeNow();
  const refused = await server().api.call('PUT', `/api/routes/${route.id}`, { ...route, metric: 7 });
  const [, command = ''] = /`heddle (.*?) REASON`/.exec(refused.body.message) ?? [];
  expect([refused.status, command]).toEqual([409, `override Route ${name} metric=7 --reason`]);
  expect((await server().heddle([...command.split(' '), 'told'])).code).toBe(0);
  expect((await routeNow()).metric).toBe(7);
});

it.each([
  [['metric=5'], 1, 'give --reason TEXT'],
  [['metric', ...why], 1, '`metric` contains no value'],
  [['metric=5', 'metric=6', ...why], 1, 'given twice'],
  [['metric=[', ...why], 1, 'the value of metric is not valid YAML'],
  [['metrik=5', ...why], 5, 'did you mean `metric`?'],
  [['metric=many', ...why], 5, 'metric'],
  [['groups=[5]', ...why], 5, 'groups'],
  [['id=x', ...why], 5, 'names no field that can be set'],
  [['metric.deep=5', ...why], 5, 'set as a whole'],
  [['metric=100', ...why], 5, 'has these values already'],
  [['masquerade=false', ...why], 5, 'no source states masquerade'],
  [['metric=5', ...why, '--ttl', '25h'], 5, 'at most 24h'],
  [['metric=5', '--reason', ' '], 5, 'reason is empty; state why the value is overridden'],
])('an override refuses %j with the exit code %i and changes nothing', async (words, code, reported) => {
  const before = await routeNow();
  const ran = await server().heddle(['override', 'Route', name, ...words]);
  expect([ran.code, ran.note]).toEqual([code, expect.stringContaining(reported)]);
  expect(await routeNow()).toEqual(before);
});

it('an override suggests similar names for an unknown object, and reports an unknown kind', async () => {
  const missing = await server().heddle(['override', 'Route', `${name}x`, 'metric=5', ...why]);
  expect([missing.code, missing.note]).toEqual([1, expect.stringContaining(`did you mean`)]);
  const unknown = await server().heddle(['override', 'Rute', name, 'metric=5', ...why]);
  expect([unknown.code, unknown.note]).toEqual([1, expect.stringContaining('unknown kind Rute')]);
});
