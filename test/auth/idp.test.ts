import { afterAll, describe, expect, it, vi } from 'vitest';
import { idpScene } from './idp-scene.ts';
import { bodyOf, callback, password, signingIn } from './signing-in.ts';
import { pkce } from './surfer.ts';

const dashboard = 'https://console.example.com/callback';
const scene = idpScene({ idpRedirectUris: [dashboard] });
const { visitor, authorization, codeFor, ask, redeem, refresh, signedIn, api } = signingIn(scene);

describe('command-line sign-in', () => {
  it('yields an API token for the person and makes them active', async () => {
    const { id, email, tokens } = await signedIn();
    const { url } = scene();
    expect(bodyOf(tokens.access_token)).toMatchObject({ sub: id, email, iss: `${url}/oidc`, aud: `${url}/api` });
    expect(bodyOf(tokens.id_token)).toMatchObject({ sub: id, email, aud: 'heddle-cli' });
    const me = await fetch(`${url}/oidc/me`, { headers: { authorization: `Bearer ${tokens.access_token}` } });
    expect(await me.json()).toMatchObject({ sub: id, email });
    const users = (await (await scene().call('GET', '/api/users')).json()) as { id: string; status: string }[];
    expect(users.find((user) => user.id === id)?.status).toBe('active');
  });

  it('marks the address as verified only after the person followed a mailed link', async () => {
    const { id, tokens } = await signedIn();
    const claimed = async (given: Readonly<Record<'access_token' | 'id_token', string>>) => {
      const headers = { authorization: `Bearer ${given.access_token}` };
      const me = await (await fetch(`${scene().url}/oidc/me`, { headers })).json();
      return [bodyOf(given.access_token), bodyOf(given.id_token), me].map(({ email_verified: verified }) => verified);
    };
    expect(await claimed(tokens)).toEqual([false, false, false]);
    await scene().sql('update credentials set proved_user = user_id where user_id = $1', [id]);
    expect(await claimed(await refresh(tokens.refresh_token))).toEqual([true, true, true]);
  });

  it('redirects to any port of a loopback address, and nowhere else', async () => {
    const { surfer } = await visitor();
    const { challenge } = pkce();
    expect((await surfer.go(authorization(challenge, { redirect_uri: 'http://[::1]:999/callback' }))).title).toBe(
      'Sign in – Heddle',
    );
    for (const redirect_uri of [
      'https://evil.example/callback',
      'http://127.0.0.1.evil.example/callback',
      'http://127.0.0.1:4711/callback/../other',
      'http://127.0.0.1@evil.example/callback',
      'http://localhost:1/other',
      dashboard,
    ]) {
      const shown = await surfer.go(authorization(challenge, { redirect_uri }));
      expect([shown.status, shown.url.origin, redirect_uri]).toEqual([400, scene().url, redirect_uri]);
      expect(shown.text).toContain('not registered for it');
    }
  });

  it('requires PKCE with S256 and the verifier that matches the code', async () => {
    const { surfer } = await visitor();
    const { challenge } = pkce();
    const query = { client_id: 'heddle-cli', response_type: 'code', scope: 'openid', redirect_uri: callback };
    const without = await surfer.go(`/oidc/auth?${new URLSearchParams(query)}`);
    expect(without.url.searchParams.get('error')).toBe('invalid_request');
    const plain = await surfer.go(authorization(challenge, { code_challenge_method: 'plain' }));
    expect(plain.url.searchParams.get('error')).toBe('invalid_request');
    const person = await visitor();
    const code = await codeFor(person.surfer, person.email, challenge);
    expect(await redeem(code, pkce().verifier)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  it('issues one token per code: a second use revokes what the first one got', async () => {
    const { code, verifier, tokens } = await signedIn();
    expect(await redeem(code, verifier)).toMatchObject({ status: 400, error: 'invalid_grant' });
    expect(await refresh(tokens.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  it('issues at most one token for a code that is used twice at once', async () => {
    const person = await visitor();
    const { verifier, challenge } = pkce();
    const code = await codeFor(person.surfer, person.email, challenge);
    const both = await Promise.all([redeem(code, verifier), redeem(code, verifier)]);
    expect(both.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
  });

  it('renews tokens, each refresh token once; reuse of an old one revokes all of them', async () => {
    const { tokens } = await signedIn();
    const renewed = await refresh(tokens.refresh_token);
    expect(renewed).toMatchObject({ status: 200, token_type: 'Bearer' });
    expect(bodyOf(renewed.access_token).auth_time).toBe(bodyOf(tokens.access_token).auth_time);
    expect(await refresh(tokens.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
    expect(await refresh(renewed.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  it('is revoked by the client that signs out', async () => {
    const { tokens } = await signedIn();
    const answer = await fetch(`${scene().url}/oidc/token/revocation`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: 'heddle-cli', token: tokens.refresh_token }),
    });
    expect(answer.status).toBe(200);
    expect(await refresh(tokens.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  it('stores nothing in the database that would allow a sign-in', async () => {
    const { tokens, surfer, code } = await signedIn();
    const rows = JSON.stringify(await scene().sql('select * from idp_records'));
    for (const secret of [tokens.refresh_token, surfer.cookies.get('heddle_session') ?? '?', code])
      expect(rows).not.toContain(secret);
    const keys = await scene().sql<{ readonly sealed: string }>('select sealed from idp_keys');
    expect(keys.every(({ sealed }) => sealed.startsWith('sealed:'))).toBe(true);
  });
});

describe('a dashboard', () => {
  it('configured by the operator needs no consent, and redirects only to its registered page', async () => {
    const { surfer, email } = await visitor();
    const { verifier, challenge } = pkce();
    const asked = { client_id: 'heddle-dashboard', redirect_uri: dashboard };
    await surfer.go(authorization(challenge, asked));
    const { url } = await surfer.send({ step: 'password', email, password });
    expect(url.origin + url.pathname).toBe(dashboard);
    const code = url.searchParams.get('code') ?? '';
    const tokens = await redeem(code, verifier, asked);
    expect(tokens).toMatchObject({ status: 200, token_type: 'Bearer' });
    const elsewhere = { ...asked, redirect_uri: 'https://console.example.com/callback2' };
    expect((await surfer.go(authorization(challenge, elsewhere))).status).toBe(400);
  });
});

describe('a machine without a browser', () => {
  it('is signed in by a code that a person enters', async () => {
    const { surfer, email } = await visitor();
    const device = await ask('/device/auth', { scope: 'openid' });
    const poll = () =>
      ask('/token', { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: device.device_code });
    expect(await poll()).toMatchObject({ status: 400, error: 'authorization_pending' });
    await surfer.go('/oidc/device');
    const wrong = await surfer.send({ user_code: 'BBBB-BBBB' });
    expect(wrong.text).toContain('This code does not exist.');
    const confirm = await surfer.send({ user_code: device.user_code.toLowerCase() });
    expect(confirm.text).toContain(device.user_code);
    await surfer.send({});
    await surfer.send({ step: 'password', email, password });
    expect((await surfer.send({ step: 'consent', answer: 'allow' })).title).toBe('Done – Heddle');
    expect(await poll()).toMatchObject({ status: 200, token_type: 'Bearer' });
    expect(await poll()).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  it('has its code only filled in by a link; a person must submit it', async () => {
    const { surfer } = await visitor();
    const device = await ask('/device/auth', { scope: 'openid' });
    const link = new URL(device.verification_uri_complete);
    for (const path of [link.pathname, `${link.pathname}/`, link.pathname.replace('device', 'DEVICE')]) {
      const shown = await surfer.go(`${path}${link.search}`);
      expect(shown.text).toContain(`value="${device.user_code}"`);
      expect(shown.text).not.toContain('<script');
    }
  });

  it('gets access_denied when the person refuses', async () => {
    const { surfer } = await visitor();
    const device = await ask('/device/auth', { scope: 'openid' });
    await surfer.go('/oidc/device');
    await surfer.send({ user_code: device.user_code });
    expect((await surfer.send({ abort: 'yes' })).title).toBe('The sign-in was cancelled – Heddle');
    const answer = await ask('/token', {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: device.device_code,
    });
    expect(answer).toMatchObject({ status: 400, error: 'access_denied' });
  });
});

describe('the signing keys', () => {
  it('can be rotated: tokens signed with the previous key stay valid until that key is removed', async () => {
    const { tokens } = await signedIn();
    const before = await keys();
    expect(await rotate()).toMatchObject({ key: expect.stringMatching(/^[\w-]{16}$/) });
    const after = await keys();
    expect(after.length).toBe(before.length + 1);
    expect(after.slice(1)).toEqual(before);
    const me = (token: string) => fetch(`${scene().url}/oidc/me`, { headers: { authorization: `Bearer ${token}` } });
    expect((await me(tokens.access_token)).status).toBe(200);
    expect(await api(tokens.access_token)).toBe(200);
    const renewed = await refresh(tokens.refresh_token);
    expect(kidOf(renewed.access_token)).toBe(after[0]);
    expect((await me(renewed.access_token)).status).toBe(200);

    await scene().sql("update idp_keys set retired_at = now() - interval '3 hours' where retired_at is not null");
    await rotate();
    expect(await keys()).not.toContain(before[0]);
    expect((await me(tokens.access_token)).status).toBe(401);
    expect(await api(tokens.access_token)).toBe(401);
    expect(await api(renewed.access_token)).toBe(200);
  });
});

/** By how much time spans of this process seem longer than they are, in milliseconds. */
let ahead = 0;
const elapsed = performance.now.bind(performance);
const spy = vi.spyOn(performance, 'now').mockImplementation(() => elapsed() + ahead);
afterAll(() => spy.mockRestore());

async function rotate(): Promise<unknown> {
  const answer = await scene().call('POST', '/api/config/idp/rotate', undefined, `Bearer ${scene().operator}`);
  // The server caches its keys for some seconds before it reads them again.
  ahead += 5000;
  await expect.poll(async () => (await keys())[0]).toBe(((await answer.clone().json()) as { key: string }).key);
  return answer.json();
}

async function keys(): Promise<readonly string[]> {
  const set = (await (await fetch(`${scene().url}/oidc/jwks`)).json()) as { keys: { kid: string; d?: string }[] };
  expect(set.keys.every((key) => key.d === undefined)).toBe(true);
  return set.keys.map(({ kid }) => kid);
}

function kidOf(jwt: string): string {
  return JSON.parse(Buffer.from(jwt.split('.')[0] ?? '', 'base64url').toString()).kid;
}
