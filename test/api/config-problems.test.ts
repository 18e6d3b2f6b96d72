import { beforeAll, expect, it } from 'vitest';
import { doc } from './documents.ts';
import { sharedApi } from './setup.ts';

const api = sharedApi();
const rule = (more: string) =>
  `rules:\n  - name: r\n    action: accept\n    protocol: tcp\n    sources: [All]\n    destinations: [All]\n    ${more}`;
const route = (more: string) => `network_id: n\npeer_groups: [All]\ngroups: [All]\n${more}`;
const zone = (records: string) => `domain: z.example\ndistribution_groups: [All]\nrecords:\n${records}`;
const record = (more: string) => `  - {name: a.z.example, type: A, content: 10.0.0.1, ${more}}`;

/** Title, files, and for each expected problem its code, `file:line:column` and part of its message. */
type Case = [string, string | Record<string, string>, [code: string, position: string, said: string][]];

const cases: Case[] = [
  ['an unknown kind', doc('Grup', 'x', 'name: x'), [['kind_unknown', 'a.yaml:2:7', '`Group`']]],
  ['an unknown field', doc('Group', 'x', 'pears: []'), [['field_unknown', 'a.yaml:6:3', '`peers`']]],
  ['a wrong type', doc('Group', 'x', 'peers: {}'), [['type_wrong', 'a.yaml:6:3', 'must be a list']]],
  ['E3: a number for a text', doc('Group', 'x', 'name: 1.10'), [['type_wrong', 'a.yaml:6:9', 'quote it: "1.10"']]],
  ['a duplicate key', doc('Group', 'x', 'name: x\nname: y'), [['key_duplicate', 'a.yaml:7:3', 'name']]],
  [
    'a document twice',
    { 'a.yaml': doc('Group', 'x', 'name: x'), 'b.yaml': doc('Group', 'x', 'name: y') },
    [['document_duplicate', 'b.yaml:1:1', 'a.yaml']],
  ],
  ['a broken second document', `${doc('Group', 'x', 'name: x')}---\nkind: [\n`, [['yaml_invalid', 'a.yaml:9:1', '']]],
  [
    'an unknown reference',
    doc('Policy', 'x', rule('ports: ["80"]').replace('sources: [All]', 'sources: [Al]')),
    [['reference_unknown', 'a.yaml:10:17', 'did you mean `All`?']],
  ],
  [
    'an ambiguous reference',
    doc('DNSRecord', 'x', 'zone: Twins\nname: a.example\ntype: A\ncontent: 10.0.0.1'),
    [['reference_ambiguous', 'a.yaml:6:9', 'Twins']],
  ],
  [
    'a reference to nothing',
    doc('Policy', 'x', rule('authorized_groups: {Al: [root]}')),
    [['reference_unknown', 'a.yaml:12:27', '']],
  ],
  [
    'a reference that is longer than what a message quotes',
    doc('Policy', 'x', rule(`authorized_groups: {${'a'.repeat(250)}: [root]}`)),
    [['reference_unknown', 'a.yaml:12:27', '']],
  ],
  [
    'both of a pair',
    doc('Route', 'x', route('network: 10.0.0.0/8\ndomains: [a.example]')),
    [['route_destination_exclusive', 'a.yaml:10:3', '`network` and `domains`']],
  ],
  [
    'ports and ranges',
    doc('Policy', 'x', rule('ports: ["80"]\n    port_ranges: [{start: 1, end: 2}]')),
    [['policy_ports_exclusive', 'a.yaml:13:7', '`ports` and `port_ranges`']],
  ],
  [
    'a metric out of range',
    doc('Route', 'x', route('network: 10.0.0.0/8\nmetric: 10000')),
    [['value_out_of_range', 'a.yaml:10:11', 'at most 9999']],
  ],
  [
    'a range with host bits',
    doc('Route', 'x', route('network: 10.1.2.3/8')),
    [['cidr_invalid', 'a.yaml:9:12', '10.0.0.0/8']],
  ],
  ['no range', doc('Route', 'x', route('network: office')), [['cidr_invalid', 'a.yaml:9:12', 'such as']]],
  [
    'a record outside its zone',
    doc('DNSZone', 'x', zone(record('ttl: 5').replace('a.z.example', 'a.example'))),
    [['record_name_outside', 'a.yaml:9:14', '`z.example`']],
  ],
  [
    'a record with a wrong address',
    doc('DNSZone', 'x', zone(record('ttl: 5').replace('10.0.0.1', 'fd00::1'))),
    [['record_content_invalid', 'a.yaml:9:45', 'IPv4']],
  ],
  [
    'a ttl below 0',
    doc('DNSZone', 'x', zone(record('ttl: -5'))),
    [['value_out_of_range', 'a.yaml:9:60', 'at least 0']],
  ],
  [
    'a required field that is missing',
    doc('DNSZone', 'x', 'domain: z.example'),
    [['field_required', 'a.yaml:5:1', '`distribution_groups`']],
  ],
  [
    'everything at once, in the order of the text',
    {
      'a.yaml': `${doc('Group', 'x', 'name: 7\npears: []')}---\n${doc('Grup', 'y', 'name: y')}`,
      'b.yaml': doc('Route', 'r', 'network_id: ""\nmetric: 0\npeer_groups: [All]\ngroups: [Al]\nnetwork: x'),
      'c.yaml': 'kind: [',
      'd.yaml': doc('Route', 's', route('network: 10.0.0.0/8\ndomains: [a.example]')),
      'e.yaml': doc('DNSZone', 'z', zone(record('ttl: 5').replace('a.z.example', 'a.example'))),
    },
    [
      ['type_wrong', 'a.yaml:6:9', '"7"'],
      ['field_unknown', 'a.yaml:7:3', '`peers`'],
      ['kind_unknown', 'a.yaml:10:7', '`Group`'],
      ['value_too_short', 'b.yaml:6:15', 'empty'],
      ['value_out_of_range', 'b.yaml:7:11', 'at least 1'],
      ['cidr_invalid', 'b.yaml:10:12', 'such as'],
      ['yaml_invalid', 'c.yaml:1:8', ''],
      ['route_destination_exclusive', 'd.yaml:10:3', ''],
      ['record_name_outside', 'e.yaml:9:14', ''],
    ],
  ],
];

beforeAll(async () => {
  const group = await api().group('twins');
  for (const domain of ['one.example', 'two.example'])
    await api().call('POST', '/api/dns/zones', {
      ...{ name: 'Twins', domain, enable_search_domain: false, distribution_groups: [group] },
    });
});

it.each(cases)('validate, plan and apply refuse documents and locate the problem: %s', async (_, files, problems) => {
  const before = await api().revision();
  const given = typeof files === 'string' ? { 'a.yaml': files } : files;
  const body = { source: 's', files: Object.entries(given).map(([path, text]) => ({ path, text })) };
  for (const url of ['/api/config/validate', '/api/config/plans', '/api/config/apply']) {
    const answer = await api().call('POST', url, body);
    const found = (answer.body.problems ?? []).map(
      (p: { code: string; file: string; line: number; column: number; message: string }) => [
        p.code,
        `${p.file}:${p.line}:${p.column}`,
        p.message,
      ],
    );
    expect(found).toEqual(problems.map(([code, position, said]) => [code, position, expect.stringContaining(said)]));
    expect(answer.status).toBe(422);
  }
  expect(await api().revision()).toBe(before);
});
