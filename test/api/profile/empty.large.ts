import { expect, it } from 'vitest';
import { toSpecificationPath } from '../../../src/api/profile/paths.ts';
import { isObject, type Json, type JsonObject } from '../../../src/lib/json.ts';
import type { Profile } from '../../../src/model/profile.ts';
import type { Described } from '../described.ts';
import { createScene, inTheirOrder, isCreation, type Scene } from '../example-scene.ts';
import { type TestApi, testApi } from '../setup.ts';
import { declaredFields } from './declared.ts';
import { isAlwaysShown, type Variant, valueAt, variantsOf } from './empties.ts';
import { collectionOf, isReplace, readOf } from './reading-back.ts';

/** Members that are read differently from how they were sent, when they are sent empty or omitted. */
const declared = declaredFields(true);

/** Members that answers never show. */
const secrets = /(client_secret|api_token|secret|vendor-d client_id|password|pin|value)$/;

interface Seen {
  readonly different: string[];
  /** Members that were sent empty and accepted. */
  readonly empty: Set<string>;
  /** Members that were omitted and are not shown. */
  readonly absent: Set<string>;
}

it.each(['specification', 'compatible'] as const)(
  'what was sent empty is returned empty, and what was omitted is absent, in the profile %s',
  async (profile) => {
    const { api, scene, document } = await openScene(profile);
    await using _ = api;
    const seen: Seen = { different: [], empty: new Set(), absent: new Set() };
    const creations = scene.operations.filter((of) => isCreation(of, scene.operations));
    await inTheirOrder(scene, creations, async (of) => {
      await compareAll({ api, scene, document, of }, seen, createAndRead);
      expect(await scene.attempt(of)).toEqual([]);
    });
    const replaces = scene.operations.filter(isReplace);
    await inTheirOrder(scene, replaces, (of) => compareAll({ api, scene, document, of }, seen, replaceAndRead));
    expect([...new Set(seen.different)].sort()).toEqual([...declared].sort());
    expect(seen.empty.size).toBeGreaterThan(60);
    expect([...seen.empty]).toEqual(expect.arrayContaining(optional));
    expect([...seen.absent]).toEqual(expect.arrayContaining(optional));
  },
  120_000,
);

/** Members that answers show only when they were sent, even when empty. */
const optional = [
  '/api/integrations/notifications/channels target',
  '/api/integrations/notifications/channels target/emails',
  '/api/integrations/notifications/channels target/headers',
  '/api/integrations/edr/vendor-c match_attributes/required_policies',
  '/api/policies rules/*/ports',
  '/api/policies rules/*/port_ranges',
  '/api/policies rules/*/authorized_groups',
  '/api/reverse-proxies/services auth/header_auths',
  '/api/reverse-proxies/services access_restrictions',
  '/api/reverse-proxies/services access_restrictions/allowed_cidrs',
  '/api/reverse-proxies/services access_groups',
  '/api/reverse-proxies/services targets/*/path',
  '/api/reverse-proxies/services targets/*/options/custom_headers',
  '/api/reverse-proxies/services targets/*/options/request_timeout',
  '/api/routes access_control_groups',
];

interface Scenario {
  readonly api: TestApi;
  readonly scene: Scene;
  readonly document: JsonObject;
  readonly of: Described;
}

async function openScene(profile: Profile) {
  const txt = new Map<string, readonly string[]>();
  const api = await testApi('postgres', {
    edition: 'hosted',
    profile: { profile, allowsHeader: false },
    resolveTxt: async (name) => txt.get(name) ?? [],
  });
  const document: JsonObject = (await api.call('GET', '/api/openapi.json')).body;
  return { api, document, scene: await createScene(api, 'hosted', txt) };
}

/**
 * Sends each variant of an example, in which one member is empty or omitted, and compares it with what is read.
 * Variants that the server refuses are skipped.
 */
async function compareAll(
  scenario: Scenario,
  { different, empty, absent }: Seen,
  sendAndRead: (scenario: Scenario, variant: Variant) => Promise<Json | undefined>,
): Promise<void> {
  const { scene, document, of } = scenario;
  const read = readOf(of, scene.operations);
  const example = scene.exampleOf(of);
  if (read === undefined || example === undefined) return;
  for (const variant of variantsOf(document, of, example)) {
    const { at, sent, member } = variant;
    const name = `${toSpecificationPath(collectionOf(of))} ${member}`;
    const body = secrets.test(name) ? undefined : await sendAndRead(scenario, variant);
    if (body === undefined) continue;
    const shown = valueAt(body, at);
    if (sent !== undefined) empty.add(name);
    else if (shown === undefined) absent.add(name);
    const isAsSent = sent === undefined ? shown === undefined : JSON.stringify(shown) === JSON.stringify(sent);
    if (!isAsSent && !(sent === undefined && isAlwaysShown(document, read, at))) different.push(name);
  }
}

/**
 * Creates an object, reads it and deletes it. Returns the body that was read, or `undefined` when the creation was
 * refused.
 */
async function createAndRead({ api, scene, of }: Scenario, { body }: Variant): Promise<Json | undefined> {
  const { url, headers } = await scene.locate(of);
  const made = await api.call('POST', url, body, headers);
  if (made.status !== 200) return undefined;
  const isItem = readOf(of, scene.operations)?.path !== of.path;
  const where = isItem ? `${url}/${made.body.id}` : url;
  const read = await api.call('GET', where, undefined, headers);
  expect((await api.call('DELETE', where, undefined, headers)).status).toBe(200);
  return readBody(read.body);
}

async function replaceAndRead({ api, scene, of }: Scenario, { body }: Variant): Promise<Json | undefined> {
  const { url, headers } = await scene.locate(of);
  const answer = await api.call('PUT', url, body, headers);
  if (answer.status !== 200) return undefined;
  const read = readOf(of, scene.operations);
  const where = read === undefined ? { url, headers } : await scene.locate(read);
  return readBody((await api.call('GET', where.url, undefined, where.headers)).body);
}

function readBody(body: unknown): Json {
  expect(isObject(body)).toBe(true);
  // Answers are JSON.
  return body as Json;
}
