import { expect, it, onTestFinished } from 'vitest';
import type { AccessLine } from '../../src/api/access-log.ts';
import { archiveOfBytes } from '../../src/db/archive/packed.ts';
import { restoreWholeAccount } from '../../src/features/config/archive/restore-account.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { runInContext } from '../../src/telemetry/context.ts';
import { startTelemetry } from '../../src/telemetry/otel.ts';
import { backUp, keys } from '../api/archive-setup.ts';
import { openScene } from '../api/delivery-scene.ts';
import { type TestApi, testApi, token } from '../api/setup.ts';
import { attributeOf, settingsFor, startCollector } from './collector.ts';

/** Span of the program that sends the request. */
const caller = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };

it('a request is found by its id in the access log, audit log, history, delivered events and trace', async () => {
  const collector = await startCollector();
  const report = (_: string, message: string) => expect.fail(message);
  const telemetry = await startTelemetry({ settings: settingsFor(collector.url), version: '0.0.0', report });
  onTestFinished(() => telemetry.stop());
  const lines: AccessLine[] = [];
  const scene = await openScene((options) =>
    testApi('postgres', { ...options, tracer: telemetry.tracer, logAccess: (line) => lines.push(line) }),
  );
  await scene.channel();
  const id = 'follow-1';
  const answer = await scene.call(
    'POST',
    '/api/groups?hunter2=1',
    { name: 'hunter2' },
    { 'x-request-id': id, traceparent: `00-${caller.traceId}-${caller.spanId}-01`, tracestate: 'vendor=a' },
  );
  expect([answer.status, answer.headers['x-request-id']]).toEqual([200, id]);

  const line = () => lines.find(({ request_id }) => request_id === id);
  await expect.poll(line).toMatchObject({ method: 'POST', route: '/api/groups', trace_id: caller.traceId });

  const events = (await scene.call('GET', '/api/events/audit')).body as readonly Record<string, unknown>[];
  const event = events.find(({ activity_code }) => activity_code === 'group.add');
  expect(event).toMatchObject({ request_id: id, target_id: answer.body.id });

  const revisions = (await scene.call('GET', `/api/config/revisions?request=${id}`)).body;
  expect(revisions).toEqual([
    expect.objectContaining({ request_id: id, counts: expect.objectContaining({ create: 1 }) }),
  ]);

  await expect.poll(() => scene.receiver.accepted.length).toBe(1);
  const [delivered] = scene.receiver.accepted;
  expect(delivered?.body).toMatchObject({ request_id: id, target: { id: answer.body.id } });
  expect(delivered?.headers['x-request-id']).toBe(id);

  const spanOf = (name: string) =>
    collector.spans().find((span) => span.name === name && span.traceId === caller.traceId);
  await expect.poll(() => spanOf('POST /api/groups')).toMatchObject({ parentSpanId: caller.spanId, kind: 2 });
  const request = spanOf('POST /api/groups');
  expect(request && attributeOf(request, 'heddle.request_id')).toBe(id);
  expect(request && attributeOf(request, 'http.response.status_code')).toBe('200');
  const commit = spanOf('commit');
  const plan = spanOf('plan');
  expect(commit?.parentSpanId).toBe(request?.spanId);
  expect(plan?.parentSpanId).toBe(commit?.spanId);
  expect(spanOf('validate')?.parentSpanId).toBe(plan?.spanId);
  const statements = collector
    .spans()
    .filter(({ name, parentSpanId }) => name === 'sql' && parentSpanId === commit?.spanId);
  expect(statements.map((span) => attributeOf(span, 'db.operation.name'))).toContain('write');

  const deliveries = () => collector.spans().filter(({ name }) => name === 'deliver');
  await expect.poll(() => deliveries().map((span) => attributeOf(span, 'heddle.request_id'))).toEqual([id]);
  const sent = collector.spans().find(({ name }) => name === 'POST webhook');
  expect(sent?.parentSpanId).toBe(deliveries()[0]?.spanId);
  expect(delivered?.headers['traceparent']).toBe(`00-${sent?.traceId}-${sent?.spanId}-01`);

  // A trace contains neither the written values nor the credentials.
  const exported = JSON.stringify(collector.bodies);
  expect(exported).not.toMatch(/hunter2|top-secret|Bearer/);
  expect(exported).not.toContain(token);
  expect(exported).not.toContain('127.0.0.1/hook');
});

it('a restore is found by its request id, and a restore by the operator by the id of the command', async () => {
  const api = await testApi('postgres', keys);
  onTestFinished(() => api[Symbol.asyncDispose]());
  const archive = await backUp(api);
  await api.group('later');
  const sent = await api.app.inject({
    ...{ method: 'POST', url: `/api/config/restore?replace=${api.account}`, payload: archive },
    headers: { authorization: `Token ${token}`, 'content-type': 'application/gzip', 'x-request-id': 'restore-1' },
  });
  expect(sent.statusCode).toBe(200);
  expect(await foundBy(api, 'restore-1')).toEqual({
    revisions: [sent.json().revision],
    codes: ['config.rollback', 'group.delete'],
  });

  const run = () => restoreWholeAccount(api.engine, archiveOfBytes(archive), { replace: api.account });
  const { revision } = await runInContext({ requestId: 'restore-2' }, run);
  expect(await foundBy(api, 'restore-2')).toEqual({ revisions: [revision], codes: ['config.restored'] });
});

/** Returns the revisions in the history and the codes in the audit log for a request. */
async function foundBy({ call }: Pick<TestApi, 'call'>, id: string) {
  const events: readonly JsonObject[] = (await call('GET', '/api/events/audit')).body;
  const found: readonly JsonObject[] = (await call('GET', `/api/config/revisions?request=${id}`)).body;
  return {
    revisions: found.map(({ revision }) => revision),
    codes: events.filter(({ request_id }) => request_id === id).map(({ activity_code }) => activity_code),
  };
}
