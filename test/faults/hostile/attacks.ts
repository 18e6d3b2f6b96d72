import { archiveAttacks } from './archives.ts';
import { listAttacks } from './lists.ts';

/** A request with up to 1 MB of hostile input. */
export interface Attack {
  readonly name: string;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Creates the body when it is sent, so that not all of the hundred bodies are in memory at once. */
  body(): string | Uint8Array<ArrayBuffer>;
  /** True for an attack that represents similar ones. */
  readonly isTypical?: true;
}

const bytes = 1_000_000;

/** Returns a text of nearly 1 MB that repeats one piece. */
function filled(piece: string, head = '', tail = ''): string {
  return head + piece.repeat(Math.floor((bytes - 5000 - head.length - tail.length) / piece.length)) + tail;
}

/** Returns as many items of `size` bytes as fit into 1 MB. */
function many<Item>(size: number, item: (at: number) => Item): readonly Item[] {
  return Array.from({ length: Math.floor((bytes - 5000) / size) }, (_, at) => item(at));
}

const documents = (name: string, text: () => string): Attack => ({
  name: `documents: ${name}`,
  path: '/api/config/validate',
  body: () => JSON.stringify({ source: 'team', files: [{ path: 'a.yaml', text: text() }] }),
});

const group = (name: string, spec: string): string =>
  `---\napiVersion: heddle.dev/v1\nkind: Group\nmetadata: {name: ${name}}\nspec: ${spec}\n`;

/** Texts that are most expensive for parsers. */
const texts: readonly (readonly [string, () => string])[] = [
  ['quotes in one line', () => filled(' " ').slice(0, bytes / 2)],
  ['closing brackets', () => filled(']')],
  ['deep lists', () => filled('[')],
  ['deep maps', () => filled('{a: ')],
  ['empty items', () => filled(',', '[', ']')],
  ['many zeros', () => filled('0,', 'x: [', ']')],
  ['many empty documents', () => filled('---\n')],
  ['anchors', () => filled('&a ')],
  ['aliases', () => filled('*a,', '[', ']')],
  ['tags', () => filled('- !a x\n')],
  ['directives', () => filled('%A\n---\n')],
  ['wrong indentation', () => filled('a:\n b\n  c:\n')],
  ['a long plain text', () => filled('a ')],
  ['a folded text of empty lines', () => filled('\n', 'x: >\n', ' a')],
  ['one key twice', () => filled('a: 1\n')],
  ['a name of dots', () => group(filled('a.').slice(0, -2), '{}')],
  ['an unknown kind', () => group('a', '{}').replace('Group', filled('G'))],
];

const documentAttacks: readonly Attack[] = [
  ...texts.map(([name, text]) => documents(name, text)),
  documents('bad escapes', () => filled('\\q', '"', '"').slice(0, bytes / 2)),
  documents('many labels', () => {
    const labels = many(14, (at) => `    k${at}: 1`);
    return `apiVersion: heddle.dev/v1\nkind: Group\nmetadata:\n  name: a\n  labels:\n${labels.join('\n')}\n`;
  }),
  documents('unknown members', () => group('a', `\n${many(14, (at) => `  k${at}: 1`).join('\n')}`)),
  documents('unknown references', () => {
    const groups = many(200, (at) => group(`group-${at}`, '{}'));
    const sides = many(40, (at) => `grouq-${at}`);
    return `${groups.join('')}---\napiVersion: heddle.dev/v1\nkind: Policy\nmetadata: {name: p}\nspec:\n  rules: [{name: r, action: accept, protocol: all, sources: [${sides.join(', ')}], destinations: []}]\n`;
  }),
  documents('unknown kinds', () => many(100, (at) => group(`g${at}`, '{}').replace('Group', 'Groub')).join('')),
  documents('previous names that all have', () =>
    many(120, (at) => group(`g${at}`, '{}').replace(`name: g${at}`, `name: g${at}, previousNames: [was]`)).join(''),
  ),
  documents('the same document again and again', () => many(90, () => group('a', '{}')).join('')),
  documents('new groups', () => many(100, (at) => group(`g${at}`, '{}')).join('')),
];

const json = (name: string, path: string, body: () => unknown, method = 'POST'): Attack => ({
  name: `${method} ${path}: ${name}`,
  method,
  path,
  body: () => JSON.stringify(body()),
});

const raw = (name: string, path: string, body: () => string): Attack => ({ name: `POST ${path}: ${name}`, path, body });

const long = () => filled('a ');
const rule = (more: object) => ({ name: 'r', action: 'accept', protocol: 'tcp', enabled: true, ...more });
const policy = (rules: readonly object[]) => ({ name: 'p', enabled: true, rules });

const bodyAttacks: readonly Attack[] = [
  raw('deep JSON', '/api/groups', () => filled('[')),
  raw('deep JSON', '/api/config/plans', () => filled('[')),
  raw('empty lists', '/api/config/plans', () => filled('[],', '{"source":"a","files":[', '[]]}')),
  raw('one member again and again', '/api/groups', () => filled('"name":"a",', '{', '"name":"b"}')),
  raw('a broken text', '/api/groups', () => filled('\\', '{"name":"', '"')),
  json('a long name', '/api/groups', () => ({ name: long() })),
  json('a name of commas and equals signs', '/api/groups', () => ({ name: filled('a=a,') })),
  json('a name of digits', '/api/groups', () => ({ name: filled('1') })),
  json('unknown peers', '/api/groups', () => ({ name: 'a', peers: many(12, (at) => `peer-${at}`) })),
  json('one peer again and again', '/api/groups', () => ({ name: 'a', peers: many(6, () => 'p') })),
  json('unknown members', '/api/groups', () => Object.fromEntries(many(14, (at) => `k${at}`).map((key) => [key, 1]))),
  json('many rules', '/api/policies', () => policy(many(90, (at) => rule({ name: `r${at}` })))),
  json('many ports', '/api/policies', () => policy([rule({ ports: many(8, (at) => String(at % 65_535)) })])),
  json('long ports', '/api/policies', () => policy([rule({ ports: [filled('1')] })])),
  json('many countries', '/api/posture-checks', () => ({
    name: 'a',
    checks: { geo_location_check: { action: 'allow', locations: many(24, () => ({ country_code: 'DE' })) } },
  })),
  json('a long version', '/api/posture-checks', () => ({
    name: 'a',
    checks: { nb_version_check: { min_version: filled('1.') } },
  })),
  json('many networks', '/api/posture-checks', () => ({
    name: 'a',
    checks: { peer_network_range_check: { action: 'allow', ranges: many(14, () => '10.0.0.0/8') } },
  })),
  json('many domains', '/api/routes', () => ({
    description: '',
    network_id: 'a',
    enabled: true,
    metric: 1,
    masquerade: true,
    groups: [],
    domains: many(16, (at) => `d${at}.example.com`),
  })),
  json('a long domain', '/api/dns/zones', () => ({ name: 'a', domain: filled('a.') })),
  json('many name servers', '/api/dns/nameservers', () => ({
    name: 'a',
    nameservers: many(50, () => ({ ip: '1.1.1.1', ns_type: 'udp', port: 53 })),
  })),
  json('a long address', '/api/users/invites', () => ({ email: filled('a@'), name: 'a', role: 'user' })),
  json('a selector', '/api/config/plans', () => ({ source: 'a', files: [], select: filled('a in (') })),
  json('a selector of blanks', '/api/config/plans', () => ({ source: 'a', files: [], select: filled(' ', 'a', '!') })),
  json('a long source', '/api/config/plans', () => ({ source: filled('a'), files: [] })),
  json('many values', '/api/config/plans', () => ({
    source: 'a',
    files: [],
    values: Object.fromEntries(many(24, (at) => `env:HEDDLE_VALUE_${at}`).map((name) => [name, ''])),
  })),
  json('many files', '/api/config/plans', () => ({
    source: 'a',
    files: many(32, (at) => ({ path: `${at}`, text: '' })),
  })),
  raw('no archive', '/api/config/restore', () => filled('{"a":1}\n')),
];

const outsiderAttacks: readonly Attack[] = [
  raw('deep JSON', '/api/setup', () => filled('[')),
  raw('empty lists', '/api/setup', () => filled('[],', '{"email":[', '[]]}')),
  raw('deep JSON', '/agent/enrol', () => filled('[').slice(0, 250_000)),
  json('a password', '/api/setup', () => ({ email: 'a@example.com', password: long() })),
  { ...raw('a form', '/oidc/token', () => filled('a=%61&')), headers: formType() },
  { ...raw('a form of one value', '/oidc/token', () => filled('%2')), headers: formType() },
  json('a certificate', '/agent/enrol', () => ({ certificates: [{ chain: [filled('A').slice(0, 200_000)] }] })),
  {
    ...raw('a bearer token', '/api/groups', () => '{}'),
    headers: { authorization: `Bearer ${'eyJ.'.repeat(3000)}` },
  },
  { ...raw('an idempotency key', '/api/groups', () => '{}'), headers: { 'idempotency-key': 'a '.repeat(6000).trim() } },
  {
    name: 'GET /api/events/proxy: a search',
    method: 'GET',
    path: `/api/events/proxy?search=${'%25_'.repeat(3000)}`,
    body: () => '',
  },
];

function formType(): Readonly<Record<string, string>> {
  return { 'content-type': 'application/x-www-form-urlencoded' };
}

const typical: ReadonlySet<string> = new Set([
  ...['closing brackets', 'an unknown kind', 'bad escapes', 'unknown references'].map((name) => `documents: ${name}`),
  'POST /api/groups: a name of commas and equals signs',
  'POST /api/groups: one peer again and again',
  'POST /api/policies: many ports',
  'POST /api/posture-checks: a long version',
  'POST /api/config/plans: a selector',
  'POST /api/config/restore: rows of empty lists',
  'POST /api/setup: deep JSON',
  'POST /oidc/token: a form',
  'POST /agent/enrol: a certificate',
]);

/** All attacks. */
export const attacks: readonly Attack[] = [
  ...documentAttacks,
  ...bodyAttacks,
  ...listAttacks,
  ...archiveAttacks,
  ...outsiderAttacks,
].map((attack) => (typical.has(attack.name) ? { ...attack, isTypical: true } : attack));
