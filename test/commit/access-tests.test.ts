import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { watchAccessTests } from '../../src/features/config/access/watch-tests.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { doc } from '../api/documents.ts';
import { sharedServer } from '../cli/served.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { putObjects } from '../setup/objects.ts';

const server = sharedServer();

const group = (name: string, peers: readonly string[] = []) => doc('Group', name, `peers: [${peers.join(', ')}]`);
const policy = (name: string, rule: string, more = '') =>
  doc('Policy', name, `${more}rules: [{name: r, bidirectional: false, protocol: tcp, ${rule}}]`);
const open = policy('data', 'action: accept, ports: ["5432"], sources: [devs], destinations: [db]');
const drop = policy('block', 'action: drop, sources: [devs], destinations: [db]');
const test = (name: string, spec: string) => doc('AccessTest', name, spec);
const reached = test('reached', 'from: devs\nto: db\nprotocol: tcp\nport: "5432"\nexpect: allow\nenforce: always');
const unreached = test('unreached', 'from: db\nto: devs\nexpect: deny');
const office = [group('devs', ['ana', 'ben']), group('db', ['db1']), open];

const send = (path: string, source: string, documents: readonly string[], more: JsonObject = {}) => {
  const files = [{ path: `${source}.yaml`, text: documents.join('---\n') }];
  return server().api.call('POST', `/api/config/${path}`, { source, files, ...more });
};

async function apply(source: string, documents: readonly string[], more: JsonObject = {}): Promise<void> {
  const answer = await send('apply', source, documents, more);
  expect([answer.status, answer.body.message]).toEqual([200, undefined]);
}

beforeAll(async () => {
  const { api } = server();
  await api.peers('ana', 'ben', 'db1');
  for (const { id } of (await api.call('GET', '/api/policies')).body) await api.call('DELETE', `/api/policies/${id}`);
  await apply('office', office);
  await apply('checks', [reached, unreached]);
});

describe('a plan that breaks an access test', () => {
  it('is refused, naming the deciding rule with its file and line', async () => {
    const { status, body } = await send('plans', 'office', [...office, drop]);
    expect([status, body.problems]).toEqual([
      422,
      [
        {
          ...{ code: 'access_test_failed', kind: 'AccessTest', key: 'reached', file: 'checks.yaml', line: 1 },
          message: expect.stringMatching(
            /^expects tcp\/5432 from `devs` to `db` to be allowed, but `Peer ana` may not open tcp\/5432 to `Peer db1`: rule `r` of policy `block` drops tcp\/5432 \(office\.yaml:\d+\)$/,
          ),
        },
      ],
    ]);
    const applied = await send('apply', 'office', [...office, drop]);
    expect([applied.status, applied.body.problems[0].code]).toEqual([422, 'access_test_failed']);
  });

  it('is refused with the new line numbers of test and rule, not those of the last apply', async () => {
    const tried = test('t-lines', 'from: lines\nto: db\nprotocol: tcp\nport: "80"\nexpect: deny');
    const opens = policy('opens', 'action: accept, ports: ["80"], sources: [lines], destinations: [there]');
    const lines = group('lines', ['ana']);
    await apply('lines', [tried, opens, lines, group('there')]);
    const moved = [lines, group('there', ['db1']), group('extra'), opens, tried];
    const lineOf = (nth: number) => moved.slice(0, nth).join('---\n').split('\n').length + (nth > 0 ? 1 : 0);
    const expected = {
      ...{ key: 't-lines', file: 'lines.yaml', line: lineOf(4) },
      message: expect.stringContaining(`rule \`r\` of policy \`opens\` lets tcp/80 through (lines.yaml:${lineOf(3)})`),
    };
    expect((await send('plans', 'lines', moved)).body.problems).toMatchObject([expected]);
    expect((await send('tests', 'lines', moved)).body.tests[0]).toMatchObject(expected);
    // For a source that also declares the test, the position is in its own document.
    const more = [group('more'), tried];
    await apply('more', more);
    const [reported] = (await send('plans', 'more', [group('there', ['db1']), ...more])).body.problems;
    expect(reported).toMatchObject({ key: 't-lines', file: 'more.yaml' });
    await apply('more', [], { allowEmpty: true });
    await apply('lines', [], { allowEmpty: true });
  });

  it('is refused with the position of a disabled rule that would allow the traffic', async () => {
    const off = policy('off', 'action: accept, ports: ["79"], sources: [devs], destinations: [db]', 'enabled: false\n');
    const expectation = test('finger', 'from: devs\nto: db\nprotocol: tcp\nport: "79"\nexpect: allow');
    const { body } = await send('plans', 'off', [off, expectation]);
    expect(body.problems[0].message).toMatch(
      /no rule lets it through; rule `r` of policy `off` would, but the policy is disabled \(off\.yaml:1\)$/,
    );
  });

  it('E153 is refused also when it deletes the group of the test', async () => {
    const gone = await send('plans', 'checks', [
      reached,
      unreached,
      group('extra'),
      test('x', 'from: extra\nto: db\nexpect: deny'),
    ]);
    expect(gone.status).toBe(201);
    await apply('checks', [reached, unreached, group('extra'), test('x', 'from: extra\nto: db\nexpect: deny')]);
    const own = await send('plans', 'checks', [reached, unreached, test('x', 'from: extra\nto: db\nexpect: deny')]);
    expect([own.status, own.body.problems]).toMatchObject([
      422,
      [{ kind: 'AccessTest', key: 'x', path: '/spec/from' }],
    ]);
    await apply('checks', [reached, unreached], {});
  });

  it('is not refused for tests of another source that failed before it', async () => {
    await apply('wrong', []);
    const failing = test('failing', 'from: devs\nto: db\nprotocol: udp\nport: "53"\nexpect: allow');
    const refused = await send('apply', 'wrong', [failing]);
    expect([refused.status, refused.body.problems[0]]).toMatchObject([422, { key: 'failing', file: 'wrong.yaml' }]);
    // An API request makes the test fail later. Only enforced tests block API requests.
    const dns = policy('dns', 'action: accept, protocol: udp, ports: ["53"], sources: [devs], destinations: [db]');
    await apply('dns', [dns.replace('protocol: tcp, ', '')]);
    await apply('wrong', [failing]);
    const { call } = server().api;
    const found = (await call('GET', '/api/policies')).body.find(
      ({ name }: { readonly name: string }) => name === 'dns',
    );
    const glass = { 'x-break-glass': 'incident 4711' };
    const rules = found.rules.map((rule: JsonObject) => ({
      ...rule,
      enabled: false,
      sources: ids(rule['sources']),
      destinations: ids(rule['destinations']),
    }));
    expect((await call('PUT', `/api/policies/${found.id}`, { ...found, rules }, glass)).status).toBe(200);
    const other = await send('plans', 'office', [...office, group('more')]);
    expect([other.status, other.body.warnings]).toMatchObject([201, [{ code: 'access_test_failing', key: 'failing' }]]);
    await apply('wrong', [], { allowEmpty: true });
  });
});

const ids = (groups: unknown) => (groups as readonly { readonly id: string }[]).map(({ id }) => id);

describe('an API request', () => {
  it('E151 that breaks an enforced test is refused, naming the deciding rule', async () => {
    const { call } = server().api;
    const id = async (name: string) => (await call('GET', `/api/groups?name=${name}`)).body[0].id;
    const [devs, db] = [await id('devs'), await id('db')];
    const rule = { name: 'no', enabled: true, action: 'drop', bidirectional: false, protocol: 'tcp' };
    const body = { name: 'by hand', enabled: true, rules: [{ ...rule, sources: [devs], destinations: [db] }] };
    const refused = await call('POST', '/api/policies', body);
    expect([refused.status, refused.body.message]).toEqual([
      422,
      'expects tcp/5432 from `devs` to `db` to be allowed, but `Peer ana` may not open tcp/5432 to `Peer db1`: rule `no` of policy `by hand` drops tcp/5432',
    ]);
    expect(refused.body.problems).toMatchObject([{ code: 'access_test_failed', key: 'reached', file: 'checks.yaml' }]);
    const both = {
      name: 'back',
      enabled: true,
      rules: [{ ...rule, action: 'accept', sources: [db], destinations: [devs] }],
    };
    // The other test is not enforced: it is checked only against plans.
    const made = await call('POST', '/api/policies', both);
    expect(made.status).toBe(200);
    expect((await call('DELETE', `/api/policies/${made.body.id}`)).status).toBe(200);
  });
});

describe('access tests of an account', () => {
  it('E152 are conditional, with a warning, where posture checks decide', async () => {
    const check = doc('PostureCheck', 'recent', 'checks: {client_version_check: {min_version: "2.0"}}');
    const web = policy(
      'web',
      'action: accept, ports: ["80"], sources: [devs], destinations: [db]',
      'source_posture_checks: [recent]\n',
    );
    const healthy = test('healthy', 'from: devs\nto: db\nprotocol: tcp\nport: "80"\nexpect: allow');
    const { status, body } = await send('plans', 'web', [check, web, healthy]);
    expect([status, body.warnings]).toMatchObject([201, [{ code: 'access_test_conditional', key: 'healthy' }]]);
    const results = await send('tests', 'web', [check, web, healthy]);
    expect([results.status, results.body]).toMatchObject([
      200,
      { passed: 2, failed: 0, conditional: 1, tests: [{ key: 'healthy', outcome: 'conditional' }, {}, {}] },
    ]);
    await apply('web', [check, web, healthy]);
    // The test already depended on posture checks, so the plan of another source causes no warning.
    expect((await send('plans', 'office', [...office, group('more')])).body.warnings).toEqual([]);
    const open = policy('open', 'action: accept, ports: ["80"], sources: [devs], destinations: [db]');
    await apply('office', [...office, open]);
    const [closes] = (await send('plans', 'office', office)).body.warnings;
    expect(closes).toMatchObject({ code: 'access_test_conditional', key: 'healthy', file: 'web.yaml' });
    await apply('office', office);
    await apply('web', [], { allowEmpty: true });
  });

  it('are run by `heddle test` on the account and on documents', async () => {
    const run = await server().heddle(['test']);
    expect([run.code, run.out]).toEqual([
      0,
      'pass  reached  (checks.yaml:1)\npass  unreached  (checks.yaml:13)\n\n2 access tests: 2 passed, 0 failed.\n',
    ]);
    const path = join(await temporaryDirectory(), 'office.yaml');
    writeFileSync(path, [...office, drop].join('---\n'));
    const { code, document } = await server().json('test', path, '--source-name', 'office');
    expect([code, document]).toMatchObject([
      5,
      { formatVersion: '1.0', failed: 1, tests: [{ key: 'reached', outcome: 'fail' }, {}] },
    ]);
    // The test of the documents wrote nothing.
    expect((await server().heddle(['test'])).code).toBe(0);
  });

  it('are run without a server on documents that are complete', async () => {
    const path = join(await temporaryDirectory(), 'all.yaml');
    writeFileSync(path, [...office, drop, reached].join('---\n'));
    const run = await server().heddle(['test', path, '--offline', '--server', 'http://127.0.0.1:9']);
    expect([run.code, run.out]).toEqual([5, expect.stringContaining('1 access test: 0 passed, 1 failed.')]);
    const valid = await server().heddle(['validate', path]);
    expect([valid.code, valid.out]).toEqual([5, expect.stringContaining('(access_test_failed)')]);
    writeFileSync(path, [reached].join('---\n'));
    const partial = await server().heddle(['test', path, '--offline']);
    expect([partial.code, partial.note]).toEqual([5, expect.stringContaining('it must exist on the server')]);
    expect(partial.note).toContain('run the tests on a server, without --offline (documents_incomplete)');
    expect((await server().heddle(['validate', path])).code).toBe(0);
  });

  it('never block the enrolment of peers; failures appear in the status and as an event', async () => {
    const { engine, account, call } = server().api;
    const faults: unknown[] = [];
    const stop = watchAccessTests(engine, (error) => faults.push(error));
    const enable = (enabled: boolean) =>
      putObjects(engine, account, (state) => {
        const data = state.findByKey('Policy', 'data');
        const rules = data?.spec['rules'] as readonly JsonObject[];
        return data === undefined
          ? []
          : [{ ...data, spec: { ...data.spec, rules: rules.map((rule) => ({ ...rule, enabled })) } }];
      });
    await enable(false);
    expect((await call('GET', '/api/config/tests')).body).toMatchObject({ failed: 1, tests: [{ key: 'reached' }, {}] });
    expect((await call('GET', '/api/config/status')).body.accessTests).toEqual({
      passed: 1,
      failed: 1,
      conditional: 0,
    });
    expect((await server().heddle(['status'])).out).toContain('1 passed, 1 failed');
    await enable(true);
    await stop();
    const reported = (await call('GET', '/api/events')).body
      .filter(({ activity_code }: { readonly activity_code: string }) =>
        /access_test\.(failed|passed)/.test(activity_code),
      )
      .map(({ activity_code, meta }: { readonly activity_code: string; readonly meta: JsonObject }) => [
        activity_code,
        meta['key'],
      ]);
    expect([reported.sort(), faults]).toEqual([
      [
        ['config.access_test.failed', 'reached'],
        ['config.access_test.passed', 'reached'],
      ],
      [],
    ]);
  });
});
