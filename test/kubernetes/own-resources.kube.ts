import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { approvePlan } from '../../src/features/config/plans/approvals.ts';
import { setSourceSuspended } from '../../src/features/sources/source-admin.ts';
import type { Client } from '../../src/kubernetes/client.ts';
import { ApiError } from '../../src/kubernetes/errors.ts';
import { asObject, asObjects, type JsonObject } from '../../src/lib/json.ts';
import type { NamespaceRule } from '../../src/model/sources/kubernetes.ts';
import { openSampleAccount } from '../sources/office-source.ts';
import { clientOf, installPolicies, patchesOnPage, userWith } from './approvers.ts';
import { conditionsAt, installDefinitions } from './definitions.ts';
import { type ApiServer, startApiServer } from './server.ts';

let server: ApiServer;
let client: Client;

// Uses a separate API server: other tests install the same policies and definitions, bound to other namespaces.
beforeAll(async () => {
  server = await startApiServer();
  client = await clientOf(server.kubeconfig);
  await installDefinitions(client);
  await installPolicies(client);
});

afterAll(async () => {
  client.close();
  await server[Symbol.asyncDispose]();
});

/** Creates a namespace that is a source, and starts a server that reads it. */
async function follow(namespace: string, rule: NamespaceRule = {}, of = { client, kubeconfig: server.kubeconfig }) {
  const labels = { covered: namespace };
  const home = `/api/v1/namespaces/${namespace}`;
  await of.client.apply(home, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } });
  const office = await openSampleAccount();
  const selector = { matchLabels: labels };
  const config = { name: 'k8s', kubeconfigFile: of.kubeconfig, namespaces: [{ selector, ...rule }] };
  const run = () => office.run([], { clusters: [config] });
  const path = `/apis/heddle.dev/v1/namespaces/${namespace}`;
  const source = `${path}/sources/k8s`;
  const statusAt = async (at = source): Promise<JsonObject> => asObject((await of.client.get(at)).status ?? {});
  return {
    ...office,
    ...{ path, source, run, runner: run(), home },
    put: (name: string, spec: JsonObject = {}) =>
      of.client.apply(`${path}/groups/${name}`, {
        apiVersion: 'heddle.dev/v1',
        kind: 'Group',
        metadata: { name },
        spec,
      }),
    remove: (...names: readonly string[]) =>
      Promise.all(names.map((name) => of.client.delete(`${path}/groups/${name}`))),
    conditions: () => conditionsAt(of.client, source).catch(() => ({})),
    status: statusAt,
    condition: async (type: string, at = source) =>
      asObjects((await statusAt(at))['conditions'] ?? []).find((one) => one['type'] === type),
    ask: (spec: JsonObject) => of.client.patch(source, { spec }),
    plans: async () => (await of.client.list(`${path}/plans`)).items,
  };
}

type Followed = Awaited<ReturnType<typeof follow>>;

const letters = [...'abcdefgh'];

/** Makes a guard stop a plan. Returns the path of the plan's resource, its name as `id`, and its digest. */
async function trip({ put, groups, remove, plans, path, status }: Followed) {
  for (const name of letters) await put(name);
  await expect.poll(groups).toEqual(letters);
  await remove(...letters.slice(0, 7));
  await expect.poll(async () => (await plans()).length).toBe(1);
  const [plan] = await plans();
  const at = `${path}/plans/${plan?.metadata.name}`;
  await expect.poll(() => status(at)).toMatchObject({ counts: { delete: 7 } });
  return { at, id: String(plan?.metadata.name), digest: String((await status(at))['digest']) };
}

const settled = { Ready: 'True', Reconciling: 'False', Stalled: 'False', GuardTripped: 'False', HeldBack: 'False' };

test('a namespace that is a source gets a Source resource with its status, which a restart keeps', async () => {
  const { put, conditions, status, source, runner, run, groups, path } = await follow('shown');
  await put('devs');
  await put('ops');
  await expect.poll(conditions).toMatchObject({ ...settled, Unavailable: 'False', Accepted: 'True' });
  await expect
    .poll(status)
    .toMatchObject({ source: 'k8s.shown', resources: 2, objects: 2, heldBack: 0, suspended: false });
  expect(await status()).toMatchObject({ revision: expect.any(Number), lastAttemptResult: 'applied' });
  const { metadata } = await client.get(source);
  await runner.stop();
  run();
  await put('qa');
  await expect.poll(groups).toEqual(['devs', 'ops', 'qa']);
  await expect.poll(status).toMatchObject({ resources: 3, objects: 3 });
  expect((await client.get(source)).metadata.uid).toBe(metadata.uid);
  const { items } = await client.list('/apis/events.k8s.io/v1/namespaces/shown/events');
  const ofSource = items.filter((event) => JSON.stringify(event).includes('"kind":"Source"'));
  expect(ofSource.map((event) => JSON.parse(JSON.stringify(event)).reason)).toContain('Applied');
  expect(path).toContain('shown');
});

test('nothing is written to a Source and a Plan when another server takes over and nothing changed', async () => {
  const followed = await follow('taken');
  const { at } = await trip(followed);
  const { source, run, runner, condition } = followed;
  await expect.poll(() => condition('GuardTripped')).toMatchObject({ status: 'True' });
  const versions = async () => [
    (await client.get(source)).metadata.resourceVersion,
    (await client.get(at)).metadata.resourceVersion,
  ];
  const before = await versions();
  const second = run();
  await runner.stop();
  await expect.poll(() => second.reports.map(({ message }) => message).join()).toContain('needs an approval');
  expect(await versions()).toEqual(before);
});

test('a plan stopped by a guard becomes a Plan resource, and only an approval of its digest applies it', async () => {
  const followed = await follow('approved');
  const { at, digest, id } = await trip(followed);
  const { condition, status, groups, plans, conditions, rows } = followed;
  await expect.poll(() => condition('GuardTripped')).toMatchObject({ status: 'True', reason: 'NeedsApproval' });
  expect(await status()).toMatchObject({ plan: id, planDigest: digest });
  expect(await status(at)).toMatchObject({
    source: 'k8s.approved',
    guards: [{ guard: 'deletes' }, { guard: 'kind' }],
    changes: letters.slice(0, 7).map((name) => ({ action: 'delete', kind: 'Group', name })),
  });
  expect((await client.get(at)).metadata).toMatchObject({
    ownerReferences: [{ kind: 'Source', name: 'k8s', controller: true }],
  });
  const approver = await userWith({ role: 'heddle-approver', user: 'ana', namespace: 'approved' }, server, client);
  const other = 'f'.repeat(64);
  await approver.patch(at, { spec: { approvedDigest: other, approvedBy: 'ana' } });
  await expect.poll(() => condition('Approved', at)).toMatchObject({ status: 'False', reason: 'DigestDiffers' });
  expect(await groups()).toEqual(letters);
  const [approval = {}] = await patchesOnPage('plan', { DIGEST: digest, USER: 'ana' });
  await approver.patch(at, approval);
  await expect.poll(groups).toEqual(['h']);
  await expect.poll(plans).toEqual([]);
  await expect.poll(conditions).toMatchObject(settled);
  expect(await rows(`select approved_by ->> 'name' as name from plans where id = '${id}'`)).toEqual([{ name: 'ana' }]);
  const audit = await rows(
    `select initiator_name as name from audit_events where activity_code = 'config.plan.approved'`,
  );
  expect(audit).toEqual([{ name: 'ana' }]);
});

test('an author of resources may not approve a plan, and an approver must give their own name', async () => {
  const followed = await follow('separate');
  const { at, digest } = await trip(followed);
  const author = await userWith({ role: 'heddle-author', user: 'bea', namespace: 'separate' }, server, client);
  const status = (asked: Promise<unknown>) =>
    asked.then(
      () => 200,
      (error: unknown) => (error instanceof ApiError ? `${error.status} ${error.message}` : String(error)),
    );
  const approve = (of: Client, by: string) =>
    status(of.patch(at, { spec: { approvedDigest: digest, approvedBy: by } }));
  expect(await approve(author, 'bea')).toMatch(/^403 .*cannot patch resource "plans"/);
  expect(await status(author.patch(followed.source, { spec: { suspend: false } }))).toBe(200);
  const approver = await userWith({ role: 'heddle-approver', user: 'cid', namespace: 'separate' }, server, client);
  await expect.poll(() => approve(approver, 'bea')).toMatch(/^422 .*spec.approvedBy has to name who approves: cid/);
  expect(await status(approver.delete(`${followed.path}/groups/h`))).toMatch(/^403/);
  expect(await approve(approver, 'cid')).toBe(200);
  await expect.poll(followed.groups).toEqual(['h']);
});

test('a Plan resource deleted by hand is created again, and is replaced when the plan changes', async () => {
  const followed = await follow('replanned');
  const { at, id, digest } = await trip(followed);
  const { plans, put, path, status } = followed;
  const { metadata } = await client.get(at);
  await client.delete(at);
  await expect.poll(async () => (await plans()).map(({ metadata: { uid } }) => uid !== metadata.uid)).toEqual([true]);
  await put('new');
  await expect.poll(async () => (await plans()).map(({ metadata: { name } }) => name !== id)).toEqual([true]);
  const [next] = await plans();
  const nextAt = `${path}/plans/${next?.metadata.name}`;
  await expect.poll(() => status(nextAt)).toMatchObject({ counts: { delete: 7, create: 1 } });
  expect((await status(nextAt))['digest']).not.toBe(digest);
});

test('an expired plan is replaced by one with the same digest, which can be approved', async () => {
  const followed = await follow('expired');
  const { at, id, digest } = await trip(followed);
  const { rows, plans, status, path, groups } = followed;
  await rows(`update plans set expires_at = now() - interval '1 second' where id = '${id}' returning id`);
  await client.patch(at, { metadata: { annotations: { look: 'again' } } });
  await expect.poll(async () => (await plans()).map(({ metadata: { name } }) => name !== id)).toEqual([true]);
  const [next] = await plans();
  const nextAt = `${path}/plans/${next?.metadata.name}`;
  await expect.poll(() => status(nextAt)).toMatchObject({ digest });
  await client.patch(nextAt, { spec: { approvedDigest: digest, approvedBy: 'admin' } });
  await expect.poll(groups).toEqual(['h']);
});

test('a source suspended by its Source resource stays suspended until that resource resumes it', async () => {
  const { put, ask, status, groups, engine, call, source, condition } = await follow('suspended');
  await put('a');
  await expect.poll(groups).toEqual(['a']);
  await expect.poll(() => condition('Ready')).toMatchObject({ status: 'True' });
  await ask({ suspend: true });
  await expect.poll(status).toMatchObject({ suspended: true, observedGeneration: 2 });
  await expect.poll(() => condition('Suspended')).toMatchObject({ status: 'True' });
  await put('b');
  await expect(setSourceSuspended(engine, call, 'k8s.suspended', false)).rejects.toThrow(/set `spec.suspend` to false/);
  const { metadata } = await client.get(source);
  await client.delete(source);
  // The deletion of the Source resource did not end the suspension.
  await expect.poll(async () => (await client.get(source).catch(() => undefined))?.spec).toEqual({ suspend: true });
  expect((await client.get(source)).metadata.uid).not.toBe(metadata.uid);
  expect(await groups()).toEqual(['a']);
  await ask({ suspend: false });
  await expect.poll(groups).toEqual(['a', 'b']);
  await expect.poll(status).toMatchObject({ suspended: false });
  await setSourceSuspended(engine, call, 'k8s.suspended', true);
  await expect.poll(status).toMatchObject({ suspended: true });
});

test('a new value of reconcileRequestedAt starts a reconcile', async () => {
  const { put, ask, status, groups, condition } = await follow('requested');
  await put('a');
  await expect.poll(groups).toEqual(['a']);
  await expect.poll(() => condition('Ready')).toMatchObject({ status: 'True' });
  await ask({ reconcileRequestedAt: 'one' });
  await expect.poll(status).toMatchObject({ lastHandledReconcileAt: 'one', observedGeneration: 2 });
  await ask({ reconcileRequestedAt: 'two' });
  await expect.poll(status).toMatchObject({ lastHandledReconcileAt: 'two', observedGeneration: 3 });
});

test('a namespace can choose only a conflict mode that the settings allow', async () => {
  const { put, ask, status, condition, engine, account } = await follow('modes', { conflictModes: ['observe'] });
  await put('a');
  await expect.poll(() => condition('Ready')).toMatchObject({ status: 'True' });
  await ask({ conflictMode: 'seed' });
  await expect
    .poll(() => condition('Accepted'))
    .toMatchObject({
      ...{ status: 'False', reason: 'NotAllowed' },
      message: expect.stringContaining('allow observe and guard'),
    });
  await expect.poll(() => condition('Stalled')).toMatchObject({ status: 'True', reason: 'NotAllowed' });
  await expect.poll(status).toMatchObject({ conflictMode: 'guard', observedGeneration: 2 });
  await ask({ conflictMode: 'observe' });
  await expect.poll(() => condition('Ready')).toMatchObject({ status: 'True' });
  expect(await status()).toMatchObject({ conflictMode: 'observe', observedGeneration: 3 });
  expect((await engine.snapshots.fresh(account)).settingsOf('k8s.modes').conflictMode).toBe('observe');
});

test('with `approval: always` every change waits, and approvals in the cluster can be forbidden', async () => {
  const { put, plans, status, condition, path, groups, engine, call } = await follow('preview', {
    ...{ approval: 'always', approveInCluster: false },
  });
  await put('a');
  await expect.poll(async () => (await plans()).length).toBe(1);
  const [plan] = await plans();
  const at = `${path}/plans/${plan?.metadata.name}`;
  await expect
    .poll(() => status(at))
    .toMatchObject({
      ...{
        counts: { create: 1 },
        guards: [{ guard: 'always', message: 'every change of k8s.preview needs an approval' }],
      },
    });
  const digest = String((await status(at))['digest']);
  await client.patch(at, { spec: { approvedDigest: digest, approvedBy: 'admin' } });
  await expect.poll(() => condition('Approved', at)).toMatchObject({ status: 'False', reason: 'NotAllowed' });
  expect(await groups()).toEqual([]);
  await approvePlan(engine, call, String(plan?.metadata.name), digest);
  await expect.poll(groups).toEqual(['a']);
  await expect.poll(plans).toEqual([]);
});

test('the Source of a namespace that no rule covers any more is deleted unless its spec requests something', async () => {
  const { put, source, home, ask, condition, status } = await follow('uncovered');
  await put('a');
  await expect.poll(() => condition('Ready')).toMatchObject({ status: 'True' });
  const cover = (covered: string | null) => client.patch(home, { metadata: { labels: { covered } } });
  await cover(null);
  await expect.poll(() => client.get(source).catch((error: unknown) => (error as ApiError).status)).toBe(404);
  await cover('uncovered');
  await expect.poll(() => condition('Ready').catch(() => undefined)).toMatchObject({ status: 'True' });
  await ask({ suspend: true });
  await expect.poll(status).toMatchObject({ suspended: true });
  await cover(null);
  await expect.poll(() => condition('Ready')).toMatchObject({ status: 'False', reason: 'NotCovered' });
});

test('a Source with an unknown name has no effect and reports so', async () => {
  const { path, condition } = await follow('renamed');
  await expect.poll(() => condition('Ready').catch(() => undefined)).toMatchObject({ type: 'Ready' });
  const at = `${path}/sources/mine`;
  const metadata = { name: 'mine', namespace: 'renamed' };
  await client.create(`${path}/sources`, {
    apiVersion: 'heddle.dev/v1',
    kind: 'Source',
    metadata,
    spec: { suspend: true },
  });
  await expect
    .poll(() => condition('Ready', at))
    .toMatchObject({
      ...{ status: 'False', reason: 'NameUnknown', message: expect.stringContaining('is the resource k8s') },
    });
});

test('without the CRD of Plan the source reports so, and the plan can be approved outside the cluster', async () => {
  await using alone = await startApiServer();
  const own = await clientOf(alone.kubeconfig);
  onTestFinished(() => own.close());
  await installDefinitions(own);
  const definition = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/plans.heddle.dev';
  await own.delete(definition);
  await expect.poll(() => own.get(definition).catch((error: unknown) => (error as ApiError).status)).toBe(404);
  const followed = await follow('undefined', {}, { client: own, kubeconfig: alone.kubeconfig });
  const { put, groups, remove, condition, conditions, engine, call, statusOf } = followed;
  for (const name of letters) await put(name);
  await expect.poll(groups).toEqual(letters);
  await remove(...letters.slice(0, 7));
  await expect.poll(() => condition('PlanShown')).toMatchObject({ status: 'False', reason: 'CannotBeWritten' });
  const { planId = '', planDigest = '' } = await statusOf('k8s.undefined');
  const said = (await condition('PlanShown'))?.['message'];
  expect(said).toContain('the CustomResourceDefinition of Plan does not exist');
  expect(said).toContain(`\`heddle approve ${planId}\``);
  await approvePlan(engine, call, planId, planDigest);
  await expect.poll(groups).toEqual(['h']);
  await expect.poll(conditions).toMatchObject(settled);
  expect(await condition('PlanShown')).toBeUndefined();
});

test('a suspension survives deletion of the CRD of Source, and is in the Source after the CRD is installed again', async () => {
  await using alone = await startApiServer();
  const own = await clientOf(alone.kubeconfig);
  onTestFinished(() => own.close());
  await installDefinitions(own);
  const followed = await follow('outlasting', {}, { client: own, kubeconfig: alone.kubeconfig });
  const { put, groups, ask, status, condition, statusOf, source } = followed;
  await put('a');
  await expect.poll(() => condition('Ready').catch(() => undefined)).toMatchObject({ status: 'True' });
  await ask({ suspend: true });
  await expect.poll(status).toMatchObject({ suspended: true });
  const definition = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/sources.heddle.dev';
  await own.delete(definition);
  await expect.poll(() => own.get(definition).catch((error: unknown) => (error as ApiError).status)).toBe(404);
  await put('b');
  await installDefinitions(own);
  await expect.poll(async () => (await own.get(source).catch(() => undefined))?.spec).toEqual({ suspend: true });
  expect(await groups()).toEqual(['a']);
  expect(await statusOf('k8s.outlasting')).toMatchObject({ state: 'suspended' });
  await ask({ suspend: false });
  await expect.poll(groups).toEqual(['a', 'b']);
});

test('the patches of a Source in the user docs take effect', async () => {
  const { put, source, status, condition } = await follow('asked', { conflictModes: ['observe'] });
  await put('a');
  await expect.poll(() => condition('Ready')).toMatchObject({ status: 'True' });
  const patches = await patchesOnPage('source');
  expect(patches.length).toBe(3);
  for (const patch of patches) await client.patch(source, patch);
  await expect.poll(status).toMatchObject({ suspended: true, conflictMode: 'observe', observedGeneration: 4 });
  await client.patch(source, { spec: { suspend: false } });
  await expect.poll(status).toMatchObject({ suspended: false, lastHandledReconcileAt: '2026-11-23T09:00:00Z' });
});
