import { describe, expect, it } from 'vitest';
import { idpScene } from './idp-scene.ts';
import { bodyOf, password, signingIn } from './signing-in.ts';
import { openSurfer, pkce, type Surfer } from './surfer.ts';

/** Origin of a dashboard that another server serves. This server knows it only by `HEDDLE_IDP_REDIRECT_URIS`. */
const origin = 'https://console.example.com';
const [signedInAt, renewedAt] = [`${origin}/auth`, `${origin}/silent-auth`];
const scene = idpScene({ idpRedirectUris: [signedInAt, renewedAt] });
const { visitor, authorization, ask, redeem, api } = signingIn(scene);

const client = { client_id: 'heddle-dashboard' };
const scope = 'openid profile email offline_access api';

/** Returns the address to which the dashboard sends a person to sign in. */
function asked(challenge: string, more: Readonly<Record<string, string>> = {}): string {
  return authorization(challenge, { ...client, scope, redirect_uri: signedInAt, nonce: 'n-1', ...more });
}

/**
 * Creates a person and signs them in at the dashboard. Returns the person, the address of the redirect, and the tokens.
 */
async function atDashboard() {
  const person = await visitor();
  const { verifier, challenge } = pkce();
  await person.surfer.go(asked(challenge));
  const { url } = await person.surfer.send({ step: 'password', email: person.email, password });
  const code = url.searchParams.get('code') ?? '';
  return { ...person, back: url, tokens: await redeem(code, verifier, { ...client, redirect_uri: signedInAt }) };
}

/**
 * Requests an authorization with `prompt=none`, as a hidden page does to find out whether the person is still signed
 * in. Returns the redirect.
 */
async function askSilently(surfer: Surfer) {
  const { verifier, challenge } = pkce();
  const shown = await surfer.go(asked(challenge, { prompt: 'none', redirect_uri: renewedAt }));
  return { verifier, back: shown.url.origin + shown.url.pathname, said: Object.fromEntries(shown.url.searchParams) };
}

const refresh = (token: string) => ask('/token', { ...client, grant_type: 'refresh_token', refresh_token: token });

describe('sign-in at a dashboard on another server', () => {
  it('redirects back with a code that is redeemed with PKCE alone, for tokens that the API accepts', async () => {
    const { id, email, back, tokens } = await atDashboard();
    expect([back.origin + back.pathname, back.searchParams.get('state')]).toEqual([signedInAt, 's']);
    expect(back.searchParams.get('iss')).toBe(`${scene().url}/oidc`);
    expect(tokens).toMatchObject({ status: 200, token_type: 'Bearer', expires_in: 600 });
    expect(bodyOf(tokens.id_token)).toMatchObject({ sub: id, email, aud: client.client_id, nonce: 'n-1' });
    expect(await api(tokens.access_token)).toBe(200);
  });

  it("is announced by discovery, and its endpoints allow CORS from the dashboard's origin", async () => {
    const headers = { origin };
    const found = await fetch(`${scene().url}/oidc/.well-known/openid-configuration`, { headers });
    const known = (await found.json()) as Readonly<Record<string, string>>;
    expect(known).toMatchObject({ issuer: `${scene().url}/oidc`, code_challenge_methods_supported: ['S256'] });
    for (const name of [
      'jwks_uri',
      'token_endpoint',
      'userinfo_endpoint',
      'revocation_endpoint',
      'end_session_endpoint',
    ])
      expect(known).toHaveProperty(name, expect.stringContaining(scene().url));
    const method = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' };
    for (const url of [known['token_endpoint'], known['revocation_endpoint']]) {
      const preflight = await fetch(url ?? '', { method: 'OPTIONS', headers: { ...headers, ...method } });
      expect([preflight.ok, preflight.headers.get('access-control-allow-origin')]).toEqual([
        true,
        expect.stringMatching(/^(\*|https:\/\/console\.example\.com)$/),
      ]);
    }
  });
});

describe('silent renewal', () => {
  it('with prompt=none returns a code without interaction while the person is signed in', async () => {
    const { id, surfer } = await atDashboard();
    const { back, said, verifier } = await askSilently(surfer);
    expect([back, said['state'], said['error']]).toEqual([renewedAt, 's', undefined]);
    const tokens = await redeem(said['code'] ?? '', verifier, { ...client, redirect_uri: renewedAt });
    expect(bodyOf(tokens.id_token)).toMatchObject({ sub: id });
    expect(await api(tokens.access_token)).toBe(200);
  });

  it('with prompt=none returns login_required and shows no page when there is no session', async () => {
    const { back, said } = await askSilently(openSurfer(scene().url));
    expect([back, said['error'], said['state']]).toEqual([renewedAt, 'login_required', 's']);
  });

  it('by a refresh token returns tokens for the same person; each refresh token works once', async () => {
    const { id, tokens } = await atDashboard();
    const renewed = await refresh(tokens.refresh_token);
    expect(renewed).toMatchObject({ status: 200, scope: expect.stringContaining('openid') });
    expect(bodyOf(renewed.access_token)).toMatchObject({ sub: id });
    expect(await api(renewed.access_token)).toBe(200);
    expect(await refresh(tokens.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });
});

describe('sign-out', () => {
  it('redirects back and ends the session in the browser, at silent renewal and for all tokens', async () => {
    const { surfer, tokens, email } = await atDashboard();
    const query = { id_token_hint: tokens.id_token, post_logout_redirect_uri: origin, state: 'out' };
    await surfer.go(`/oidc/session/end?${new URLSearchParams(query)}`);
    const gone = await surfer.send({ logout: 'yes' });
    expect([gone.url.origin, gone.url.searchParams.get('state')]).toEqual([origin, 'out']);
    expect((await askSilently(surfer)).said['error']).toBe('login_required');
    expect(await refresh(tokens.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
    expect(await api(tokens.access_token)).toBe(401);
    // A second person who signs in with the same browser is not mistaken for the first one.
    const other = await visitor();
    await surfer.go(asked(pkce().challenge));
    const { url } = await surfer.send({ step: 'password', email: other.email, password });
    expect(url.origin + url.pathname).toBe(signedInAt);
    expect((await surfer.go('/signin/account')).text).toContain(other.email);
    expect((await surfer.go('/signin/account')).text).not.toContain(email);
  });

  it('redirects back without a question when there is no session any more', async () => {
    const { tokens } = await atDashboard();
    const query = new URLSearchParams({ id_token_hint: tokens.id_token, post_logout_redirect_uri: `${origin}/` });
    const outsider = openSurfer(scene().url);
    await outsider.go(`/oidc/session/end?${query}`);
    // The answer is a page whose form submits itself.
    const gone = await outsider.send({});
    expect(gone.url.origin).toBe(origin);
  });

  it('refuses to redirect to a page that the operator did not configure', async () => {
    const { surfer, tokens } = await atDashboard();
    const query = { id_token_hint: tokens.id_token, post_logout_redirect_uri: 'https://evil.example/' };
    const shown = await surfer.go(`/oidc/session/end?${new URLSearchParams(query)}`);
    expect([shown.status, shown.url.origin]).toEqual([400, scene().url]);
  });
});

describe('token revocation', () => {
  const revoke = (fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${scene().url}/oidc/token/revocation`, {
      method: 'POST',
      headers: { origin, ...headers },
      body: new URLSearchParams(fields),
    });
  /** `Authorization` header that libraries send for a client without a secret. */
  const basic = { authorization: `Basic ${Buffer.from('heddle-dashboard:').toString('base64')}` };

  it.each<readonly [string, Readonly<Record<string, string>>, Readonly<Record<string, string>>]>([
    ['the id of the program', client, {}],
    ['a hint of the right type', { ...client, token_type_hint: 'refresh_token' }, {}],
    ['a hint of the other type', { ...client, token_type_hint: 'access_token' }, {}],
    ['a hint that nothing knows', { ...client, token_type_hint: 'made_up' }, {}],
    ['an empty secret', { ...client, client_secret: '' }, {}],
    ['the id in a header, with an empty password', {}, basic],
    ['the id in both', client, basic],
  ])('revokes a refresh token sent with %s, together with its access token', async (_, fields, headers) => {
    const { tokens } = await atDashboard();
    const answer = await revoke({ token: tokens.refresh_token, ...fields }, headers);
    expect([answer.status, await answer.text()]).toEqual([200, '']);
    expect(answer.headers.get('access-control-allow-origin')).toMatch(/^(\*|https:\/\/console\.example\.com)$/);
    expect(await refresh(tokens.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
    expect(await api(tokens.access_token)).toBe(401);
    // A dashboard revokes both tokens, one after the other.
    const hint = { token_type_hint: 'access_token' };
    expect((await revoke({ token: tokens.access_token, ...client, ...hint })).status).toBe(200);
  });

  it.each([
    ['names two programs', client, `Basic ${btoa('heddle-cli:')}`, 'invalid_request'],
    ['has a header that says nothing', {}, 'Basic %%%', 'invalid_request'],
    ['has a header of another kind', {}, 'Bearer x', 'invalid_request'],
  ])('refuses a request that %s', async (_, fields, authorization, error) => {
    const answer = await revoke({ token: 'x', ...fields }, { authorization });
    expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([400, error]);
  });
});
