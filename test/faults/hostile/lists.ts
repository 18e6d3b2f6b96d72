import type { Attack } from './attacks.ts';

const bytes = 990_000;

/**
 * Returns a list with as many pieces as fit into 1 MB. Each takes ten bytes or more, because bodies with more values
 * are refused before they are read.
 */
function listOf(piece: string): string {
  const padded = piece.padEnd(9);
  return `[${`${padded},`.repeat(Math.floor(bytes / (padded.length + 1)))}${padded}]`;
}

/** Returns as many different texts or members of `size` bytes as fit into 1 MB. */
const many = (size: number, item: (at: number) => string): string =>
  Array.from({ length: Math.floor(bytes / size) }, (_, at) => item(at)).join(',');

/** Lists whose entries have the wrong type, or refer to nothing. */
const entries: readonly (readonly [string, () => string])[] = [
  ['numbers', () => listOf('1')],
  ['empty lists', () => listOf('[]')],
  ['empty objects', () => listOf('{}')],
  ['names', () => `[${many(10, (at) => `"g${at}"`)}]`],
];

const rule = (more: string): string =>
  `{"name":"r","action":"accept","protocol":"tcp","enabled":true,"bidirectional":false${more}}`;
const posture = (checks: string): string => `{"name":"a","description":"","checks":{${checks}}}`;

/** Bodies that contain one list each. */
const lists: readonly (readonly [string, string, (list: string) => string])[] = [
  ['peers', '/api/groups', (list) => `{"name":"a","peers":${list}}`],
  ['resources', '/api/groups', (list) => `{"name":"a","resources":${list}}`],
  ['rules', '/api/policies', (list) => `{"name":"p","enabled":true,"rules":${list}}`],
  ['sources', '/api/policies', (list) => `{"name":"p","enabled":true,"rules":[${rule(`,"sources":${list}`)}]}`],
  ['processes', '/api/posture-checks', (list) => posture(`"process_check":{"processes":${list}}`)],
  [
    'locations',
    '/api/posture-checks',
    (list) => posture(`"geo_location_check":{"action":"allow","locations":${list}}`),
  ],
  [
    'groups',
    '/api/users/invites',
    (list) => `{"email":"a@example.com","name":"a","role":"user","auto_groups":${list}}`,
  ],
  ['targets', '/api/reverse-proxies/services', (list) => `{"name":"s","domain":"a.example.com","targets":${list}}`],
  ['files', '/api/config/plans', (list) => `{"source":"a","files":${list}}`],
  ['kinds', '/api/config/plans', (list) => `{"source":"a","files":[],"kinds":${list}}`],
  ['rules of files', '/api/config/plans', (list) => `{"source":"a","files":[],"rules":${list}}`],
];

const post = (name: string, path: string, body: () => string): Attack => ({
  name: `POST ${path}: ${name}`,
  path,
  body,
});

const channel = (target: string): string =>
  `{"type":"webhook","enabled":false,"event_types":["user.join"],"target":${target}}`;
const stream = (config: string): string => `{"platform":"generic_http","enabled":false,"config":${config}}`;

/** Long lists and maps with valid entries, and long texts. */
const longValues: readonly Attack[] = [
  post('rules of one name', '/api/policies', () => {
    const one = rule(',"sources":["a"],"destinations":["a"]');
    return `{"name":"p","enabled":true,"rules":${listOf(one)}}`;
  }),
  post('ranges', '/api/posture-checks', () => {
    const ranges = many(17, (at) => `"10.${(at >> 8) & 255}.${at & 255}.0/24"`);
    return posture(`"peer_network_range_check":{"action":"allow","ranges":[${ranges}]}`);
  }),
  post('headers', '/api/integrations/notifications/channels', () =>
    channel(`{"url":"https://a.example.com","headers":{${many(14, (at) => `"X-${at}":"v"`)}}}`),
  ),
  post('event types', '/api/integrations/notifications/channels', () => {
    const types = many(18, (at) => `"user.jon${at}"`);
    return `{"type":"email","enabled":false,"event_types":[${types}],"target":{"emails":["a@example.com"]}}`;
  }),
  post('sign-in headers', '/api/reverse-proxies/services', () => {
    const auths = listOf('{"enabled":true,"header":"X-A","value":"v"}');
    return `{"name":"s","domain":"a.example.com","targets":[],"auth":{"header_auths":${auths}}}`;
  }),
  post('settings', '/api/event-streaming', () => stream(`{${many(14, (at) => `"k${at}":"v"`)}}`)),
  post('a template without ends', '/api/event-streaming', () =>
    stream(`{"url":"https://a.example.com","body_template":"${'{{'.repeat(bytes / 2)}"}`),
  ),
  post('users by group', '/api/policies', () => {
    const users = many(16, (at) => `"g${at}":["a"]`);
    return `{"name":"p","enabled":true,"rules":[${rule(`,"authorized_groups":{${users}}`)}]}`;
  }),
];

const document = (name: string, kind: string, spec: () => string, metadata: () => string = () => ''): Attack => ({
  name: `documents: ${name}`,
  path: '/api/config/plans',
  body: () => {
    const text = `apiVersion: heddle.dev/v1\nkind: ${kind}\nmetadata: {name: p${metadata()}}\nspec: ${spec()}\n`;
    return JSON.stringify({ source: 'team', files: [{ path: 'a.yaml', text }] });
  },
});

const documents: readonly Attack[] = [
  document('empty rules', 'Policy', () => `{rules: ${listOf('{}')}}`),
  document('empty processes', 'PostureCheck', () => `{checks: {process_check: {processes: ${listOf('{}')}}}}`),
  document('numbers for peers', 'Group', () => `{peers: ${listOf('1')}}`),
  document(
    'many previous names',
    'Group',
    () => '{}',
    () => `, previousNames: [${many(10, (at) => `n${at}`)}]`,
  ),
  {
    name: 'documents: many faulty documents',
    path: '/api/config/plans',
    body: () => {
      const group = `---\napiVersion: heddle.dev/v1\nkind: Group\nmetadata: {name: g}\nspec: {peers: [${'1,'.repeat(500)}]}\n`;
      return JSON.stringify({ source: 'team', files: [{ path: 'a.yaml', text: group.repeat(bytes / 1150) }] });
    },
  },
];

const typical: ReadonlySet<string> = new Set([
  'POST /api/policies: rules of empty objects',
  'POST /api/groups: peers of names',
  'POST /api/integrations/notifications/channels: headers',
  'POST /api/event-streaming: a template without ends',
  'documents: empty processes',
]);

/** Lists and maps with very many entries, valid or not. */
export const listAttacks: readonly Attack[] = [
  ...lists.flatMap(([name, path, body]) =>
    entries.map(([of, list]) => post(`${name} of ${of}`, path, () => body(list()))),
  ),
  ...longValues,
  ...documents,
].map((attack) => (typical.has(attack.name) ? { ...attack, isTypical: true } : attack));
