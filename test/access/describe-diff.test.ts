import { describe, expect, it } from 'vitest';
import { describePair } from '../../src/access/diff/describe-pair.ts';
import type { AccessDiff } from '../../src/access/diff/diff.ts';
import { missingTrafficText, trafficText } from '../../src/access/evaluate/traffic.ts';
import type { PeerFacts } from '../../src/access/ruleset/facts.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { peer, stored } from '../kinds/objects.ts';
import { diffAccess } from './diff-access.ts';
import { accessOf, officeWith, policy } from './office.ts';

const toDatabases = { ports: ['5432'], sources: ['developers'], destinations: ['databases'] };

function difference(
  before: readonly StoredObject[],
  after: readonly StoredObject[],
  facts: Readonly<Record<string, PeerFacts>> = {},
) {
  return diffAccess(accessOf(officeWith(...before), facts), accessOf(officeWith(...after), facts));
}

describe('an access diff', () => {
  it('is described by the groups of the rules that permit traffic', () => {
    const before = [
      policy('Data', toDatabases),
      policy('Ping', { protocol: 'icmp', sources: ['All'], destinations: ['All'] }),
    ];
    const after = [
      policy('Data', { ...toDatabases, ports: ['5432', '6432'], sources: ['developers', 'gateways'] }),
      policy('Files', { ports: ['445'], sources: ['developers'], destinations: ['files'] }),
    ];
    const diff = difference(before, after);
    expect(diff.gained).toEqual({ pairs: 5, conditional: 0 });
    expect(diff.lost).toEqual({ pairs: 12, conditional: 0 });
    expect(diffLines(diff)).toEqual([
      '+ developers → databases: tcp/6432 (2 pairs)',
      '+ developers → files: tcp/445 (2 pairs)',
      '+ gateways → databases: tcp/5432, tcp/6432 (1 pair)',
      '- All → All: icmp (12 pairs)',
    ]);
  });

  it('is empty between equal accounts, even when objects were renamed', () => {
    const renamed = { ...policy('Data', toDatabases), name: 'Renamed' };
    const diff = difference([policy('Data', toDatabases)], [renamed]);
    const none = { pairs: 0, conditional: 0 };
    expect([diff.gained, diff.lost, diff.groups]).toEqual([none, none, []]);
    expect([...diff.pairs()]).toEqual([]);
  });

  it('counts changes that depend on posture checks separately', () => {
    const plain = policy('Data', toDatabases);
    const checked = policy('Data', toDatabases, { source_posture_checks: ['recent'] });
    const facts = { ana: { clientVersion: '1.0' } };
    expect(diffLines(difference([], [checked]))).toEqual([
      '+ developers → databases: tcp/5432 (2 pairs, all depending on posture checks)',
    ]);
    expect(diffLines(difference([plain], [checked], facts))).toEqual([
      '- developers → databases: tcp/5432 (2 pairs, 1 depending on posture checks)',
    ]);
    expect([...difference([plain], [checked], facts).pairs()].map(describePair)).toEqual([
      { from: named('ana'), to: named('db'), lost: 'tcp/5432' },
      { from: named('ben'), to: named('db'), lostUnlessPostureAllows: 'tcp/5432' },
    ]);
    expect([...difference([checked], [plain], { ben: { clientVersion: '2' } }).pairs()].map(describePair)).toEqual([
      { from: named('ana'), to: named('db'), gained: 'tcp/5432' },
    ]);
  });

  it('reports what deleting a drop rule gains, by the rules that accept the traffic', () => {
    const freeze = policy('Freeze', { action: 'drop', sources: ['All'], destinations: ['databases'] });
    const open = policy('Open', { protocol: 'all', sources: ['developers'], destinations: ['All'] });
    expect(diffLines(difference([open, freeze], [open]))).toEqual(['+ developers → All: tcp, ssh (2 pairs)']);
  });

  it('lists pairs in the order of their ids, including created and deleted peers', () => {
    const all = policy('Everything', { protocol: 'udp', sources: ['All'], destinations: ['databases'] });
    const diff = difference([all, peer('old', '100.64.0.8')], [all, peer('new', '100.64.0.9')]);
    expect([...diff.pairs()].map(describePair)).toEqual([
      { from: named('new'), to: named('db'), gained: 'udp' },
      { from: named('old'), to: named('db'), lost: 'udp' },
    ]);
    expect(diffLines(diff)).toEqual(['+ All → databases: udp (1 pair)', '- All → databases: udp (1 pair)']);
  });

  it('lists only the pairs that match the filter', () => {
    const diff = difference([], [policy('Everything', { protocol: 'udp', sources: ['All'], destinations: ['All'] })]);
    const pairs = (filter: Parameters<typeof diff.pairs>[0]) =>
      [...diff.pairs(filter)].map(({ from, to }) => `${from.id} ${to.id}`);
    expect(pairs({ from: 'databases' })).toEqual(['db ana', 'db ben', 'db gw']);
    expect(pairs({ from: 'developers', to: 'gateways' })).toEqual(['ana gw', 'ben gw']);
    expect(pairs({ to: 'gw' })).toEqual(['ana gw', 'ben gw', 'db gw']);
    expect(pairs({ from: 'contractors' })).toEqual([]);
    expect(pairs({}).length).toBe(12);
  });

  it('covers resources with a disabled router, and routes newly distributed to groups', () => {
    const files = policy('Files', { ports: ['445'], sources: ['developers'], destinations: ['files'] });
    const noRouter = stored(
      'NetworkRouter',
      'router',
      { network: 'net', peer: 'gw', metric: 1, masquerade: true, enabled: false },
      { parent: 'net' },
    );
    const spec = { network_id: 'internet', description: '', network: '0.0.0.0/0', peer: 'gw', metric: 100 };
    const flags = { keep_route: false, masquerade: true, enabled: true };
    const handedOut = stored('Route', 'exit', { ...spec, ...flags, groups: ['databases', 'developers'] });
    expect(diffLines(difference([files], [files, noRouter, handedOut]))).toEqual([
      '+ databases → internet: all (1 pair)',
      '- developers → files: tcp/445 (2 pairs)',
    ]);
  });

  it('detects that a rule changed from accept to drop', () => {
    const rule = { protocol: 'udp', sources: ['developers'], destinations: ['databases'] };
    const open = policy('Open', { protocol: 'all', sources: ['developers'], destinations: ['databases'] });
    const [accept, drop] = [policy('Data', rule), policy('Data', { ...rule, action: 'drop' })];
    expect(diffLines(difference([open, accept], [open, drop]))).toEqual(['- developers → databases: udp (2 pairs)']);
  });

  it('detects that a route with access control groups is distributed to other groups', () => {
    const route = (groups: readonly string[]) =>
      stored('Route', 'lab', {
        ...{ network_id: 'lab', description: '', network: '10.9.0.0/16', peer: 'gw', metric: 1, masquerade: true },
        ...{ enabled: true, keep_route: false, groups, access_control_groups: ['databases'] },
      });
    const rule = policy('Data', { ...toDatabases, sources: ['All'] });
    expect(diffLines(difference([rule, route(['developers'])], [rule, route(['gateways', 'databases'])]))).toEqual([
      '+ All → databases: tcp/5432 (2 pairs)',
      '- All → databases: tcp/5432 (2 pairs)',
    ]);
  });
});

/** Returns one line for each pair of groups: `+` for gained traffic and `-` for lost traffic. */
function diffLines({ groups }: AccessDiff): readonly string[] {
  return groups.map(({ change, from, to, traffic, pairs, conditional }) => {
    const open =
      conditional === 0 ? '' : `, ${conditional === pairs ? 'all' : conditional} depending on posture checks`;
    const count = pairs === 1 ? '1 pair' : `${pairs} pairs`;
    const text = change === 'gained' ? trafficText(traffic) : missingTrafficText(traffic);
    return `${change === 'gained' ? '+' : '-'} ${from.name} → ${to.name}: ${text} (${count}${open})`;
  });
}

function named(id: string) {
  return { type: 'peer', id, name: `Peer ${id}` };
}
