import { afterEach, describe, expect, it, vi } from 'vitest';
import { idpScene } from './idp-scene.ts';
import { password, signingIn } from './signing-in.ts';
import { openSurfer, pkce } from './surfer.ts';

const dashboard = 'https://console.example.com/callback';
const scene = idpScene({ idpRedirectUris: [dashboard] });
const { visitor, authorization, ask, redeem, refresh, signedIn, api } = signingIn(scene);

afterEach(() => {
  vi.useRealTimers();
});

/** Does something with the program's clock set back by some minutes. The clock of the database is not changed. */
async function ago<Value>(minutes: number, work: () => Promise<Value>): Promise<Value> {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - minutes * 60_000 });
  const value = await work();
  vi.useRealTimers();
  return value;
}

const revoke = (fields: Readonly<Record<string, string>>) =>
  fetch(`${scene().url}/oidc/token/revocation`, { method: 'POST', body: new URLSearchParams(fields) });

describe('a browser that sends a form to an OIDC endpoint by POST', () => {
  it('can sign in and end its session', async () => {
    const { surfer, email, tokens } = await signedIn();
    const { challenge } = pkce();
    const address = new URL(authorization(challenge, { prompt: 'login' }), scene().url);
    const shown = await surfer.forge(address.pathname, Object.fromEntries(address.searchParams));
    expect([shown.status, shown.title]).toEqual([200, 'Sign in – Heddle']);
    await surfer.send({ step: 'password', email, password });
    const asked = await surfer.forge('/oidc/session/end', { id_token_hint: tokens.id_token });
    expect([asked.status, asked.title]).toEqual([200, 'Sign out? – Heddle']);
    expect((await surfer.send({ logout: 'yes' })).title).toBe('You are signed out – Heddle');
    expect((await surfer.go('/signin/account')).title).toBe('Sign in – Heddle');
  });

  it('gets 413 when the form is too long for a URL', async () => {
    const shown = await openSurfer(scene().url).forge('/oidc/auth', { state: 'x'.repeat(20_000) });
    expect([shown.status, JSON.parse(shown.text).error]).toEqual([413, 'invalid_request']);
  });
});

it('an unknown path of the identity provider is answered as the API does', async () => {
  for (const [method, path] of [
    ['GET', '/oidc/unknown'],
    ['POST', '/oidc/unknown/more'],
    ['GET', '/oidc/token'],
  ] as const) {
    const answer = await fetch(`${scene().url}${path}`, { method });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, expect.stringContaining('json')]);
    expect(await answer.json()).toEqual({ code: 404, message: `${method} ${path} not found` });
  }
});

describe('a device code request without a session', () => {
  it.each([
    ['POST', '/oidc/device', { user_code: 'BBBB-BBBB' }],
    ['POST', '/oidc/device', {}],
    ['GET', '/oidc/device/auth', undefined],
    ['GET', '/oidc/device/made-up', undefined],
  ] as const)('%s %s shows the page that asks for the code', async (_method, path, fields) => {
    const surfer = openSurfer(scene().url);
    surfer.cookies.set('heddle_session', 'made-up');
    const shown = fields === undefined ? await surfer.go(path) : await surfer.forge(path, fields);
    expect([shown.status, shown.title]).toEqual([200, 'Enter the code of your device – Heddle']);
    const again = await surfer.send({ user_code: 'BBBB-BBBB' });
    expect(again.text).toContain('This code does not exist.');
  });
});

describe('a refresh token request', () => {
  it('may repeat the scope offline_access, but no other scope that was not granted', async () => {
    const { surfer, email } = await visitor();
    const { verifier, challenge } = pkce();
    await surfer.go(authorization(challenge, { scope: 'openid email offline_access' }));
    await surfer.send({ step: 'password', email, password });
    const { url } = await surfer.send({ step: 'consent', answer: 'allow' });
    const tokens = await redeem(url.searchParams.get('code') ?? '', verifier);
    const again = (refresh_token: string, scope: string) =>
      ask('/token', { grant_type: 'refresh_token', refresh_token, scope });
    const renewed = await again(tokens.refresh_token, 'openid email offline_access');
    expect(renewed).toMatchObject({ status: 200, token_type: 'Bearer' });
    expect(await api(renewed.access_token)).toBe(200);
    expect(await again(renewed.refresh_token, 'openid profile')).toMatchObject({ status: 400, error: 'invalid_scope' });
  });
});

describe('an access token', () => {
  it('can be revoked only by the client that got it, together with its refresh token', async () => {
    const { tokens } = await signedIn();
    const form = { client_id: 'heddle-cli', token: tokens.access_token };
    const other = await revoke({ ...form, client_id: 'heddle-dashboard' });
    expect([other.status, ((await other.json()) as { error: string }).error]).toEqual([400, 'unauthorized_client']);
    expect(await api(tokens.access_token)).toBe(200);
    const answer = await revoke(form);
    expect([answer.status, await answer.text(), answer.headers.get('cache-control')]).toEqual([200, '', 'no-store']);
    expect(await api(tokens.access_token)).toBe(401);
    const me = { headers: { authorization: `Bearer ${tokens.access_token}` } };
    expect((await fetch(`${scene().url}/oidc/me`, me)).status).toBe(401);
    expect(await refresh(tokens.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
    expect((await revoke(form)).status).toBe(200);
  });

  it.each([
    [{}, 400, 'invalid_request'],
    [{ client_id: 'heddle-cli' }, 400, 'invalid_request'],
    [{ token: 'x' }, 400, 'invalid_request'],
    [{ token: 'x', client_id: 'nobody' }, 401, 'invalid_client'],
    [{ token: 'x', client_id: 'heddle-cli' }, 200, undefined],
    [{ token: 'a.b.c', client_id: 'heddle-cli' }, 200, undefined],
  ] as const)('revocation request %j is answered with %i', async (fields, status, error) => {
    const answer = await revoke(fields);
    const text = await answer.text();
    expect([answer.status, text === '' ? undefined : JSON.parse(text).error]).toEqual([status, error]);
  });

  it.each(['/oidc/token/revocation', '/signin/account', '/signin/some-sign-in'])(
    'a form of more than 32 KiB to %s is refused with that limit',
    async (path) => {
      const body = new URLSearchParams({ token: 'x'.repeat(32 * 1024) });
      const answer = await fetch(`${scene().url}${path}`, { method: 'POST', body });
      expect(answer.status).toBe(413);
      expect(await answer.json()).toMatchObject({ message: 'the body is too large; send at most 32 KiB to this path' });
    },
  );

  it('becomes invalid when its refresh token, the password or the dashboard session ends', async () => {
    const first = await signedIn();
    await revoke({ client_id: 'heddle-cli', token: first.tokens.refresh_token });
    expect(await api(first.tokens.access_token)).toBe(401);

    const second = await signedIn();
    await second.surfer.go('/signin/account');
    const fresh = { new_password: 'a new password', repeated: 'a new password' };
    await second.surfer.send({ step: 'password', old_password: password, ...fresh });
    expect(await api(second.tokens.access_token)).toBe(401);

    const third = await signedIn();
    const body = { old_password: password, new_password: 'a new password' };
    const bearer = `Bearer ${third.tokens.access_token}`;
    expect((await scene().call('PUT', `/api/users/${third.id}/password`, body, bearer)).status).toBe(200);
    expect(await api(third.tokens.access_token)).toBe(401);

    const { surfer, email } = await visitor();
    const { verifier, challenge } = pkce();
    const asked = { client_id: 'heddle-dashboard', redirect_uri: dashboard };
    await surfer.go(authorization(challenge, asked));
    const { url } = await surfer.send({ step: 'password', email, password });
    const tokens = await redeem(url.searchParams.get('code') ?? '', verifier, asked);
    expect(await api(tokens.access_token)).toBe(200);
    await surfer.go('/oidc/session/end');
    await surfer.send({ logout: 'yes' });
    expect(await api(tokens.access_token)).toBe(401);
  });
});

describe('a device sign-in', () => {
  it('gets slow_down when it polls too often, and its tokens at once when it is approved', async () => {
    const { surfer, email } = await visitor();
    const device = await ask('/device/auth', { scope: 'openid' });
    const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
    const poll = () => ask('/token', { grant_type, device_code: device.device_code });
    expect(await poll()).toMatchObject({ status: 400, error: 'authorization_pending' });
    expect(await poll()).toMatchObject({ status: 400, error: 'slow_down' });
    await scene().sql("update idp_records set expires_at = now() where model = 'DevicePoll'");
    expect(await poll()).toMatchObject({ status: 400, error: 'authorization_pending' });
    await surfer.go('/oidc/device');
    await surfer.send({ user_code: device.user_code });
    await surfer.send({});
    await surfer.send({ step: 'password', email, password });
    await surfer.send({ step: 'consent', answer: 'allow' });
    expect(await poll()).toMatchObject({ status: 200, token_type: 'Bearer' });
  });
});

describe('step-up authentication', () => {
  it('requires a new sign-in after 15 minutes to make or delete a token or set up a second factor on the account page', async () => {
    const { surfer, email, id } = await visitor();
    await surfer.go('/signin/account');
    await surfer.send({ step: 'password', email, password });
    await surfer.send({ step: 'make-token', name: 'first', expires_in: '7' });
    const count = async () => (await scene().sql('select 1 from tokens where user_id = $1', [id])).length;
    expect(await count()).toBe(1);
    for (const fields of [
      { step: 'make-token', name: 'second', expires_in: '7' },
      { step: 'delete-token' },
      { step: 'totp-begin' },
    ] as const) {
      const browser = openSurfer(scene().url);
      await ago(16, async () => {
        await browser.go('/signin/account');
        await browser.send({ step: 'password', email, password });
      });
      await browser.go('/signin/account');
      const shown = await browser.send(fields);
      expect(shown.title).toBe('Sign in – Heddle');
      const back = await browser.send({ step: 'password', email, password });
      expect(back.text).toContain('You are signed in again.');
      expect(await count()).toBe(1);
    }
    await surfer.send({ step: 'delete-token' });
    expect(await count()).toBe(0);
  });

  it('requires a new sign-in to make or delete a token by the API; existing tokens keep working', async () => {
    const { id, tokens } = await ago(16, signedIn);
    const path = `/api/users/${id}/tokens`;
    const body = { name: 'CI', expires_in: 7 };
    const renewed = await refresh(tokens.refresh_token);
    for (const [method, where] of [
      ['POST', path],
      ['DELETE', `${path}/x`],
    ] as const) {
      const sent = method === 'POST' ? body : undefined;
      const refused = await scene().call(method, where, sent, `Bearer ${renewed.access_token}`);
      expect([refused.status, ((await refused.json()) as { message: string }).message]).toEqual([
        403,
        expect.stringContaining('sign in again'),
      ]);
    }
    expect(await api(renewed.access_token)).toBe(200);
  });

  it('is not required by the API after a recent sign-in or with a personal access token', async () => {
    const { id, tokens } = await signedIn();
    const path = `/api/users/${id}/tokens`;
    const made = await scene().call('POST', path, { name: 'CI', expires_in: 7 }, `Bearer ${tokens.access_token}`);
    const { plain_token } = (await made.json()) as { readonly plain_token: string };
    expect((await scene().call('POST', path, { name: 'b', expires_in: 7 }, `Token ${plain_token}`)).status).toBe(200);
  });
});
