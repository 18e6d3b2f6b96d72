import fc from 'fast-check';
import type { StoredObject } from '../../src/model/state/object.ts';
import { stored } from '../kinds/objects.ts';

const groups = ['g1', 'g2', 'g3', 'g4'];
const someGroups = fc.subarray(groups);

const aZone = fc
  .record({
    id: fc.constantFrom('z1', 'z2'),
    enabled: fc.boolean(),
    search: fc.boolean(),
    to: fc.subarray(groups, { minLength: 1 }),
  })
  .map(({ id, enabled, search, to }) =>
    stored('DNSZone', id, {
      name: id,
      domain: `${id}.test`,
      enabled,
      enable_search_domain: search,
      distribution_groups: to,
    }),
  );

const aRecord = fc
  .record({ id: fc.constantFrom('d1', 'd2'), zone: fc.constantFrom('z1', 'z2'), last: fc.integer({ min: 1, max: 2 }) })
  .map(({ id, zone, last }) =>
    stored(
      'DNSRecord',
      id,
      { zone, name: `${id}.${zone}.test`, type: 'A', content: `10.0.0.${last}` },
      { parent: zone },
    ),
  );

const aNameserverGroup = fc
  .record({
    id: fc.constantFrom('s1', 's2'),
    enabled: fc.boolean(),
    to: fc.subarray(groups, { minLength: 1 }),
    domains: fc.subarray(['a.test', 'b.test']),
    search: fc.boolean(),
  })
  .map(({ id, enabled, to, domains, search }) =>
    stored('NameserverGroup', id, {
      name: id,
      enabled,
      groups: to,
      nameservers: [{ ip: '10.0.0.53' }],
      primary: domains.length === 0,
      domains,
      search_domains_enabled: search,
    }),
  );

const someSettings = someGroups.map((disabled) =>
  stored('DNSSettings', 'dns', { disabled_management_groups: disabled }),
);

const theAccount = fc
  .record({ domain: fc.constantFrom('', 'mesh.test'), logs: fc.boolean(), logged: someGroups, expose: fc.boolean() })
  .map(({ domain, logs, logged, expose }) =>
    stored('Account', 'acc', {
      settings: {
        ...(domain === '' ? {} : { dns_domain: domain }),
        network_range: '100.64.0.0/16',
        peer_expose_enabled: expose,
        peer_expose_groups: ['g1'],
        extra: { network_traffic_logs_enabled: logs, network_traffic_logs_groups: logged },
      },
    }),
  );

const aUser = fc
  .record({ id: fc.constantFrom('u1', 'u2'), to: someGroups, blocked: fc.boolean() })
  .map(({ id, to, blocked }) =>
    stored('User', id, { name: id, role: 'user', auto_groups: to, is_service_user: false, is_blocked: blocked }),
  );

const anyOfThem: fc.Arbitrary<StoredObject> = fc.oneof(
  { weight: 3, arbitrary: aZone },
  { weight: 3, arbitrary: aRecord },
  { weight: 2, arbitrary: aNameserverGroup },
  { weight: 1, arbitrary: someSettings },
  { weight: 1, arbitrary: theAccount },
  { weight: 1, arbitrary: aUser },
);

/** Arbitrary objects that a map shows in addition to access: zones and records, nameserver groups, settings, users. */
export const someNames: fc.Arbitrary<readonly StoredObject[]> = fc.uniqueArray(anyOfThem, {
  selector: ({ id }) => id,
  maxLength: 6,
});
