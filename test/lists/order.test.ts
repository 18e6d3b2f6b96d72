import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
import { exportDocuments } from '../../src/features/config/archive/export.ts';
import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import { fieldsOn } from '../../src/model/lower/shape.ts';
import type { AnyField, Fields } from '../../src/model/schema/field.ts';
import { entriesOf } from '../../src/model/schema/field-search.ts';
import { apiOn, type TestApi, type TestApiOptions } from '../api/setup.ts';
import { testDatabase } from '../setup/database.ts';
import { addCluster } from '../spec/world.ts';
import { type ListField, listFields, type Things } from './fields.ts';

const options: TestApiOptions = { edition: 'hosted' };

let one: TestApi;
let two: TestApi;
let things: Things;
const urls = new Map<string, string>();

beforeAll(async () => {
  const made = await testDatabase('postgres');
  one = await apiOn(made.database, () => made[Symbol.asyncDispose](), options);
  const other = await openDatabase(made.url === undefined ? {} : { url: made.url });
  two = await apiOn(other, () => other.close(), { ...options, vault: one.engine.planEnvironment.vault });
  things = await fill(one);
});
afterAll(async () => {
  await two[Symbol.asyncDispose]();
  await one[Symbol.asyncDispose]();
});

async function fill(api: TestApi): Promise<Things> {
  let count = 0;
  const fresh = (name: string) => `${name}-${++count}`;
  const post = async (path: string, body: Json) => {
    const answer = await api.call('POST', path, body);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const groups: string[] = [];
  const checks: string[] = [];
  const resources: string[] = [];
  const peers = await api.peers('p0', 'p1', 'p2', 'p3');
  const network = (await post('/api/networks', { name: 'office' })).id;
  for (const at of [0, 1, 2, 3]) {
    groups.push(await api.group(`g${at}`));
    const checks_ = { client_version_check: { min_version: '1.0.0' } };
    checks.push((await post('/api/posture-checks', { name: `c${at}`, description: '', checks: checks_ })).id);
    const resource = { name: `r${at}`, address: `172.16.${at}.0/24`, enabled: true, groups: [] };
    resources.push((await post(`/api/networks/${network}/resources`, resource)).id);
  }
  await addCluster(api, 'proxy.example.com', { private: true });
  const user = { name: 'Robot', role: 'user', is_service_user: true, auto_groups: [] };
  await post('/api/ingress/peers', { peer_id: peers[3] ?? '', enabled: true, fallback: true });
  // The users that a group of a tenant contains are the users with that group in their auto groups.
  await post('/api/users', { ...user, name: 'Consultant', auto_groups: groups });
  const tenant = { name: 'Tenant', domain: 'tenant.example.com', groups: [] };
  const [account] = (await api.call('GET', '/api/accounts')).body;
  return {
    ...{ account: account.id, settings: account.settings, groups, peers, checks, resources, network, fresh },
    zone: '',
    user: (await post('/api/users', user)).id,
    tenant: (await post('/api/integrations/msp/tenants', tenant)).id,
  };
}

/** Writes a list and returns the response body. */
async function write(field: ListField, list: readonly Json[]): Promise<Json> {
  const body = field.body(list, things);
  const known = urls.get(field.name);
  const path = field.path(things);
  const isThere =
    known !== undefined ||
    field.put === true ||
    (field.verb === 'single' && (await one.call('GET', path)).status === 200);
  const url = known ?? path;
  const answer = await one.call(isThere ? 'PUT' : 'POST', url, body);
  if (answer.status !== 200) throw new Error(`${url}: ${answer.status} ${JSON.stringify(answer.body)}`);
  if (!isThere && field.verb !== 'single') urls.set(field.name, `${path}/${answer.body.id}`);
  return answer.body;
}

async function read(api: TestApi, field: ListField): Promise<Json> {
  const url = urls.get(field.name) ?? field.path(things);
  const answer = await api.call('GET', url);
  if (answer.status === 200) return answer.body;
  const list: readonly JsonObject[] = (await api.call('GET', url.slice(0, url.lastIndexOf('/')))).body;
  return list.find(({ id }) => url.endsWith(`/${id}`)) ?? {};
}

/** Returns the identifying parts of a list's elements, for a request body or a response body. */
function names(field: ListField, body: Json): readonly Json[] {
  const list = field.at.reduce<Json | undefined>((value, step) => (value as JsonObject | undefined)?.[step], body);
  return (list as readonly Json[]).map((item) => nameOf(item));
}

function nameOf(item: Json): Json {
  if (!isObject(item)) return item;
  for (const member of ['target_id', 'header', 'name', 'ip', 'country_code', 'linux_path'] as const)
    if (item[member] !== undefined && !('peers_count' in item) && !('issued' in item)) {
      if (member === 'name' && 'id' in item && !('protocol' in item)) continue;
      return item[member] as Json;
    }
  return (item['id'] ?? item['start'] ?? item['translated_start'] ?? null) as Json;
}

it('the tests cover every list field that requests can write', () => {
  const found = one.engine.registry.kinds
    .filter(({ path }) => path !== undefined)
    .flatMap((kind) => [...listsIn(`${kind.name} `, { ...fieldsOn(kind, 'replace'), ...kind.inputs })]);
  // Lists of users inside a map of groups are one unit, and keep their order like every ordered list.
  const known = [...listFields.map(({ name }) => name), 'Policy rules[].authorized_groups{}'];
  expect([...new Set(found)].sort()).toEqual([...new Set(known)].sort());
});

function* listsIn(prefix: string, fields: Fields): Generator<string> {
  for (const [name, field] of entriesOf(fields)) yield* listsOf(`${prefix}${name}`, field);
}

function* listsOf(path: string, field: AnyField): Generator<string> {
  if (['refs', 'members', 'keyed', 'list'].includes(field.type)) yield path;
  if (field.type === 'keyed') yield* listsIn(`${path}[].`, field.fields);
  if (field.type === 'list') {
    if (field.of.type === 'object') yield* listsIn(`${path}[].`, field.of.fields);
  }
  if (field.type === 'object') yield* listsIn(`${path}.`, field.fields);
  if (field.type === 'map' || field.type === 'refMap') yield* listsOf(`${path}{}`, field.of);
}

describe.each(listFields.map((field) => [field.name, field] as const))('%s', (_, field) => {
  it('is returned and read back in the order of the last write, on both servers', async () => {
    const values = field.values(things);
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray([...values], { minLength: 1 }), async (list) => {
        const answered = await write(field, list);
        const sent = list.map(nameOf);
        expect(names(field, answered), 'answered').toEqual(sent);
        const bodies = [await read(one, field), await read(two, field)];
        for (const body of bodies) expect(names(field, body)).toEqual(sent);
        expect(JSON.stringify(bodies[1])).toBe(JSON.stringify(bodies[0]));
      }),
      { numRuns: 4, endOnFailure: true },
    );
  });
});

describe('exported documents of the whole account', () => {
  const documents = async (): Promise<readonly JsonObject[]> => {
    const state = await one.engine.snapshots.fresh(one.account);
    return exportDocuments(state).map((document) => ({ ...document }) as unknown as JsonObject);
  };
  const plan = async (source: string, list: readonly JsonObject[]) => {
    const text = list.map((document) => JSON.stringify(document)).join('\n---\n');
    const answer = await one.call('POST', '/api/config/plans', { source, files: [{ path: 'all.yaml', text }] });
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
    return answer.body;
  };

  it('plan no change, whatever the order of their lists', async () => {
    const exported = await documents();
    const { counts, digest } = await plan('team', exported);
    expect(counts).toMatchObject({ create: 0, update: 0, delete: 0 });
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.nat()), async (numbers) => {
        const other = await plan(
          'team',
          exported.map((document) => shuffled(document, numbers)),
        );
        expect([other.counts, other.digest]).toEqual([counts, digest]);
      }),
      { numRuns: 3 },
    );
  });

  it('give the same plan in any list order when they create everything', async () => {
    const exported = (await documents()).filter(({ kind }) => kind === 'Policy' || kind === 'DNSZone');
    const fresh = exported.map((document) => {
      const { name } = document['metadata'] as JsonObject;
      const { records: _, ...spec } = document['spec'] as JsonObject;
      const domain = document['kind'] === 'DNSZone' ? { domain: `new-${name}.example.com` } : {};
      return { ...document, metadata: { name: `new-${name}` }, spec: { ...spec, ...domain, name: `new-${name}` } };
    });
    const { digest, counts } = await plan('other', fresh);
    expect(counts.create).toBeGreaterThan(5);
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.nat()), async (numbers) => {
        const other = await plan(
          'other',
          fresh.map((document) => shuffled(document, numbers)),
        );
        expect(other.digest).toBe(digest);
      }),
      { numRuns: 3 },
    );
  });

  /** Returns the document with all lists shuffled whose order has no meaning. */
  function shuffled(document: JsonObject, numbers: fc.Stream<number>): JsonObject {
    const kind = one.engine.registry.get(String(document['kind']));
    return { ...document, spec: shuffledSpec(kind.spec, document['spec'] as JsonObject, numbers) };
  }
});

function shuffledSpec(fields: Fields, spec: JsonObject, numbers: fc.Stream<number>): JsonObject {
  return Object.fromEntries(
    Object.entries(spec).map(([name, value]) => [name, shuffledValue(fields[name], value, numbers)]),
  );
}

function shuffledValue(field: AnyField | undefined, value: Json, numbers: fc.Stream<number>): Json {
  if (field?.type === 'object') return shuffledSpec(field.fields, value as JsonObject, numbers);
  if (!Array.isArray(value)) return value;
  if (field?.type === 'keyed')
    return inAnyOrder(
      value.map((item) => shuffledSpec(field.fields, item as JsonObject, numbers)),
      numbers,
    );
  const isSet =
    ['refs', 'members'].includes(field?.type ?? '') || (field?.type === 'list' && (field.set || field.unordered));
  return isSet ? inAnyOrder(value, numbers) : value;
}

function inAnyOrder(items: readonly Json[], numbers: fc.Stream<number>): readonly Json[] {
  const keyed = items.map((item) => [Number(numbers.next().value), item] as const);
  return keyed.sort(([a], [b]) => a - b).map(([, item]) => item);
}
