import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import type { Edition } from '../../src/model/edition.ts';
import { rows } from '../spec/fields.ts';
import { pathOf } from '../spec/walk.ts';
import { addCluster, createWorld } from '../spec/world.ts';
import { checkBy } from './answer-check.ts';
import { type Described, operationsOf } from './described.ts';
import { asObject, createKnown, type Known, pathParametersOf, resolved, withIds } from './example-ids.ts';
import { type Answer, asOperator, createCall, type TestApi } from './setup.ts';

/** URL and headers with which an operation is sent. */
export interface Located {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** An account on which every operation of an OpenAPI document is tried with its own examples. */
export interface Scene {
  readonly operations: readonly Described[];
  /** Returns whether everything that the operation names exists: the ids in its path and in its example. */
  isReady(of: Described): boolean;
  /** Sends every example of the operation. Returns the answers that differ from the document. */
  attempt(of: Described): Promise<readonly string[]>;
  /** Returns the URL of the operation, with ids of created objects, and the headers of its caller. */
  locate(of: Described): Promise<Located>;
  /** Returns the first example of the operation, with real ids. */
  exampleOf(of: Described): Json | undefined;
}

/**
 * Operations whose object must first be in a certain state, or must not be used by another object. The table of the
 * specification prepares them.
 */
const preparedOperations: ReadonlySet<string> = new Set([
  'DELETE /api/groups/{groupId}',
  'GET /api/users/{userId}/tokens',
  'POST /api/users/{userId}/tokens',
  'GET /api/users/{userId}/tokens/{tokenId}',
  'DELETE /api/users/{userId}/tokens/{tokenId}',
  'POST /api/users/{userId}/invite',
  'POST /api/users/{userId}/approve',
  'DELETE /api/users/{userId}/reject',
  'PUT /api/users/{userId}/password',
  'GET /api/users/invites/{token}',
  'POST /api/users/invites/{token}/accept',
  'POST /api/integrations/msp/tenants/{id}/dns',
  'POST /api/integrations/msp/tenants/{id}/unlink',
  'POST /api/integrations/msp/tenants/{id}/subscription',
  'POST /api/integrations/msp/tenants/{id}/invite',
  'PUT /api/integrations/msp/tenants/{id}/invite',
]);

/** Reads the OpenAPI document of a server, and creates the objects that cannot be created over HTTP. */
export async function createScene(api: TestApi, edition: Edition, txt: Map<string, readonly string[]>): Promise<Scene> {
  const document: JsonObject = (await api.call('GET', '/api/openapi.json')).body;
  const call = createCall(api.app, checkBy(document));
  const world = createWorld(api, edition, txt);
  const [peer = ''] = await api.peers('laptop');
  await addCluster(api, 'proxy.example.com', { supports_custom_ports: true, supports_reputation: true });
  const known = createKnown(document);
  known.inPaths.set('/api/peers', peer);
  known.inPaths.set('/api/accounts', api.account);
  known.inPaths.set('/api/reverse-proxies/clusters', 'proxy.example.com');
  known.inPaths.set('/api/config/revisions', '1');
  known.byKind.set('Peer', peer);
  return {
    operations: operationsOf(document),
    isReady: (of) =>
      (pathParametersOf(known, of) !== undefined || hasRow(of)) &&
      bodiesOf(known, of).every(({ complete }) => complete),
    exampleOf: (of) => bodiesOf(known, of)[0]?.body,
    async locate(of) {
      const row = hasRow(of) ? rows[of.name] : undefined;
      const parameters = (await row?.at?.(world)) ?? pathParametersOf(known, of) ?? {};
      return { url: urlOf(of, parameters), headers: (await row?.as?.(world, parameters)) ?? {} };
    },
    async attempt(of) {
      const row = preparedOperations.has(of.name) ? rows[of.name] : undefined;
      const faults: string[] = [];
      for (const { type, body } of bodiesOf(known, of)) {
        const parameters = (await row?.at?.(world)) ?? pathParametersOf(known, of) ?? {};
        const sample = await row?.request?.samples[0]?.body(world, parameters);
        const sent = await withDigest(api, of, parameters, withOwnIds(known, of, body, sample));
        const caller = isOperators(of) ? asOperator : await row?.as?.(world, parameters);
        const headers = { ...caller, ...(type === undefined ? {} : { 'content-type': type }) };
        const url = urlOf(of, parameters, type);
        const answer = await call(of.method.toUpperCase(), url, sent, headers);
        if (answer.status !== of.answer.status)
          faults.push(`${of.name}: ${answer.status} ${JSON.stringify(answer.body)} to ${JSON.stringify(sent)}`);
        note(known, of, answer);
      }
      return faults;
    },
  };
}

/** Returns whether only the operator of the server may call the operation. */
function isOperators({ operation }: Described): boolean {
  return JSON.stringify(operation['security'] ?? []).includes('"Operator"');
}

/**
 * Returns the URL, with the examples of the required query parameters. With a YAML body, it includes all query
 * parameters that have an example.
 */
function urlOf({ name, operation }: Described, parameters: Readonly<Record<string, string>>, type = ''): string {
  const query = new URLSearchParams();
  for (const one of (operation['parameters'] ?? []) as readonly JsonObject[])
    if (one['in'] === 'query' && (one['required'] === true || (isPlain(type) && one['example'] !== undefined)))
      query.set(String(one['name']), String(one['example']));
  const path = pathOf(name, parameters);
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Returns whether the body cannot contain the operation's other inputs, so that they are query parameters. */
function isPlain(type: string): boolean {
  return type.includes('yaml');
}

/** Returns whether the table of the specification creates what the operation names. */
export function hasRow({ name }: Described): boolean {
  return preparedOperations.has(name) && rows[name]?.at !== undefined;
}

/**
 * Returns whether the operation creates an object below its path. Operations of agents are excluded, because they
 * require proofs.
 */
export function isCreation({ method, path }: Described, all: readonly Described[]): boolean {
  const isItem = (other: Described) =>
    other.path.startsWith(`${path}/{`) && !other.path.slice(path.length + 2).includes('/');
  const isSingle = (other: Described) => other.path === path && other.method === 'put';
  if (method !== 'post' || path.startsWith('/agent/')) return false;
  return all.some((other) => isItem(other) || isSingle(other));
}

/** Returns whether the answer is an endless stream. */
export function isStream({ answer }: Described): boolean {
  return answer.content?.['text/event-stream'] !== undefined;
}

/**
 * Runs the operations, each as soon as everything that it names exists. Returns the operations for which this never
 * happened.
 */
export async function inTheirOrder(
  scene: Scene,
  operations: readonly Described[],
  run: (of: Described) => Promise<unknown>,
): Promise<readonly Described[]> {
  let left = operations;
  for (let next = left.find(scene.isReady); next !== undefined; next = left.find(scene.isReady)) {
    const found = next;
    left = left.filter((of) => of !== found);
    await run(found);
  }
  return left;
}

interface Body {
  readonly type?: string;
  readonly body?: Json | undefined;
  /** Whether every reference in the example has a real id. */
  readonly complete: boolean;
}

/** Returns the examples of an operation, one per media type. */
function bodiesOf(known: Known, { operation }: Described): readonly Body[] {
  const content = asObject(asObject(operation['requestBody'])?.['content']);
  if (content === undefined) return [{ complete: true }];
  return Object.entries(content).map(([type, media]) => {
    const { schema, example } = media as { readonly schema: JsonObject; readonly example: Json };
    const body = withIds(known, schema, example);
    return { type, body, complete: body !== undefined };
  });
}

/** Returns the example with the references of a sample that fits the scene. */
function withOwnIds(
  { document }: Known,
  { operation }: Described,
  example: Json | undefined,
  sample?: JsonObject,
): Json | undefined {
  if (sample === undefined || !isObject(example)) return example;
  const content = asObject(asObject(operation['requestBody'])?.['content']);
  const schema = resolved(document, asObject(asObject(content?.['application/json'])?.['schema']) ?? {});
  const refs = Object.entries(asObject(schema['properties']) ?? {}).filter(([, of]) => asObject(of)?.['x-ref']);
  return { ...example, ...Object.fromEntries(refs.map(([name]) => [name, sample[name] as Json])) } as JsonObject;
}

/** Returns the body to send. An approval contains the digest of its plan, which an example cannot know. */
async function withDigest(
  api: TestApi,
  { path }: Described,
  parameters: Readonly<Record<string, string>>,
  body: Json | undefined,
): Promise<Json | undefined> {
  if (path !== '/api/config/plans/{id}/approve') return body;
  return { digest: (await api.call('GET', `/api/config/plans/${parameters['id']}`)).body.digest };
}

/** Stores the id of the created object if it is the first in its collection, or the first of its kind. */
function note({ inPaths, byKind }: Known, { method, path, answer }: Described, { body }: Answer): void {
  if (method !== 'post' || body?.id === undefined) return;
  if (!inPaths.has(path)) inPaths.set(path, String(body.id));
  const schema = asObject(asObject(answer.content?.['application/json'])?.['schema']);
  const kind = String(schema?.['$ref']).split('/').at(-1) ?? '';
  if (!byKind.has(kind)) byKind.set(kind, String(body.id));
}
