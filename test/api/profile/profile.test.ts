import { describe, expect, it } from 'vitest';
import { sharedApi } from '../setup.ts';
import { profileScene, setupKey } from './scene.ts';

const { api, ours, theirs } = profileScene();
const plain = sharedApi();
const compatible = sharedApi({ profile: { profile: 'compatible', allowsHeader: false } });

const check = (checks: Readonly<Record<string, { readonly min_version: string }>>, name = 'clients') => ({
  ...{ name, description: '' },
  checks,
});

describe('the profile of a request', () => {
  it('is the configured one, whatever the request asks for', async () => {
    const made = await compatible().call('POST', '/api/setup-keys', setupKey, { 'heddle-profile': 'specification' });
    expect(made.body.id).toBe('1');
    expect(made.headers['vary'] ?? '').not.toContain('Heddle-Profile');
  });

  it('is the specification by default, and member names of the compatible profile are refused', async () => {
    const asked = { 'heddle-profile': 'compatible' };
    const key = await plain().call('POST', '/api/setup-keys', setupKey, asked);
    expect(key.body.id).toBe(1);
    const refused = await plain().call(
      'POST',
      '/api/posture-checks',
      check({ nb_version_check: { min_version: '1.0.0' } }),
      asked,
    );
    expect(refused).toMatchObject({ status: 422, body: { problems: [{ code: 'field_renamed' }] } });
    expect((await plain().call('GET', '/api/integrations/edr/falcon', undefined, asked)).status).toBe(404);
  });

  it('is the requested one where the operator allows it, with a Vary header and separate ETags', async () => {
    const [one, other] = [await ours('GET', '/api/groups'), await theirs('GET', '/api/groups')];
    for (const { headers } of [one, other]) expect(headers['vary']).toContain('Heddle-Profile');
    expect(one.body).toEqual(other.body);
    expect(one.headers['etag']).not.toBe(other.headers['etag']);
  });

  it('must be `specification` or `compatible`', async () => {
    const refused = await ours('GET', '/api/groups', undefined, { 'heddle-profile': 'terraform' });
    expect(refused.status).toBe(422);
    expect(refused.body.message).toBe('the header `Heddle-Profile` must be `specification` or `compatible`');
  });
});

describe('a cached or repeated answer', () => {
  it('has a separate ETag in each profile', async () => {
    const { headers, body } = await theirs(
      'POST',
      '/api/posture-checks',
      check({ nb_version_check: { min_version: '2.0.0' } }, 'a'),
    );
    const etag = headers['etag'] ?? '';
    const path = `/api/posture-checks/${body.id}`;
    expect((await theirs('GET', path)).headers['etag']).toBe(etag);
    const known = { 'if-none-match': etag };
    expect(await theirs('GET', path, undefined, known)).toMatchObject({ status: 304, headers: { etag } });
    expect((await ours('GET', path, undefined, known)).status).toBe(200);
    const own = (await ours('GET', path)).headers['etag'] ?? '';
    expect((await ours('GET', path, undefined, { 'if-none-match': own })).status).toBe(304);
    expect((await theirs('GET', path, undefined, { 'if-none-match': own })).status).toBe(200);
    expect((await theirs('PUT', path, body, { 'if-match': etag })).status).toBe(200);
    expect((await theirs('PUT', path, body, { 'if-match': '"0.0.compatible"' })).status).toBe(412);
  });

  it('has a separate ETag in each profile for the list of events too', async () => {
    const { headers } = await theirs('GET', '/api/events');
    const known = { 'if-none-match': headers['etag'] ?? '' };
    expect((await theirs('GET', '/api/events', undefined, known)).status).toBe(304);
    expect((await ours('GET', '/api/events', undefined, known)).status).toBe(200);
  });

  it('is replayed in its own profile, and refused with 422 in the other one', async () => {
    const key = { 'idempotency-key': 'profiles-1' };
    const first = await theirs('POST', '/api/setup-keys', setupKey, key);
    const again = await theirs('POST', '/api/setup-keys', setupKey, key);
    expect(again.body).toEqual(first.body);
    expect(again.headers).toMatchObject({ 'idempotency-replayed': 'true', etag: first.headers['etag'] });
    expect((await ours('POST', '/api/setup-keys', setupKey, key)).status).toBe(422);
  });
});

describe('a request in the compatible profile', () => {
  it('may use both names of a member with equal values, and is refused when they differ', async () => {
    const [old, young] = [{ min_version: '1.0.0' }, { min_version: '2.0.0' }];
    const same = check({ nb_version_check: old, client_version_check: old }, 'b');
    expect((await theirs('POST', '/api/posture-checks', same)).body.checks).toEqual({ nb_version_check: old });
    const other = check({ nb_version_check: old, client_version_check: young }, 'c');
    const message =
      '`nb_version_check` is also given under its name in the specification, with another value; send only one of them';
    expect((await theirs('POST', '/api/posture-checks', other)).body).toEqual({
      ...{ code: 422, message },
      problems: [{ code: 'field_repeated', path: '/checks/nb_version_check', message }],
    });
  });

  it('is refused with the member names that the caller used', async () => {
    const wrong = { ...check({}, 'd'), checks: { nb_version_check: { min_version: 7 } } };
    const { status, body } = await theirs('POST', '/api/posture-checks', wrong);
    expect(status).toBe(422);
    expect(body.problems).toEqual([expect.objectContaining({ path: '/checks/nb_version_check/min_version' })]);
  });

  it('leaves values of users unchanged that equal the name of a member', async () => {
    const group = await theirs('POST', '/api/groups', { name: 'nb_version_check' });
    expect(group.body.name).toBe('nb_version_check');
    const rule = { ...{ name: 'netbird-ssh', enabled: true, action: 'accept', bidirectional: true, protocol: 'all' } };
    const policy = await theirs('POST', '/api/policies', {
      ...{ name: 'client_version_check', enabled: true },
      rules: [{ ...rule, sources: [group.body.id], destinations: [group.body.id] }],
    });
    expect(policy.body).toMatchObject({ name: 'client_version_check', rules: [{ name: 'netbird-ssh' }] });
    const [peer = ''] = await api().peers('web');
    const service = await theirs('POST', '/api/reverse-proxies/services', {
      ...{ name: 'crowdsec_mode', domain: 'web.example.org', enabled: true },
      targets: [
        {
          ...{ target_id: peer, target_type: 'peer', protocol: 'http', port: 80, enabled: true },
          options: { custom_headers: { reputation_mode: 'off' } },
        },
      ],
    });
    expect(service.body.targets[0].options.custom_headers).toEqual({ reputation_mode: 'off' });
  });
});

describe('the OpenAPI document', () => {
  it('describes the profile of the request', async () => {
    const [specified, other] = [await ours('GET', '/api/openapi.json'), await theirs('GET', '/api/openapi.json')];
    expect(Object.keys(specified.body.paths)).not.toContain('/api/integrations/edr/falcon');
    expect(Object.keys(other.body.paths)).toContain('/api/integrations/edr/falcon');
    expect(Object.keys(other.body.paths)).not.toContain('/api/integrations/edr/vendor-d');
    expect(other.body.components.schemas.SetupKey.properties.id.type).toBe('string');
    expect(other.body.components.schemas.PolicyRuleRequest.properties.protocol.enum).toContain('netbird-ssh');
    expect(JSON.stringify(other.body)).not.toContain('"quantum_safe_enabled":');
  });
});
