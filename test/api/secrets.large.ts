import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
import { resealAll } from '../../src/db/sealing/rotate.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { createLog, type Log } from '../../src/log.ts';
import type { PlanEnvironment } from '../../src/model/declare/plan-environment.ts';
import { copyEmbedded, temporaryDirectory, testDatabase } from '../setup/database.ts';
import { rowsOf } from '../setup/rows.ts';
import { addCluster } from '../spec/world.ts';
import { operationsOf } from './described.ts';
import { isStream } from './example-scene.ts';
import { address, type Holder, holders } from './secret-holders.ts';
import { type Answer, apiOn, type TestApi, type TestApiOptions } from './setup.ts';

/** Output of a run: the planted secrets, and everything that a reader of answers or logs could see. */
interface Traces {
  readonly planted: string[];
  readonly heard: string[];
  readonly lines: string[];
}

function createPlant({ planted }: Traces): (name: string) => string {
  return (name) => {
    // Unique, and valid Base64, which the secret of a directory integration must be.
    const text = Buffer.from(`planted ${name} ${planted.length} ${Math.random()}`).toString('base64');
    planted.push(text);
    if (!name.endsWith('headers')) return text;
    // Secrets for headers are JSON objects.
    const headers = JSON.stringify({ Authorization: text });
    planted.push(headers);
    return headers;
  };
}

/** Returns options of a server that records its log in `traces` and uses planted secrets as values of documents. */
function optionsFor(traces: Traces): TestApiOptions {
  const write = (text: string) => traces.lines.push(text);
  const logs: readonly Log[] = [createLog({ format: 'text', write }), createLog({ format: 'json', write })];
  const values = new Map<string, string>();
  const plant = createPlant(traces);
  return {
    log: (line) => {
      for (const log of logs) log(line);
    },
    shareValues: true,
    valueFrom: (_, name) => {
      if (name.includes('PUSHED')) return undefined;
      const value = values.get(name) ?? plant(name);
      values.set(name, value);
      return value;
    },
  };
}

/**
 * Calls, over HTTP, every operation that accepts secrets and every operation that shows objects. Records all answers in
 * `traces`.
 */
async function useEverything(api: TestApi, traces: Traces, used = holders): Promise<void> {
  const plant = createPlant(traces);
  const hear = async (...request: Parameters<TestApi['call']>): Promise<Answer> => {
    const answer = await api.call(...request);
    traces.heard.push(JSON.stringify([answer.body, answer.headers]));
    return answer;
  };
  const group = await api.group('staff');
  await addCluster(api, 'proxy.example.com', {});
  const made: string[] = [];
  for (const [name, holder] of Object.entries(used)) made.push(await useHolder(hear, plant, name, holder, group));
  // The objects are deleted, so that documents can declare objects of the same kinds. The history keeps the deleted
  // objects.
  for (const path of made) await hear('DELETE', path);
  await makeTokens(api, hear, traces);
  await useDocuments(hear, plant, used);
  const described = operationsOf((await hear('GET', '/api/openapi.json')).body);
  const reads = described.filter((of) => of.method === 'get' && !of.path.includes('{') && !isStream(of));
  expect(reads.length).toBeGreaterThan(20);
  for (const { path } of reads) await hear('GET', path);
  await hear('GET', '/api/config/export?format=json');
  for (const { revision } of (await hear('GET', '/api/config/revisions')).body)
    await hear('GET', `/api/config/revisions/${revision}`);
}

async function useHolder(
  hear: TestApi['call'],
  plant: (name: string) => string,
  name: string,
  { path, body, fault }: Holder,
  group: string,
): Promise<string> {
  const made = await hear('POST', path, body(plant, group));
  expect([name, made.status, made.body.message]).toEqual([name, 200, undefined]);
  const at = name.startsWith('Edr') ? path : `${path}/${made.body.id}`;
  const faulty = [
    { ...body(plant, group), ...fault },
    body((text) => [plant(text)], group),
    body((text) => ({ [plant(text)]: plant(text) }), group),
  ];
  for (const broken of [
    `{"secret":"${plant('broken')}`,
    `{"secret":${plant('broken')}}`,
    plant('broken'),
    `"${plant('broken')}"`,
  ])
    expect([broken, (await hear('POST', path, broken)).status]).toEqual([broken, 400]);
  for (const refused of faulty)
    for (const [method, where] of [
      ['POST', path],
      ['PUT', at],
    ] as const)
      expect([name, (await hear(method, where, refused)).status]).toEqual([name, 422]);
  if (name.startsWith('Edr')) expect((await hear('POST', path, body(plant, group))).status).toBe(409);
  expect((await hear('PUT', at, body(plant, group))).status).toBe(200);
  for (const where of [path, at]) await hear('GET', where);
  return at;
}

/** Creates secrets that the server generates. Each is shown once, so the answers that show it are not recorded. */
async function makeTokens(api: TestApi, hear: TestApi['call'], { planted }: Traces): Promise<void> {
  const key = { name: 'visible', type: 'reusable', expires_in: 86400, auto_groups: [], usage_limit: 0 };
  const made = await api.call('POST', '/api/setup-keys', key);
  const scim = await api.call('POST', '/api/integrations/scim-idp', { prefix: 'p', provider: 'entra' });
  const renewed = await api.call('POST', `/api/integrations/scim-idp/${scim.body.id}/token`);
  planted.push(made.body.key, scim.body.auth_token, renewed.body.auth_token);
  for (const path of ['/api/setup-keys', '/api/integrations/scim-idp']) await hear('GET', path);
  await hear('PUT', `/api/setup-keys/${made.body.id}`, { revoked: true, auto_groups: [] });
}

async function useDocuments(
  hear: TestApi['call'],
  plant: (name: string) => string,
  used: typeof holders,
): Promise<void> {
  const source = (secret: (name: string) => Json, more: JsonObject = {}) => {
    const items = Object.entries(used).map(([name, { body }]) => ({
      ...{ apiVersion: 'heddle.dev/v1', kind: name.split(' ')[0] ?? '' },
      metadata: { name: `the-${name.toLowerCase().replaceAll(' ', '-')}` },
      spec: { ...body(secret, 'name:staff'), ...more },
    }));
    const text = JSON.stringify({ apiVersion: 'heddle.dev/v1', kind: 'List', items });
    return { source: 'git', files: [{ path: 'all.json', text }] };
  };
  for (const broken of [`secret: "${plant('broken')}`, `secret: ${plant('broken')}: [`, `{${plant('broken')}: }}`])
    expect((await hear('POST', '/api/config/plans', { files: [{ path: 'a.yaml', text: broken }] })).status).toBe(422);
  const named = (round: string) => (name: string) => ({ valueFrom: { envRef: `HEDDLE_VALUE_${round}_${name}` } });
  const values: Record<string, string> = {};
  const pushed = (name: string) => {
    values[`env:HEDDLE_VALUE_PUSHED_${name}`] ??= plant(name);
    return named('PUSHED')(name);
  };
  const push = source(pushed);
  for (const wrong of [plant('values'), [plant('values')], { [plant('values')]: plant('values') }])
    expect((await hear('POST', '/api/config/plans', { ...push, values: wrong })).status).toBe(422);
  const literal = await hear('POST', '/api/config/plans', source(plant));
  expect(literal.status).toBe(422);
  const nested = await hear(
    'POST',
    '/api/config/plans',
    source((name) => ({ [plant(name)]: [plant(name)] })),
  );
  expect(nested.status).toBe(422);
  expect((await hear('POST', '/api/config/plans', source(named('FIRST'), { nonsense: 1 }))).status).toBe(422);
  // First with values pushed along with the documents, then with values of the server.
  for (const body of [{ ...push, values }, source(named('SECOND'))]) {
    const plan = await hear('POST', '/api/config/plans', body);
    expect([plan.status, plan.body.problems]).toEqual([201, undefined]);
    await hear('GET', `/api/config/plans/${plan.body.id}`);
    await hear('GET', `/api/config/plans/${plan.body.id}/patch`);
    const apply = `/api/config/plans/${plan.body.id}/apply`;
    const first = await hear('POST', apply, {});
    // The plan of the second round changes so much that it needs an approval.
    const applied = first.status === 428 ? await hear('POST', apply, { approve: plan.body.digest }) : first;
    expect([applied.status, applied.body.problems]).toEqual([200, undefined]);
  }
}

/** Returns the contents of the files of a directory that are missing or different in the older directory `before`. */
function newIn(directory: string, before: string): Readonly<Record<string, readonly string[]>> {
  const paths = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile());
  return Object.fromEntries(
    paths.flatMap((path) => {
      const old = join(before, relative(directory, path));
      const bytes = readFileSync(path);
      return existsSync(old) && readFileSync(old).equals(bytes) ? [] : [[path, [bytes.toString('latin1')]]];
    }),
  );
}

/**
 * Returns the names of the searched texts that contain one of the secrets, in plain text, decoded from Base64, or in
 * hexadecimal.
 */
function hits(secrets: readonly string[], searched: Readonly<Record<string, readonly string[]>>): readonly string[] {
  return Object.entries(searched).flatMap(([name, texts]) => {
    const whole = texts.join('\n');
    // Nearly all forms have the same beginning, so each long text is searched only once for each beginning.
    const starts = new Map<string, boolean>();
    const mayHold = (form: string): boolean => {
      const start = form.slice(0, 8);
      if (!starts.has(start)) starts.set(start, whole.includes(start));
      return starts.get(start) === true;
    };
    return secrets.flatMap((secret) =>
      [secret, Buffer.from(secret, 'base64').toString(), Buffer.from(secret).toString('hex')]
        .filter((form) => form.length > 8 && mayHold(form) && whole.includes(form))
        .map((form) => `${name}: ${form}, in ${excerpt(whole, form)}`),
    );
  });
}

function excerpt(text: string, form: string): string {
  const at = text.indexOf(form);
  return text.slice(Math.max(0, at - 60), at + form.length + 20);
}

/**
 * Opens all sealed values and returns their texts. Fails unless `resealAll`, which knows every table in which a secret
 * is stored, opens exactly the sealed values that `rows` contain.
 */
async function sealedIn(api: TestApi, rows: readonly string[]): Promise<readonly string[]> {
  const sealed = new Set(rows.join('\n').match(/sealed:[\w:-]+:[\w+/=-]+/g) ?? []);
  const opened = new Map<string, string>();
  const { planEnvironment, registry, database } = api.engine;
  const vault: PlanEnvironment['vault'] = {
    ...planEnvironment.vault,
    isCurrent: () => false,
    open(text, context) {
      const found = planEnvironment.vault.open(text, context);
      opened.set(text, found);
      return found;
    },
  };
  await resealAll(database, { registry, vault, form: 'bound', acceptUnbound: false });
  expect([...opened.keys()].sort()).toEqual([...sealed].sort());
  return [...opened.values()];
}

describe('secrets of every kind', () => {
  const traces = (): Traces => ({ planted: [], heard: [], lines: [] });

  it('E122 appear in no table, plan, export, revision, answer, error or log line', async () => {
    const left = traces();
    const made = await testDatabase('postgres');
    await using api = await apiOn(made.database, () => made[Symbol.asyncDispose](), optionsFor(left));
    await useEverything(api, left);
    const rows = await rowsOf(api.engine.database);
    const searched = { tables: rows, answers: left.heard, log: left.lines };
    expect(hits(left.planted, searched)).toEqual([]);
    expect(hits([address], { tables: rows, log: left.lines })).toEqual([]);
    // Each of them contains a value that it may show, which proves that the search covered it.
    for (const [name, texts] of Object.entries(searched))
      expect([name, texts.join('\n').includes('app.proxy.example.com')]).toEqual([name, name !== 'log']);
    expect(left.lines.join('\n')).toContain('EdrVendorA');
    // A saved plan stores its values and documents as lines of one sealed text, which is skipped here.
    const opened = (await sealedIn(api, rows)).filter((text) => !/^\{.*\}\n/.test(text));
    expect(opened.every((text) => text === address || left.planted.includes(text))).toBe(true);
    expect(opened.length).toBeGreaterThan(30);
  });

  it('appear in no file of the embedded database', async () => {
    const left = traces();
    const directory = await temporaryDirectory();
    await copyEmbedded(directory);
    const database = await openDatabase({ dataDir: directory });
    {
      await using api = await apiOn(database, () => database.close(), optionsFor(left));
      // The contents of the files do not depend on the kind, so two kinds are enough.
      const { EdrVendorD, ProxyService } = holders as Readonly<Record<string, Holder>>;
      await useEverything(api, left, { EdrVendorD, ProxyService } as typeof holders);
      expect(hits(left.planted, { tables: await rowsOf(api.engine.database) })).toEqual([]);
    }
    const files = newIn(directory, inject('embeddedTemplate'));
    expect(hits(left.planted, files)).toEqual([]);
    expect(Object.values(files).some(([text = '']) => text.includes('app.proxy.example.com'))).toBe(true);
  });
});
