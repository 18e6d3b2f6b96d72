import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { noObservations } from '../../src/access/ruleset/facts.ts';
import { insertToken } from '../../src/db/accounts/tokens.ts';
import { hashToken } from '../../src/features/auth/authenticate.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { makeToken } from '../../src/lib/token.ts';
import { putObjects } from '../setup/objects.ts';
import { sharedApi, type TestApi } from './setup.ts';

const api = sharedApi();

/**
 * Deletes all policies, including the default one that lets all peers reach each other, and creates one policy for each
 * of these rules.
 */
async function onlyPolicies(own: TestApi, ...policies: readonly JsonObject[]): Promise<void> {
  for (const { id } of (await own.call('GET', '/api/policies')).body) await own.call('DELETE', `/api/policies/${id}`);
  for (const [at, rule] of policies.entries()) {
    const { source_posture_checks = [], ...more } = rule;
    const main = { name: 'r', enabled: true, action: 'accept', bidirectional: false, protocol: 'tcp', ...more };
    const body = { name: `p${at}`, enabled: true, source_posture_checks, rules: [main] };
    const answer = await own.call('POST', '/api/policies', body);
    expect([answer.status, answer.body.message]).toEqual([200, undefined]);
  }
}

async function namesFor(own: TestApi, id: string, headers: Readonly<Record<string, string>> = {}): Promise<Json> {
  const answer = await own.call('GET', `/api/peers/${id}/accessible-peers`, undefined, headers);
  expect(answer.status).toBe(200);
  return answer.body.map(({ name }: { readonly name: string }) => name);
}

async function countsOf(own: TestApi): Promise<JsonObject> {
  const peers = (await own.call('GET', '/api/peers')).body;
  return Object.fromEntries(
    peers.map((peer: { readonly hostname: string; readonly accessible_peers_count: number }) => [
      peer.hostname,
      peer.accessible_peers_count,
    ]),
  );
}

it('accessible peers are those a peer may connect to after drop rules and posture checks, and the peer list counts them', async () => {
  const own = api();
  const [ana = '', db = '', web = ''] = await own.peers('ana', 'db', 'web');
  const [devs, servers, databases] = await Promise.all([
    own.group('devs', [ana]),
    own.group('servers', [db, web]),
    own.group('databases', [db]),
  ]);
  expect(await countsOf(own)).toEqual({ ana: 2, db: 2, web: 2 });
  await onlyPolicies(own, { sources: [devs], destinations: [servers] });
  expect(await namesFor(own, ana)).toEqual(['Peer db', 'Peer web']);
  expect(await namesFor(own, db)).toEqual([]);
  expect(await countsOf(own)).toEqual({ ana: 2, db: 0, web: 0 });
  await onlyPolicies(
    own,
    { sources: [devs], destinations: [servers], bidirectional: true },
    { sources: [devs], destinations: [databases], action: 'drop' },
  );
  expect(await countsOf(own)).toEqual({ ana: 1, db: 1, web: 1 });
  const check = { client_version_check: { min_version: '2.0.0' } };
  const recent = await own.call('POST', '/api/posture-checks', { name: 'recent', description: '', checks: check });
  await onlyPolicies(own, { sources: [devs], destinations: [servers], source_posture_checks: [recent.body.id] });
  // Nothing is known yet about the client of peer `ana`.
  expect([await namesFor(own, ana), await countsOf(own)]).toEqual([[], { ana: 0, db: 0, web: 0 }]);
  const reported = { ...noObservations, facts: new Map([[ana, { clientVersion: '2.1.0' }]]) };
  own.engine.access.setObservationSource({ read: async () => reported });
  expect([await namesFor(own, ana), await countsOf(own)]).toEqual([['Peer db', 'Peer web'], { ana: 2, db: 0, web: 0 }]);
});

it('accessible peers are returned in a short form', async () => {
  const own = api();
  const [one = '', other = ''] = await own.peers('one', 'other');
  const both = await own.group('both', [one, other]);
  await onlyPolicies(own, { sources: [both], destinations: [both], protocol: 'all' });
  const answer = await own.call('GET', `/api/peers/${one}/accessible-peers`);
  const whole = (await own.call('GET', `/api/peers/${other}`)).body;
  const { id, name, ip, dns_label, user_id, os, country_code, city_name, geoname_id, connected, last_seen } = whole;
  const location = { country_code, city_name, geoname_id };
  expect(answer.body).toEqual([{ id, name, ip, dns_label, user_id, os, ...location, connected, last_seen }]);
  expect((await own.call('GET', '/api/peers/nobody/accessible-peers')).status).toBe(404);
  const etag = answer.headers['etag'] ?? '';
  const again = await own.call('GET', `/api/peers/${one}/accessible-peers`, undefined, { 'if-none-match': etag });
  expect(again.status).toBe(304);
});

it('users see accessible peers of their own peers only, and none while the account hides peers from users', async () => {
  const own = api();
  const [mine = '', other = ''] = await own.peers('mine', 'theirs');
  const both = await own.group('pair', [mine, other]);
  await onlyPolicies(own, { sources: [both], destinations: [both], protocol: 'all' });
  const person = { name: 'Ana', email: 'ana@example.com', role: 'user', auto_groups: [], is_service_user: false };
  const user = (await own.call('POST', '/api/users', person)).body.id;
  await putObjects(own.engine, own.account, (state) => {
    const [peer, ana] = [state.get(mine), state.get(user)];
    if (peer === undefined || ana === undefined) return [];
    return [
      { ...peer, spec: { ...peer.spec, user_id: user } },
      { ...ana, derived: { ...ana.derived, status: 'active' } },
    ];
  });
  const value = makeToken('nbp_', randomBytes(32));
  await insertToken(own.engine.database, {
    ...{ account: own.account, id: own.engine.newId(), user, name: 'test', hash: hashToken(value), createdBy: user },
    ...{ createdAt: '2026-01-01T00:00:00Z', expiresAt: '2126-01-01T00:00:00Z' },
  });
  const headers = { authorization: `Token ${value}` };
  expect(await namesFor(own, mine, headers)).toEqual([]);
  const [account] = (await own.call('GET', '/api/accounts')).body;
  const settings = { ...account.settings, regular_users_view_blocked: false };
  expect((await own.call('PUT', `/api/accounts/${account.id}`, { settings })).status).toBe(200);
  expect(await namesFor(own, mine, headers)).toEqual(['Peer theirs']);
  expect(await namesFor(own, other, headers)).toEqual([]);
});
