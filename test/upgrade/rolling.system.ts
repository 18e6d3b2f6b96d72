import { beforeAll, describe, expect, it } from 'vitest';
import { statement } from '../../src/db/builder.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { asOperator } from '../api/setup.ts';
import type { Program } from '../setup/heddle.ts';
import { rowsOf } from '../setup/rows.ts';
import { previousReleaseProgram } from './previous-release.ts';
import {
  channel,
  enrolAcross,
  hookAddress,
  type Installation,
  idsOf,
  openInstallation,
  type Release,
} from './scene.ts';

const channels = '/api/integrations/notifications/channels';

/** Ids of the objects that the previous release created before the update began. */
interface Before {
  readonly peer: string;
  readonly group: string;
  readonly channel: string;
}

async function fill(old: Release): Promise<Before> {
  const peer = await enrolAcross(old, old, 'before');
  const group = await old.ask('POST', '/api/groups', { name: 'before', peers: [peer] });
  const made = await old.ask('POST', channels, channel('before the update'));
  await old.ask('POST', '/api/config/apply', documents('before', group.id));
  return { peer, group: group.id, channel: made.id };
}

/** Returns a push of a notification channel with a secret, a group, and a policy that refers to groups. */
function documents(name: string, group: string): JsonObject {
  const spec = channel('', { target: { url: 'https://x.example.com', headers: { 'X-Key': fromValue } } });
  const items = [
    { kind: 'NotificationChannel', metadata: { name: `hook-${name}` }, spec },
    { kind: 'Group', metadata: { name: `team-${name}` }, spec: {} },
    {
      kind: 'Policy',
      metadata: { name: `policy-${name}` },
      spec: {
        enabled: true,
        rules: [
          { name: 'web', action: 'accept', protocol: 'tcp', sources: [`id:${group}`], destinations: [`team-${name}`] },
        ],
      },
    },
  ].map((item) => ({ apiVersion: 'heddle.dev/v1', ...item }));
  const text = JSON.stringify({ apiVersion: 'heddle.dev/v1', kind: 'List', items });
  return {
    source: name,
    files: [{ path: 'all.json', text }],
    values: { 'env:HEDDLE_VALUE_HOOK': `secret of ${name}` },
  };
}

const fromValue = { valueFrom: { envRef: 'HEDDLE_VALUE_HOOK' } };

/** Two servers: `reader` reads and changes the objects that `writer` writes. */
interface Pair {
  readonly writer: Release;
  readonly reader: Release;
  readonly name: string;
  readonly before: Before;
}

async function tryMembers({ writer, reader, name, before }: Pair): Promise<void> {
  const peer = await enrolAcross(writer, reader, `peer-${name}`);
  const members = [before.peer, peer].sort();
  const { id } = await writer.ask('POST', '/api/groups', { name: `group-${name}`, peers: members });
  const path = `/api/groups/${id}`;
  expect(idsOf((await reader.ask('GET', path)).peers)).toEqual(members);
  await reader.ask('PUT', path, { name: `group-${name}`, peers: [peer] });
  expect(idsOf((await writer.ask('GET', path)).peers)).toEqual([peer]);
  await writer.ask('PUT', path, { name: `group-${name}`, peers: [peer, before.peer] });
  expect(idsOf((await reader.ask('GET', path)).peers)).toEqual(members);
  // A group that was created before the update works as well.
  const old = await writer.ask('GET', `/api/groups/${before.group}`);
  await writer.ask('PUT', `/api/groups/${before.group}`, { name: old.name, peers: [...idsOf(old.peers), peer] });
  expect(idsOf((await reader.ask('GET', `/api/groups/${before.group}`)).peers)).toContain(peer);
}

async function tryPolicies({ writer, reader, name, before }: Pair): Promise<void> {
  const ends = { sources: [before.group], destinations: [before.group] };
  const rule = (title: string, port: string, more: JsonObject = {}) => ({
    ...{ name: title, enabled: true, action: 'accept', bidirectional: false, protocol: 'tcp', ports: [port] },
    ...ends,
    ...more,
  });
  const body = (rules: readonly JsonObject[]) => ({ name: `policy ${name}`, enabled: true, rules });
  const made = await writer.ask('POST', '/api/policies', body([rule('web', '443'), rule('ssh', '22')]));
  const path = `/api/policies/${made.id}`;
  const seen = await reader.ask('GET', path);
  const rules: readonly { readonly id: string; readonly name: string }[] = seen.rules;
  expect(rules.map(({ name: title }) => title).sort()).toEqual(['ssh', 'web']);
  // A rule that is identified by its id keeps the id when it is renamed, whichever server created the rule.
  const ssh = rules.find((one) => one.name === 'ssh')?.id ?? '';
  const web = rules.find((one) => one.name === 'web')?.id ?? '';
  await reader.ask('PUT', path, body([rule('web', '443', { id: web }), rule('shell', '22', { id: ssh })]));
  const renamed: typeof rules = (await writer.ask('GET', path)).rules;
  expect(renamed.map((one) => `${one.id} ${one.name}`).sort()).toEqual([`${ssh} shell`, `${web} web`].sort());
}

async function tryTokens({ writer, reader, name }: Pair): Promise<void> {
  const me = await writer.ask('GET', '/api/users/current');
  const made = await writer.ask('POST', `/api/users/${me.id}/tokens`, { name: `token ${name}`, expires_in: 7 });
  const path = `/api/users/${me.id}/tokens/${made.personal_access_token.id}`;
  const authorization = `Token ${made.plain_token}`;
  const status = async ({ call }: Release) =>
    (await call('GET', '/api/users/current', undefined, { authorization })).status;
  expect([await status(writer), await status(reader)]).toEqual([200, 200]);
  await reader.ask('DELETE', path);
  expect([await status(writer), await status(reader)]).toEqual([401, 401]);
}

async function trySecrets({ writer, reader, name, before }: Pair): Promise<void> {
  const secret = `secret ${name}`;
  const { id } = await writer.ask('POST', channels, channel(secret));
  const path = `${channels}/${id}`;
  await keepsSecret(reader, path, secret);
  // While both releases must be able to read the stored address, neither of them returns a mask for it.
  expect((await reader.ask('GET', path)).target.url).toBe(hookAddress);
  // A masked value that is sent back keeps the secret that the other server stored.
  const shown = await reader.ask('GET', path);
  await reader.ask('PUT', path, { ...shown, enabled: false });
  await keepsSecret(writer, path, secret, { enabled: false });
  await reader.ask('PUT', path, channel(`other ${secret}`));
  await keepsSecret(writer, path, `other ${secret}`);
  await keepsSecret(writer, `${channels}/${before.channel}`, 'before the update');
}

/** Checks that the server can open the stored secret: writing the same secret again changes nothing. */
async function keepsSecret(server: Release, path: string, secret: string, more: JsonObject = {}): Promise<void> {
  const revision = async () => (await server.ask('GET', '/api/config/status')).revision;
  const shown = await revision();
  await server.ask('PUT', path, channel(secret, more));
  expect(await revision()).toBe(shown);
}

async function tryDocuments({ writer, reader, name, before }: Pair): Promise<void> {
  const pushed = documents(name, before.group);
  await writer.ask('POST', '/api/config/apply', pushed);
  for (const push of [pushed, documents('before', before.group)]) {
    const plan = await reader.call('POST', '/api/config/plans', push);
    expect([plan.status, plan.body.changes, plan.body.claims]).toEqual([201, [], []]);
    const { body } = await reader.call('POST', '/api/config/apply', push);
    expect(body.plan.counts).toMatchObject({ create: 0, update: 0, delete: 0 });
  }
}

/** Writes to both servers at the same time, so that each server commits on top of the other's last commit. */
async function writeAtOnce(servers: readonly Release[]): Promise<void> {
  const many = 12;
  const names = servers.flatMap((_, which) => Array.from({ length: many }, (_value, at) => `at once ${which} ${at}`));
  await Promise.all(names.map((name, at) => servers[at < many ? 0 : 1]?.ask('POST', '/api/groups', { name })));
  for (const { ask } of servers) {
    const groups: readonly { readonly name: string }[] = await ask('GET', '/api/groups');
    expect(
      groups
        .map(({ name }) => name)
        .filter((name) => name.startsWith('at once'))
        .sort(),
    ).toEqual(names.sort());
  }
}

/** Checks that both servers return the same lists, whichever server wrote the objects. */
async function expectSame(one: Release, other: Release): Promise<void> {
  for (const path of ['groups', 'policies', 'peers', 'users', 'setup-keys', 'integrations/notifications/channels']) {
    const [here, there] = [await one.ask('GET', `/api/${path}`), await other.ask('GET', `/api/${path}`)];
    expect([path, idsOf(here)]).toEqual([path, idsOf(there)]);
  }
  const keys = '/oidc/jwks';
  expect(await one.ask('GET', keys)).toEqual(await other.ask('GET', keys));
}

describe('an installation during a rolling update', () => {
  let program: Program;
  let installation: Installation;
  beforeAll(async () => {
    [program, installation] = await Promise.all([previousReleaseProgram(), openInstallation()]);
  });

  it('serves with the previous release and this one at the same time', async () => {
    await using old = await installation.start(program);
    const before = await fill(old);
    await using fresh = await installation.start();
    for (const [name, writer, reader] of [
      ['old', old, fresh],
      ['new', fresh, old],
    ] as const) {
      const pair = { name, writer, reader, before };
      await tryMembers(pair);
      await tryPolicies(pair);
      await tryTokens(pair);
      await trySecrets(pair);
      await tryDocuments(pair);
    }
    await writeAtOnce([old, fresh]);
    await expectSame(old, fresh);
    expect(problemsOf(old, fresh)).toEqual([]);
    // A server of the previous release that starts again accepts the schema.
    await using again = await installation.start(program);
    await expectSame(again, fresh);
    await Promise.all([old.server.stop(), again.server.stop()]);
    const { ids, late } = await endOldForm(installation, fresh, before);
    await using second = await installation.start();
    await expectSame(second, fresh);
    for (const server of [fresh, second])
      for (const [id, secret] of ids) await keepsSecret(server, `${channels}/${id}`, secret);
    await expect(installation.start(program)).rejects.toThrow(/migrated by a newer Heddle/);
    await refuseOldForm(installation, second, before, late);
  });
});

/**
 * Seals all secrets again, bound to the context in which each is stored. Returns secrets that must have survived this
 * (`ids`), and one in the old form (`late`).
 */
async function endOldForm(installation: Installation, fresh: Release, before: Before) {
  const late = await storedSecret(installation, before.channel);
  expect(late).toMatch(/^sealed:[0-9a-f]{12}:/);
  const { rows } = await fresh.ask('POST', '/api/config/secrets/rotate', {}, asOperator);
  expect(rows).toBeGreaterThan(5);
  expect(await storedSecret(installation, before.channel)).toMatch(/^sealed:2:/);
  const tables = await onInstallation(installation, rowsOf);
  expect(tables.filter((row) => /sealed:[0-9a-f]{12}:/.test(row) || row.includes(hookAddress))).toEqual([]);
  expect((await fresh.ask('GET', `${channels}/${before.channel}`)).target.url).toBe(hookAddress);
  const made = await fresh.ask('POST', channels, channel('after the update'));
  const ids = [
    [before.channel, 'before the update'],
    [String(made.id), 'after the update'],
  ] as const;
  return { ids, late };
}

/**
 * Checks that a value in the old form is not accepted as a secret, neither in a document nor when a server of the
 * previous release writes it afterwards.
 */
async function refuseOldForm(installation: Installation, server: Release, before: Before, late: string): Promise<void> {
  const spec = channel('', { target: { url: 'https://x.example.com', headers: { 'X-Key': late } } });
  const named = { kind: 'NotificationChannel', metadata: { name: 'hook-before' }, spec };
  const text = JSON.stringify({ apiVersion: 'heddle.dev/v1', ...named });
  const stated = await server.call('POST', '/api/config/plans', {
    source: 'before',
    files: [{ path: 'a.json', text }],
  });
  expect([stated.status, JSON.stringify(stated.body.problems)]).toEqual([
    422,
    expect.stringContaining('{stored: true}'),
  ]);
  await onInstallation(installation, async (database) => {
    await database.asOwner(async (run) => {
      await run(
        "update objects set spec = jsonb_set(spec, '{target,headers,X-Key}', to_jsonb($2::text)) where id = $1",
        [before.channel, late],
      );
    });
  });
  await using third = await installation.start();
  const refused = await third.call('POST', '/api/config/secrets/rotate', {}, asOperator);
  expect([refused.status, refused.body.message]).toEqual([412, expect.stringContaining('--accept-unbound')]);
  expect(await third.ask('POST', '/api/config/secrets/rotate', { acceptUnbound: true }, asOperator)).toMatchObject({
    rows: 1,
    unreadable: [],
  });
  await keepsSecret(third, `${channels}/${before.channel}`, 'before the update');
}

async function storedSecret(installation: Installation, id: string): Promise<string> {
  return onInstallation(installation, async (database) => {
    const text = "select spec #>> '{target,headers,X-Key}' as secret from objects where id = $1";
    const [row] = await database.lookUp(statement<{ readonly secret: string }>(text, [id]));
    return row?.secret ?? '';
  });
}

async function onInstallation<Value>(
  { url }: Installation,
  work: (database: Database) => Promise<Value>,
): Promise<Value> {
  const database = await openDatabase({ url });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

function problemsOf(...releases: readonly Release[]): readonly string[] {
  return releases.flatMap(({ server }) => server.lines.filter((line) => /\b(error|defect)\b/i.test(line)));
}
