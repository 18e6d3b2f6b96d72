import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { canonicalSpec, canonicalStated } from '../../src/model/schema/normalize.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { account, faultsOf, registry, stateFaultsOf, stateOf, stored, texts } from './objects.ts';

const zoneKind = registry.get('DNSZone');
const recordKind = registry.get('DNSRecord');
const plain = { zone: 'z', name: 'www.example.com', type: 'A', content: '192.0.2.1' };

function zone(domain = 'example.com', id = 'z'): StoredObject {
  return stored('DNSZone', id, { name: `Zone ${id}`, domain, distribution_groups: ['devs'] });
}

/** Returns the zone with a domain that changed after its records were created. */
function moved(domain: string): StoredObject {
  return { ...zone(domain), updatedRevision: 2 };
}

function record(id: string, spec: JsonObject): StoredObject {
  return stored('DNSRecord', id, { ...plain, ...spec }, { parent: 'z' });
}

describe('the domain of a zone', () => {
  it.each([
    ['Example.COM.', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
  ])('%s is stored as %s', (domain, stated) => {
    expect(zone(domain).spec['domain']).toBe(stated);
  });

  it.each(['*.example.com', '_x.example.com', '10.0.0.1', 'a b'])('cannot be %j', (domain) => {
    expect(faultsOf('DNSZone', { name: 'z', domain, distribution_groups: ['g'] })).toEqual(['domain_invalid /domain']);
  });

  it('is unique in the account', () => {
    expect(zoneKind.uniques['domain']?.value(zone('Example.com'))).toBe('example.com');
    expect(zoneKind.uniques['domain']?.message('example.com')).toContain('already exists');
  });

  const peers = account({ dns_domain: 'mesh.example.com' });
  const installed = { ...account(), derived: { peer_dns_domain: 'mesh.test' } };
  it.each<readonly [string, string, readonly StoredObject[], boolean]>([
    ['the domain of the peers', 'mesh.example.com', [peers], false],
    ['a domain above the peers', 'example.com', [peers], true],
    ['a domain below the peers', 'x.mesh.example.com', [peers], true],
    ['the domain of the installation', 'mesh.test', [installed], false],
    ['the built-in domain', 'heddle.internal', [account()], false],
    ['the built-in domain, unused', 'heddle.internal', [peers], true],
    ['the built-in domain without an account', 'heddle.internal', [], false],
  ])('is refused if it is the domain of the peers, accepted otherwise: %s (%s)', (_, domain, others, ok) => {
    expect(texts(stateFaultsOf(zone(domain), ...others))).toEqual(ok ? [] : ['zone_domain_reserved /domain']);
  });

  it('may change only to a domain that contains every record', () => {
    const records = [record('r1', { name: 'a.b.example.com' }), record('r2', { name: 'b.example.com' })];
    expect(stateFaultsOf(moved('b.example.com'), ...records)).toEqual([]);
    const [fault, ...more] = stateFaultsOf(moved('a.b.example.com'), ...records);
    expect(more).toEqual([]);
    expect(fault).toMatchObject({ code: 'zone_records_outside', path: '/domain' });
    expect(fault?.message).toContain('`b.example.com`');
    expect(fault?.message).not.toContain('`a.b.example.com`,');
  });

  it('is refused with a message that names at most ten records outside the new domain', () => {
    const records = Array.from({ length: 12 }, (_, at) => record(`r${at}`, { name: `n${at}.example.com` }));
    const [fault] = stateFaultsOf(moved('example.net'), ...records);
    expect(fault?.message.match(/`n\d+\.example\.com`/g)).toHaveLength(10);
    expect(fault?.message).toContain('and 2 more');
  });
});

describe('the content of a record', () => {
  it.each([
    ['A', '192.0.2.1', '192.0.2.1'],
    ['AAAA', '2001:DB8:0:0::1', '2001:db8::1'],
    ['CNAME', 'Host.Example.COM.', 'host.example.com'],
    ['CNAME', '_acme.example.com', '_acme.example.com'],
  ])('%s %s is stored as %s', (type, content, stated) => {
    const { spec } = canonicalSpec(recordKind, { ...plain, type, content });
    expect(spec['content']).toBe(stated);
    expect(canonicalStated(recordKind, { type, content }).spec).toEqual({ type, content: stated });
    expect(recordKind.check?.(spec as never)).toEqual([]);
  });

  it.each([
    ['A', '2001:db8::1'],
    ['A', '192.0.2.256'],
    ['A', '192.0.2.01'],
    ['AAAA', '192.0.2.1'],
    ['AAAA', 'fe80::1%eth0'],
    ['CNAME', '*.example.com'],
    ['CNAME', '192.0.2.1'],
    ['CNAME', 'a..b'],
  ])('cannot be %s %s', (type, content) => {
    expect(faultsOf('DNSRecord', { ...plain, type, content })).toEqual(['record_content_invalid /content']);
  });

  it('is left unchanged when the type is not stated', () => {
    expect(canonicalStated(recordKind, { content: 'X.' }).spec).toEqual({ content: 'X.' });
  });
});

describe('the name of a record', () => {
  it.each([
    ['example.com', true],
    ['www.example.com', true],
    ['*.example.com', true],
    ['_sip._tcp.example.com', true],
    ['WWW.Example.com.', true],
    ['example.org', false],
    ['badexample.com', false],
    ['www', false],
  ])('%s lies in the zone: %s', (name, ok) => {
    const faults = stateFaultsOf(record('r', { name }), zone());
    expect(texts(faults)).toEqual(ok ? [] : ['record_name_outside /name']);
  });

  it.each(['a.*.example.com', '-a.example.com', 'a b.example.com'])('cannot be %j', (name) => {
    expect(faultsOf('DNSRecord', { ...plain, name })).toEqual(['record_name_invalid /name']);
  });
});

describe('records of a zone', () => {
  const alias = (id: string, content = 'x.example.com') => record(id, { type: 'CNAME', content });
  const cases: readonly (readonly [string, StoredObject, StoredObject, boolean])[] = [
    ['two addresses', record('a', {}), record('b', { content: '192.0.2.2' }), true],
    ['an IPv4 and an IPv6 address', record('a', {}), record('b', { type: 'AAAA', content: '2001:db8::1' }), true],
    ['an alias beside an address', alias('a'), record('b', {}), false],
    ['an address beside an alias', record('a', {}), alias('b'), false],
    ['two aliases', alias('a'), alias('b', 'y.example.com'), false],
    ['an alias and another name', alias('a'), record('b', { name: 'ftp.example.com' }), true],
    ['an alias and a name in another zone', alias('a'), { ...record('b', {}), parent: 'other' }, true],
  ];

  it.each(cases)('allow a CNAME only as the sole record of its name: %s', (_, one, other, ok) => {
    expect(texts(stateFaultsOf(one, other, zone()))).toEqual(ok ? [] : ['record_cname_alone /type']);
  });

  it('are duplicates when name, type and content are equal', () => {
    const value = (object: StoredObject) => recordKind.uniques['record']?.value(object);
    expect(value(record('a', {}))).toBe('z/www.example.com/A/192.0.2.1');
    expect(value(record('a', { name: 'WWW.example.com.', ttl: 60 }))).toBe(value(record('b', {})));
    expect(value({ ...record('a', {}), parent: 'other' })).not.toBe(value(record('b', {})));
    expect(recordKind.uniques['record']?.message('z/www.example.com/A/192.0.2.1')).toMatch(
      /`www\.example\.com\/A\/192\.0\.2\.1` already exists/,
    );
  });

  it('have natural keys of name, type and content, and are paired by name and type', () => {
    const spec = canonicalSpec(recordKind, plain).spec as never;
    expect(recordKind.naturalKey?.(spec)).toBe('www.example.com/A/192.0.2.1');
    expect(recordKind.pairing?.(spec)).toBe('www.example.com/A');
  });
});

describe('events of zones and records', () => {
  it('carry the name and domain of a zone, and the fields and zone of a record', () => {
    const state = stateOf(zone(), record('r', {}));
    expect(zoneKind.activityMeta?.(zone(), state)).toEqual({ name: 'Zone z', domain: 'example.com' });
    expect(recordKind.activityMeta?.(record('r', {}), state)).toEqual({
      name: 'www.example.com',
      type: 'A',
      content: '192.0.2.1',
      ttl: '300',
      zone_id: 'z',
      zone_name: 'Zone z',
    });
  });
});
