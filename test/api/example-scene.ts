import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import type { Edition } from '../../src/model/edition.ts';
import { rows } from '../spec/fields.ts';
import { pathOf } from '../spec/walk.ts';
import { addCluster, createWorld } from '../spec/world.ts';
import { checkBy } from './answer-check.ts';
import { type Described, operationsOf } from './described.ts';
import { asObject, createKnown, type Known, pathParametersOf, resolved, withIds } from './example-ids.ts';
import { type Answer, asOperator, createCall, type TestApi } from './setup.ts';

/** Where an operation is sent, and with which headers. */
export interface Located {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** An account in which every operation of an OpenAPI document is tried with its own examples. */
export interface Scene {
  readonly operations: readonly Described[];
  /** Whether everything that the operation names is there: ids of its path and of its example. */
  isReady(of: Described): boolean;
  /** Sends every example of the operation; answers what was not as the document says. */
  attempt(of: Described): Promise<readonly string[]>;
  /** Where the operation is, on what was made, and as whom it is sent. */
  locate(of: Described): Promise<Located>;
  /** The first example of the operation, with real ids. */
  exampleOf(of: Described): Json | undefined;
}

/**
 * Operations whose object has to be in a certain state first, or that nothing else needs any more; the table of the
 * specification says how they get there.
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

/** Reads the document of a server and puts there what nothing over HTTP makes. */
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
      (pathParametersOf(known, of) !== undefined || isPlaced(of)) &&
      bodiesOf(known, of).every(({ complete }) => complete),
    exampleOf: (of) => bodiesOf(known, of)[0]?.body,
    async locate(of) {
      const row = isPlaced(of) ? rows[of.name] : undefined;
      const place = (await row?.at?.(world)) ?? pathParametersOf(known, of) ?? {};
      return { url: urlOf(of, place), headers: (await row?.as?.(world, place)) ?? {} };
    },
    async attempt(of) {
      const row = preparedOperations.has(of.name) ? rows[of.name] : undefined;
      const faults: string[] = [];
      for (const { type, body } of bodiesOf(known, of)) {
        const place = (await row?.at?.(world)) ?? pathParametersOf(known, of) ?? {};
        const sample = await row?.request?.samples[0]?.body(world, place);
        const sent = await withDigest(api, of, place, withOwnIds(known, of, body, sample));
        const caller = isOperators(of) ? asOperator : await row?.as?.(world, place);
        const headers = { ...caller, ...(type === undefined ? {} : { 'content-type': type }) };
        const url = urlOf(of, place, type);
        const answer = await call(of.method.toUpperCase(), url, sent, headers);
        if (answer.status !== of.answer.status)
          faults.push(`${of.name}: ${answer.status} ${JSON.stringify(answer.body)} to ${JSON.stringify(sent)}`);
        note(known, of, answer);
      }
      return faults;
    },
  };
}

/** Whether only the operator of the server may ask for it. */
function isOperators({ operation }: Described): boolean {
  return JSON.stringify(operation['security'] ?? []).includes('"Operator"');
}

/** The path, with the examples of the parameters without which the operation cannot be asked. */
function urlOf({ name, operation }: Described, place: Readonly<Record<string, string>>, type = ''): string {
  const query = new URLSearchParams();
  for (const one of (operation['parameters'] ?? []) as readonly JsonObject[])
    if (one['in'] === 'query' && (one['required'] === true || (isPlain(type) && one['example'] !== undefined)))
      query.set(String(one['name']), String(one['example']));
  const path = pathOf(name, place);
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Whether a body has no members that could say what else the operation needs. */
function isPlain(type: string): boolean {
  return type.includes('yaml');
}

/** Whether the table of the specification makes what the operation names. */
export function isPlaced({ name }: Described): boolean {
  return preparedOperations.has(name) && rows[name]?.at !== undefined;
}

/** Whether something comes into being below the path of the operation; what agents make wants their proofs. */
export function isCreation({ method, path }: Described, all: readonly Described[]): boolean {
  const isItem = (other: Described) =>
    other.path.startsWith(`${path}/{`) && !other.path.slice(path.length + 2).includes('/');
  const isSingle = (other: Described) => other.path === path && other.method === 'put';
  if (method !== 'post' || path.startsWith('/agent/')) return false;
  return all.some((other) => isItem(other) || isSingle(other));
}

/** Whether the answer never ends. */
export function isStream({ answer }: Described): boolean {
  return answer.content?.['text/event-stream'] !== undefined;
}

/** Runs the operations, each when what it names is there; answers those for which that never came true. */
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
  /** Everything that the example names has a real id. */
  readonly complete: boolean;
}

/** The examples of an operation, one a media type. */
function bodiesOf(known: Known, { operation }: Described): readonly Body[] {
  const content = asObject(asObject(operation['requestBody'])?.['content']);
  if (content === undefined) return [{ complete: true }];
  return Object.entries(content).map(([type, media]) => {
    const { schema, example } = media as { readonly schema: JsonObject; readonly example: Json };
    const body = withIds(known, schema, example);
    return { type, body, complete: body !== undefined };
  });
}

/** The example with the ids of a sample that fits the scene. */
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

/** An approval names the digest of its plan, which no example knows. */
async function withDigest(
  api: TestApi,
  { path }: Described,
  place: Readonly<Record<string, string>>,
  body: Json | undefined,
): Promise<Json | undefined> {
  if (path !== '/api/config/plans/{id}/approve') return body;
  return { digest: (await api.call('GET', `/api/config/plans/${place['id']}`)).body.digest };
}

/** Remembers what came into being: the first of a collection, and the first of a kind. */
function note({ inPaths, byKind }: Known, { method, path, answer }: Described, { body }: Answer): void {
  if (method !== 'post' || body?.id === undefined) return;
  if (!inPaths.has(path)) inPaths.set(path, String(body.id));
  const schema = asObject(asObject(answer.content?.['application/json'])?.['schema']);
  const kind = String(schema?.['$ref']).split('/').at(-1) ?? '';
  if (!byKind.has(kind)) byKind.set(kind, String(body.id));
}
