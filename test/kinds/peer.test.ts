import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { account, faultsOf, peer, registry, stateOf, stored } from './objects.ts';

const kind = registry.get('Peer');
const plain = { name: 'Build server', dns_label: 'build', ip: '100.72.0.12' };

describe('a peer', () => {
  it.each([
    ['ip', '100.72.0.12', undefined],
    ['ip', 'fd00::1', 'ipv4_invalid'],
    ['ip', '100.72.0.012', 'ipv4_invalid'],
    ['ipv6', 'fd00::1', undefined],
    ['ipv6', '100.72.0.12', 'ipv6_invalid'],
    ['dns_label', '-build', 'domain_invalid'],
  ])('with %s %s: %s', (field, value, code) => {
    expect(faultsOf('Peer', { ...plain, [field]: value })).toEqual(code === undefined ? [] : [`${code} /${field}`]);
  });

  it('has its IPv6 address in one spelling', () => {
    expect(stored('Peer', 'p', { ...plain, ipv6: 'FD00:0::1' }).spec['ipv6']).toBe('fd00::1');
  });

  it.each([
    ['ip', '100.72.0.12'],
    ['ipv6', undefined],
    ['dns_label', 'build'],
  ])('is alone with its %s', (rule, value) => {
    expect(kind.uniques[rule]?.value(stored('Peer', 'p', plain))).toBe(value);
    expect(kind.uniques[rule]?.message('x')).toContain('already exists');
  });

  it('comes by enrolment, and references to it may wait', () => {
    expect(kind.document.allowed).toBe(false);
    expect(kind.path).toBeUndefined();
    expect(kind.pending).toBe(true);
  });
});

describe('events of a peer', () => {
  const state = stateOf(account({ dns_domain: 'mesh.example.com' }));
  const codes = (change: JsonObject) =>
    kind
      .updateEvents?.(stored('Peer', 'p', plain), stored('Peer', 'p', { ...plain, ...change }), state)
      .map(({ code }) => code);

  it.each<readonly [JsonObject, readonly string[]]>([
    [{}, []],
    [{ name: 'CI' }, ['peer.rename']],
    [{ ssh_enabled: true }, ['peer.ssh.enable']],
    [{ login_expiration_enabled: true }, ['peer.login.expiration.enable']],
    [{ inactivity_expiration_enabled: true }, ['peer.inactivity.expiration.enable']],
    [{ ip: '100.72.0.13' }, ['peer.ip.update']],
  ])('for %j: %j', (change, expected) => {
    expect(codes(change)).toEqual(expected);
  });

  it('say its names and addresses', () => {
    expect(kind.activityMeta?.(peer('build', '100.72.0.12'), state)).toEqual({
      name: 'Peer build',
      fqdn: 'build.mesh.example.com',
      ip: '100.72.0.12',
      created_at: '2026-01-02T03:04:05Z',
    });
  });
});

describe('a user', () => {
  const user = registry.get('User');
  const email = (address: string) =>
    user.uniques['email']?.value(stored('User', 'u', { email: address, role: 'user' }));

  it('is alone with an e-mail address, whatever its case; service users have none', () => {
    expect(email('Ana@Example.com')).toBe('ana@example.com');
    expect(email('')).toBeUndefined();
    expect(user.uniques['email']?.message('x')).toContain('already exists');
  });

  it('is not declared in documents', () => {
    expect(user.document.allowed).toBe(false);
  });
});
