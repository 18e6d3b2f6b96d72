import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { sha256Base64 } from '../../src/lib/node-pure.ts';
import { isWellFormedToken } from '../../src/lib/token.ts';
import { activities } from '../../src/model/declare/activities.ts';
import { canonicalSpec, canonicalStated } from '../../src/model/schema/normalize.ts';
import { faultsOf, registry, stateOf, stored } from './objects.ts';

const at = { createdAt: '2026-01-02T03:04:05.000Z', updatedAt: '2026-02-03T04:05:06.000Z' };

describe('integrations with endpoint security', () => {
  const computed = (name: string, member: string, derived: JsonObject = {}) => {
    const object = stored(name, 'x', registry.get(name).example, { ...at, derived });
    return registry.get(name).computed[member]?.value(object, stateOf(object));
  };

  it.each(['EdrVendorA', 'EdrVendorB', 'EdrVendorC', 'EdrVendorD'])(
    '%s returns the account, the times of creation and update, and the creator',
    (name) => {
      expect(computed(name, 'account_id')).toBe('acc');
      expect([computed(name, 'created_at'), computed(name, 'updated_at')]).toEqual([at.createdAt, at.updatedAt]);
      expect([computed(name, 'created_by'), computed(name, 'created_by', { created_by: 'ana' })]).toEqual(['', 'ana']);
      expect(computed(name, 'last_synced_at')).toBeUndefined();
    },
  );

  it.each([
    ['EdrVendorA', 'https://edr-a.example.com'],
    ['EdrVendorB', 'b4f7c2d0-13a8-4f5e-8a67-2c9d1e0f3b55'],
    ['EdrVendorC', 'https://edr-c.example.com'],
    ['EdrVendorD', 'eu-1'],
  ])('%s has its identifying field as its name: %s', (kind, name) => {
    expect(stored(kind, 'x', registry.get(kind).example).name).toBe(name);
  });

  it('sort and deduplicate the required policies, and omit members that were not stated', () => {
    const spec = { ...registry.get('EdrVendorC').example, match_attributes: { required_policies: [11, 2, 11] } };
    expect(canonicalSpec(registry.get('EdrVendorC'), spec).spec['match_attributes']).toEqual({
      required_policies: [2, 11],
    });
  });
});

describe('the URL of an integration', () => {
  const faults = (api_url: string) => faultsOf('EdrVendorA', { ...registry.get('EdrVendorA').example, api_url });
  it.each([
    'https://a.example.com',
    'http://a.example.com:8080/x?y=z#w',
    'HTTPS://A.example.com',
    'https://[fd00::1]/',
  ])('may be %s', (url) => expect(faults(url)).toEqual([]));
  it.each([
    ...['a.example.com', 'ftp://a.example.com', 'https://', 'https://a b.example.com', 'https://a.example.com\n'],
    ...['https:\\\\a.example.com', 'https://user@a.example.com', 'https://:pass@a.example.com', 'javascript:alert(1)'],
  ])('cannot be %j', (url) => expect(faults(url)).toEqual(['url_invalid /api_url']));
});

describe('directory sync', () => {
  it('runs every five minutes by default', () => {
    const { sync_interval: _, ...spec } = registry.get('DirectoryIntegration').example;
    expect(canonicalSpec(registry.get('DirectoryIntegration'), spec).spec['sync_interval']).toBe(300);
  });
});

describe('the SCIM token', () => {
  it('is well formed, and only its hash and its first eight characters are stored', () => {
    const kind = registry.get('ScimIntegration');
    const planEnvironment = { now: at.createdAt, random: (bytes: number) => new Uint8Array(bytes).fill(3) };
    const generated = kind.generate?.(stored('ScimIntegration', 'x', kind.example), planEnvironment);
    const token = generated?.outputs?.['auth_token'] ?? '';
    expect(isWellFormedToken('nbs_', token)).toBe(true);
    expect(generated?.derived).toEqual({
      token_hash: sha256Base64(token),
      auth_token: `${token.slice(0, 8)}${'*'.repeat(32)}`,
    });
  });
});

describe('notification channels', () => {
  const kind = registry.get('NotificationChannel');
  const email = (target: JsonObject) => ({ type: 'email', target, event_types: [], enabled: true });

  it.each([
    ['ana@Example.COM', 'ana@example.com'],
    ['Ana.Lima+mesh@bücher.example', 'Ana.Lima+mesh@xn--bcher-kva.example'],
  ])('store the e-mail address %s as %s', (address, kept) => {
    expect(canonicalSpec(kind, email({ emails: [address] })).spec['target']).toMatchObject({ emails: [kept] });
  });

  it.each(['ana', '@example.com', 'ana@', 'a b@example.com', '.a@example.com', 'a..b@example.com', 'ana@10.0.0.1'])(
    'refuse the e-mail address %j',
    (address) =>
      expect(faultsOf('NotificationChannel', email({ emails: [address] }))).toEqual(['email_invalid /target/emails/0']),
  );

  it('accept at most 64 characters before the domain of an e-mail address', () => {
    const faults = (length: number) =>
      faultsOf('NotificationChannel', email({ emails: [`${'a'.repeat(length)}@example.com`] }));
    expect([faults(64), faults(65)]).toEqual([[], ['email_invalid /target/emails/0']]);
  });

  it('omit a target with only empty members, also when it is stated', () => {
    for (const target of [{}, { emails: [] }, { headers: {} }, { url: '' }]) {
      expect(canonicalSpec(kind, email(target)).spec).not.toHaveProperty('target');
      expect(canonicalStated(kind, { target }).spec).toEqual({});
    }
  });
});

describe('event streaming', () => {
  const kind = registry.get('EventStreaming');
  it('stores key names in one spelling, also when stated; a newly sent `access_key` replaces `access_key_id`', () => {
    const config = { secret_key: 's', access_key: 'new', access_key_id: 'old', region: 'r' };
    const kept = { access_key_id: 'new', region: 'r', secret_access_key: 's' };
    const spec = canonicalSpec(kind, { platform: 's3', config, enabled: true }).spec['config'];
    expect(JSON.stringify(spec)).toBe(JSON.stringify(kept));
    expect(canonicalStated(kind, { config }).spec).toEqual({ config: kept });
  });
});

describe('the catalogue of activities', () => {
  it('has a text for each code', () => {
    for (const [code, text] of Object.entries(activities)) {
      expect(code).toMatch(/^[a-z-]+(\.[a-z\d_-]+)+$/);
      expect(text).toMatch(/^[A-Z]/);
    }
  });

  it('contains the codes that streams and channels use', () => {
    for (const code of [
      'user.join',
      'peer.user.add',
      'peer.login.expire',
      'peer.pending.approval',
      'idp.sync.token.expire',
    ])
      expect(activities).toHaveProperty([code]);
  });
});
