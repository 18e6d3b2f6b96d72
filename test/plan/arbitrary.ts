import fc from 'fast-check';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import type { Document } from '../../src/model/document.ts';
import { document } from './steps.ts';

/** Peers that documents and requests may refer to. The account must have them. */
export const peerKeys = ['p1', 'p2', 'p3'];

const groupKeys = ['ant', 'bee', 'cat', 'dog', 'eel'];

/**
 * Generates valid documents of a small account: groups, policies, routes, and zones with inline and separate records.
 */
export const accounts: fc.Arbitrary<readonly Document[]> = fc
  .subarray(groupKeys, { minLength: 1 })
  .chain((keys) => documentsAround(keys));

/** Generates documents that refer only to these groups, including the documents of the groups. */
function documentsAround(groups: readonly string[]): fc.Arbitrary<readonly Document[]> {
  return fc
    .tuple(
      fc.tuple(...groups.map(groupDocument)),
      several(['fly', 'fox'], (key) => policyDocument(key, groups)),
      several(['r1', 'r2', 'r3'], (key) => routeDocument(key, groups)),
      several(['lan', 'lab'], (key) => zoneDocuments(key, groups)),
    )
    .map(([own, policies, routes, zones]) => [...own, ...policies, ...routes, ...zones.flat()]);
}

/**
 * Generates the documents in any order, with the members of every object in any order. Each document keeps its
 * position.
 */
export function shuffled(documents: readonly Document[]): fc.Arbitrary<readonly Document[]> {
  return fc
    .shuffledSubarray([...documents], { minLength: documents.length })
    .chain((items) =>
      fc
        .infiniteStream(fc.nat(9))
        .map((order) => items.map((item) => ({ ...item, spec: withMembersIn(order, item.spec) }))),
    );
}

/**
 * Returns the second list, with the same document objects as in the first list where the content is equal. This is what
 * a source that reads only changed files produces. Documents of files that were read again are new objects with equal
 * content.
 */
function sharing(
  before: readonly Document[],
  after: readonly Document[],
  readAgain: fc.Stream<boolean>,
): readonly Document[] {
  const known = new Map(before.map((item) => [JSON.stringify(item), item]));
  return after.map((item) => (readAgain.next().value === true ? item : (known.get(JSON.stringify(item)) ?? item)));
}

/**
 * Generates documents, and the documents after an edit of some files. No document is deleted. Untouched documents are
 * the same objects in both lists, unless their file was read again.
 */
export const edits: fc.Arbitrary<readonly [readonly Document[], readonly Document[]]> = fc
  .subarray(groupKeys, { minLength: 2 })
  .chain((keys) =>
    fc.tuple(
      documentsAround(keys),
      documentsAround(keys),
      fc.infiniteStream(fc.boolean()),
      fc.infiniteStream(fc.boolean()),
    ),
  )
  .map(([before, drawn, edited, readAgain]) => {
    const known = new Set(before.map(nameOf));
    const others = new Map(drawn.map((item) => [nameOf(item), item]));
    const kept = before.map((item) =>
      edited.next().value === true ? (others.get(nameOf(item)) ?? item) : { ...item },
    );
    const added = drawn.filter((item) => !known.has(nameOf(item)) && edited.next().value === true);
    return [before, sharing(before, [...kept, ...added], readAgain)];
  });

function nameOf({ kind, metadata }: Document): string {
  return `${kind}/${metadata.name}`;
}

function several<Value>(
  keys: readonly string[],
  of: (key: string) => fc.Arbitrary<Value>,
): fc.Arbitrary<readonly Value[]> {
  return fc.subarray([...keys]).chain((chosen) => fc.tuple(...chosen.map(of)));
}

function groupDocument(key: string): fc.Arbitrary<Document> {
  const spec = optional({ name: fc.constantFrom(key, `The ${key}s`), peers: fc.subarray(peerKeys) });
  return fc.tuple(spec, fc.boolean(), fc.boolean()).map(([stated, guarded, renamed]) =>
    document('Group', key, stated, {
      ...(guarded ? { annotations: { 'heddle.dev/prevent-delete': 'true' } } : {}),
      ...(renamed ? { previousNames: [`old-${key}`] } : {}),
    }),
  );
}

function policyDocument(key: string, groups: readonly string[]): fc.Arbitrary<Document> {
  const rules = fc.uniqueArray(ruleSpecs(groups), {
    minLength: 1,
    maxLength: 3,
    selector: (rule) => String(rule['name']),
  });
  return fc
    .tuple(
      optional({
        enabled: fc.boolean(),
        description: fc.constantFrom('', 'why'),
        source_posture_checks: fc.constant([]),
      }),
      rules,
    )
    .map(([spec, stated]) => document('Policy', key, { ...spec, rules: stated }));
}

/** Generates policy rules as documents state them, some with ports. */
function ruleSpecs(groups: readonly string[]): fc.Arbitrary<JsonObject> {
  const ports = fc.constantFrom({}, { ports: ['443', '80'] }, { port_ranges: [{ start: 8000, end: 8080 }] });
  return fc
    .tuple(
      fc.constantFrom('web', 'db', 'web.admin', 'a]b'),
      ports,
      optional({ enabled: fc.boolean(), bidirectional: fc.boolean() }),
      groupLists(groups),
      groupLists(groups),
    )
    .map(([name, more, flags, sources, destinations]) => ({
      name,
      action: 'accept',
      protocol: 'tcp',
      ...more,
      ...flags,
      sources,
      destinations,
    }));
}

/** Generates a route. Each route has a different destination, so that no two routes overlap. */
function routeDocument(key: string, groups: readonly string[]): fc.Arbitrary<Document> {
  const target = fc.constantFrom<JsonObject>(
    { network: `10.${key.slice(1)}.0.0/16` },
    { domains: [`${key}.example.net`, 'example.net'] },
  );
  const router = fc.oneof(
    fc.constantFrom(...peerKeys).map((peer): JsonObject => ({ peer })),
    groupLists(groups).map((peer_groups): JsonObject => ({ peer_groups })),
  );
  return fc
    .tuple(
      target,
      router,
      groupLists(groups),
      optional({
        metric: fc.constantFrom(1, 9999),
        masquerade: fc.boolean(),
        access_control_groups: fc.subarray([...groups]),
      }),
    )
    .map(([to, by, receivers, more]) =>
      document('Route', key, { network_id: key, ...to, ...by, groups: receivers, ...more }),
    );
}

function zoneDocuments(key: string, groups: readonly string[]): fc.Arbitrary<readonly Document[]> {
  const domain = `${key}.example.com`;
  const address = fc
    .tuple(fc.constantFrom('www', 'db', '*'), fc.constantFrom('10.0.0.1', '10.0.0.2', '10.0.0.3'))
    .map(([host, content]) => ({ name: `${host}.${domain}`, type: 'A', content }));
  const alias = fc
    .constantFrom('example.org', 'example.net')
    .map((content) => ({ name: `alias.${domain}`, type: 'CNAME', content }));
  const records = fc
    .tuple(fc.uniqueArray(address, { maxLength: 4, selector: (record) => JSON.stringify(record) }), fc.option(alias))
    .chain(([addresses, other]) =>
      fc.tuple(
        ...[...addresses, ...(other === null ? [] : [other])].map((record) =>
          fc.tuple(fc.constant(record), fc.boolean(), optional({ ttl: fc.constantFrom(60, 300) })),
        ),
      ),
    );
  return fc
    .tuple(records, groupLists(groups), optional({ enabled: fc.boolean() }))
    .map(([all, distribution_groups, more]) => {
      const inline = all.filter(([, standalone]) => !standalone).map(([record, , ttl]) => ({ ...record, ...ttl }));
      const alone = all.flatMap(([record, standalone, ttl], at) =>
        standalone ? [document('DNSRecord', `${key}-${at}`, { zone: key, ...record, ...ttl })] : [],
      );
      return [
        document('DNSZone', key, {
          domain,
          distribution_groups,
          ...more,
          ...(inline.length === 0 ? {} : { records: inline }),
        }),
        ...alone,
      ];
    });
}

function groupLists(groups: readonly string[]): fc.Arbitrary<readonly string[]> {
  return fc.subarray(['All', ...groups], { minLength: 1 });
}

/** Generates objects with any subset of these members. */
function optional(members: Readonly<Record<string, fc.Arbitrary<Json>>>): fc.Arbitrary<JsonObject> {
  // A member that is left out is absent, not `undefined`.
  return fc.record(members, { requiredKeys: [], noNullPrototype: true }) as fc.Arbitrary<JsonObject>;
}

function withMembersIn(order: fc.Stream<number>, spec: JsonObject): JsonObject {
  const members = Object.entries(spec).map(([name, value]) => [order.next().value ?? 0, name, value] as const);
  return Object.fromEntries(members.sort(([a], [b]) => a - b).map(([, name, value]) => [name, value]));
}
