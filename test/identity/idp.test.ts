import { describe, expect, it } from 'vitest';
import { derive, planEdits } from '../../src/engine/edits.ts';
import { stepAt, totpCode } from '../../src/identity/provider/totp.ts';
import { idpScene } from './idp-scene.ts';
import { openSurfer, pkce, type Surfer } from './surfer.ts';

const dashboard = 'https://console.example.com/callback';
const scene = idpScene({ idpRedirectUris: [dashboard] });
const callback = 'http://127.0.0.1:4711/callback';
const password = 'correct horse battery';

let people = 0;

/** A person of their own for a test, who begins to sign in on the command line. */
async function somebody(more: Parameters<ReturnType<typeof scene>['person']>[2] = {}) {
  const email = `person-${++people}@example.com`;
  const id = await scene().person(email, password, more);
  return { email, id, surfer: openSurfer(scene().url) };
}

function authorization(challenge: string, more: Readonly<Record<string, string>> = {}): string {
  const query = { client_id: 'heddle-cli', response_type: 'code', scope: 'openid email', state: 's', ...more };
  const proof = { code_challenge: challenge, code_challenge_method: 'S256' };
  return `/oidc/auth?${new URLSearchParams({ redirect_uri: callback, ...proof, ...query })}`;
}

/** Everything until the browser is sent back with a code. */
async function codeFor(surfer: Surfer, email: string, challenge: string): Promise<string> {
  await surfer.go(authorization(challenge));
  await surfer.send({ step: 'password', email, password });
  const { url } = await surfer.send({ step: 'consent', answer: 'allow' });
  expect(url.origin + url.pathname).toBe(callback);
  return url.searchParams.get('code') ?? '';
}

// Tests look into answers member by member; a wrong member is `undefined` and fails the test.
// biome-ignore lint/suspicious/noExplicitAny: see above.
async function ask(path: string, fields: Readonly<Record<string, string>>): Promise<any> {
  const body = new URLSearchParams({ client_id: 'heddle-cli', ...fields });
  const answer = await fetch(`${scene().url}/oidc${path}`, { method: 'POST', body });
  return { status: answer.status, ...((await answer.json()) as object) };
}

function redeem(code: string, verifier: string, more: Readonly<Record<string, string>> = {}) {
  return ask('/token', {
    ...{ grant_type: 'authorization_code', code, redirect_uri: callback, code_verifier: verifier, ...more },
  });
}

function refresh(token: string) {
  return ask('/token', { grant_type: 'refresh_token', refresh_token: token });
}

function bodyOf(jwt: string) {
  return JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());
}

async function signedIn() {
  const person = await somebody();
  const { verifier, challenge } = pkce();
  const code = await codeFor(person.surfer, person.email, challenge);
  return { ...person, code, verifier, tokens: await redeem(code, verifier) };
}

describe('a sign-in on the command line', () => {
  it('ends with a token for the API, in the name of the person, and makes them active', async () => {
    const { id, email, tokens } = await signedIn();
    const { url } = scene();
    expect(bodyOf(tokens.access_token)).toMatchObject({ sub: id, email, iss: `${url}/oidc`, aud: `${url}/api` });
    expect(bodyOf(tokens.id_token)).toMatchObject({ sub: id, email, aud: 'heddle-cli' });
    const me = await fetch(`${url}/oidc/me`, { headers: { authorization: `Bearer ${tokens.access_token}` } });
    expect(await me.json()).toMatchObject({ sub: id, email });
    const users = (await (await scene().call('GET', '/api/users')).json()) as { id: string; status: string }[];
    expect(users.find((user) => user.id === id)?.status).toBe('active');
  });

  it('goes back to any port of a loopback address, and to no other place', async () => {
    const { surfer } = await somebody();
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

  it('wants PKCE with S256, and the secret that belongs to the code', async () => {
    const { surfer } = await somebody();
    const { challenge } = pkce();
    const query = { client_id: 'heddle-cli', response_type: 'code', scope: 'openid', redirect_uri: callback };
    const without = await surfer.go(`/oidc/auth?${new URLSearchParams(query)}`);
    expect(without.url.searchParams.get('error')).toBe('invalid_request');
    const plain = await surfer.go(authorization(challenge, { code_challenge_method: 'plain' }));
    expect(plain.url.searchParams.get('error')).toBe('invalid_request');
    const person = await somebody();
    const code = await codeFor(person.surfer, person.email, challenge);
    expect(await redeem(code, pkce().verifier)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  it('gives one token for a code: the second use takes back what the first one got', async () => {
    const { code, verifier, tokens } = await signedIn();
    expect(await redeem(code, verifier)).toMatchObject({ status: 400, error: 'invalid_grant' });
    expect(await refresh(tokens.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  it('gives one token for a code that is used twice at once', async () => {
    const person = await somebody();
    const { verifier, challenge } = pkce();
    const code = await codeFor(person.surfer, person.email, challenge);
    const both = await Promise.all([redeem(code, verifier), redeem(code, verifier)]);
    expect(both.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
  });

  it('renews tokens, each refresh token once; a copy that is used later ends all of them', async () => {
    const { tokens } = await signedIn();
    const renewed = await refresh(tokens.refresh_token);
    expect(renewed).toMatchObject({ status: 200, token_type: 'Bearer' });
    expect(bodyOf(renewed.access_token).auth_time).toBe(bodyOf(tokens.access_token).auth_time);
    expect(await refresh(tokens.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
    expect(await refresh(renewed.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  it('is taken back by the program that signs out', async () => {
    const { tokens } = await signedIn();
    const answer = await fetch(`${scene().url}/oidc/token/revocation`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: 'heddle-cli', token: tokens.refresh_token }),
    });
    expect(answer.status).toBe(200);
    expect(await refresh(tokens.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  it('keeps nothing in the database with which somebody could sign in', async () => {
    const { tokens, surfer, code } = await signedIn();
    const rows = JSON.stringify(await scene().sql('select * from idp_records'));
    for (const secret of [tokens.refresh_token, surfer.cookies.get('heddle_session') ?? '?', code])
      expect(rows).not.toContain(secret);
    const keys = await scene().sql<{ readonly sealed: string }>('select sealed from idp_keys');
    expect(keys.every(({ sealed }) => sealed.startsWith('sealed:'))).toBe(true);
  });
});

describe('the pages of a sign-in', () => {
  it('refuse a form from elsewhere, one of another sign-in, and one without its cookie', async () => {
    const { surfer, email } = await somebody();
    const first = await surfer.go(authorization(pkce().challenge));
    const fields = { step: 'password', email, password };
    const forged = await surfer.forge(first.url.pathname, { ...fields, csrf: 'made-up' });
    expect([forged.status, forged.title]).toEqual([403, 'Problem: The form could not be accepted – Heddle']);
    const other = openSurfer(scene().url);
    const theirs = await other.go(authorization(pkce().challenge));
    const csrf = /name="csrf" value="([^"]+)"/.exec(theirs.text)?.[1] ?? '';
    expect((await surfer.forge(first.url.pathname, { ...fields, csrf })).status).toBe(403);
    // The attacker's sign-in in the browser of the victim, who would then be signed in as the attacker.
    expect((await surfer.forge(theirs.url.pathname, { ...fields, csrf })).status).toBe(400);
    expect((await openSurfer(scene().url).forge(theirs.url.pathname, { ...fields, csrf })).status).toBe(400);
    const own = /name="csrf" value="([^"]+)"/.exec(first.text)?.[1] ?? '';
    const site = { 'sec-fetch-site': 'cross-site' };
    expect((await surfer.forge(first.url.pathname, { ...fields, csrf: own }, site)).status).toBe(403);
  });

  it('give the browser a new session when somebody signs in, so that one planted before is worth nothing', async () => {
    const attacker = openSurfer(scene().url);
    await attacker.go('/oidc/device');
    const planted = [...attacker.cookies].filter(([name]) => name.startsWith('heddle_session'));
    expect(planted.length).toBe(2);
    const { surfer, email } = await somebody();
    for (const [name, value] of planted) surfer.cookies.set(name, value);
    await surfer.go('/signin/account');
    expect((await surfer.send({ step: 'password', email, password })).title).toBe('Your account – Heddle');
    expect(surfer.cookies.get('heddle_session')).not.toBe(Object.fromEntries(planted)['heddle_session']);
    expect((await attacker.go('/signin/account')).title).toBe('Sign in – Heddle');
  });

  it('let nothing in from elsewhere, and stay out of caches and frames', async () => {
    const { surfer } = await somebody();
    const { headers } = await surfer.go(authorization(pkce().challenge));
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self' http:\/\/127\.0\.0\.1:4711; frame-ancestors 'none'; base-uri 'none'$/,
    );
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-frame-options')).toBe('DENY');
    const set = (await fetch(`${scene().url}/oidc/device`)).headers.getSetCookie().join('\n');
    expect(set).toMatch(/^heddle_session=[^;]+; path=\/; samesite=lax; httponly; expires=[^;]+$/m);
  });

  it('say the same of a wrong password and of an unknown address, and slow guessing down', async () => {
    const { surfer, email } = await somebody();
    await surfer.go(authorization(pkce().challenge));
    const wrong = await surfer.send({ step: 'password', email, password: 'wrong' });
    const unknown = await surfer.send({ step: 'password', email: 'nobody@example.com', password: 'wrong' });
    expect(wrong.status).toBe(422);
    expect(unknown.text.replaceAll('nobody@example.com', email)).toBe(wrong.text);
    let last = wrong;
    for (let tries = 0; tries < 12; tries++) last = await surfer.send({ step: 'password', email, password: 'wrong' });
    expect([last.status, last.headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    expect(last.text).toMatch(/Too many tries\. Wait \d+ seconds? and try again\./);
    // The right one is not looked at either.
    expect((await surfer.send({ step: 'password', email, password })).status).toBe(429);
  });

  it('say at the field what is missing', async () => {
    const { surfer } = await somebody();
    await surfer.go(authorization(pkce().challenge));
    const shown = await surfer.send({ step: 'password', email: '', password: '' });
    expect(shown.status).toBe(422);
    expect(shown.text).toMatch(/<input id="email"[^>]* aria-describedby="email-fault" aria-invalid="true" autofocus/);
  });

  it('tell blocked people that they are, and only them', async () => {
    const { surfer, email, id } = await somebody({ role: 'user' });
    const blocked = { role: 'user', auto_groups: [], is_blocked: true };
    expect((await scene().call('PUT', `/api/users/${id}`, blocked)).status).toBe(200);
    await surfer.go(authorization(pkce().challenge));
    expect((await surfer.send({ step: 'password', email, password: 'wrong' })).title).toBe('Problem: Sign in – Heddle');
    expect((await surfer.send({ step: 'password', email, password })).title).toBe('Problem: You are blocked – Heddle');
  });

  it('tell people who wait for an approval that they do', async () => {
    const { surfer, email, id } = await somebody({ role: 'user' });
    const { engine, account } = scene().server;
    const { revision } = await engine.snapshots.fresh(account);
    await engine.committer.mutate({
      ...{ account, revision, actor: { type: 'system', id: 'sys', name: 'system' } },
      propose(now) {
        const user = now.get(id);
        return planEdits(engine, now, user === undefined ? [] : [derive(engine, user, { pending_approval: true })]);
      },
    });
    await surfer.go(authorization(pkce().challenge));
    const shown = await surfer.send({ step: 'password', email, password });
    expect([shown.status, shown.title]).toEqual([403, expect.stringMatching('Your access waits for approval')]);
  });

  it('end what a person had when they are blocked: session and refresh token', async () => {
    const { surfer, id, tokens } = await signedIn();
    const blocked = { role: 'admin', auto_groups: [], is_blocked: true };
    expect((await scene().call('PUT', `/api/users/${id}`, blocked)).status).toBe(200);
    expect(await api(tokens.access_token)).toBe(403);
    expect(await refresh(tokens.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
    expect((await surfer.go('/signin/account')).title).toBe('Sign in – Heddle');
  });

  it('want a password of the person’s own in place of one that works once', async () => {
    const { surfer, email } = await somebody({ oneTime: true });
    await surfer.go('/signin/account');
    expect((await surfer.send({ step: 'password', email, password })).title).toBe('Choose a password – Heddle');
    const short = await surfer.send({ step: 'new-password', password: 'short', repeated: 'short' });
    expect(short.text).toContain('A password must have at least 8 characters.');
    const same = await surfer.send({ step: 'new-password', password, repeated: password });
    expect(same.text).toContain('Choose another one');
    const differing = await surfer.send({ step: 'new-password', password: 'my very own', repeated: 'my very old' });
    expect(differing.text).toContain('The two are not the same.');
    const saved = await surfer.send({ step: 'new-password', password: 'my very own', repeated: 'my very own' });
    expect(saved.title).toBe('Your account – Heddle');
  });

  it('take one new password for one that works once: who knew that one too comes too late', async () => {
    const { surfer, email } = await somebody({ oneTime: true });
    const other = openSurfer(scene().url);
    for (const one of [surfer, other]) {
      await one.go('/signin/account');
      expect((await one.send({ step: 'password', email, password })).title).toBe('Choose a password – Heddle');
    }
    const own = { step: 'new-password', password: 'my very own', repeated: 'my very own' };
    expect((await surfer.send(own)).title).toBe('Your account – Heddle');
    const late = await other.send({ step: 'new-password', password: 'not my own', repeated: 'not my own' });
    expect(late.status).toBe(400);
    expect((await other.go('/signin/account')).title).toBe('Sign in – Heddle');
    const again = openSurfer(scene().url);
    await again.go('/signin/account');
    expect((await again.send({ step: 'password', email, password: 'not my own' })).status).toBe(422);
    expect((await again.send({ step: 'password', email, password: 'my very own' })).title).toBe(
      'Your account – Heddle',
    );
  });

  it('let people refuse', async () => {
    const { surfer, email } = await somebody();
    await surfer.go(authorization(pkce().challenge));
    await surfer.send({ step: 'password', email, password });
    const { url } = await surfer.send({ step: 'consent', answer: 'deny' });
    expect(Object.fromEntries(url.searchParams)).toMatchObject({ error: 'access_denied', state: 's' });
  });
});

describe('a dashboard', () => {
  it('of the operator’s needs nobody’s consent, and gets people back at its own pages only', async () => {
    const { surfer, email } = await somebody();
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
  it('is let in by a code that a person enters', async () => {
    const { surfer, email } = await somebody();
    const device = await ask('/device/auth', { scope: 'openid' });
    const poll = () =>
      ask('/token', { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: device.device_code });
    expect(await poll()).toMatchObject({ status: 400, error: 'authorization_pending' });
    await surfer.go('/oidc/device');
    const wrong = await surfer.send({ user_code: 'BBBB-BBBB' });
    expect(wrong.text).toContain('There is no such code.');
    const confirm = await surfer.send({ user_code: device.user_code.toLowerCase() });
    expect(confirm.text).toContain(device.user_code);
    await surfer.send({});
    await surfer.send({ step: 'password', email, password });
    expect((await surfer.send({ step: 'consent', answer: 'allow' })).title).toBe('Done – Heddle');
    expect(await poll()).toMatchObject({ status: 200, token_type: 'Bearer' });
    expect(await poll()).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  it('only has its code filled in by a link: a person sends it', async () => {
    const { surfer } = await somebody();
    const device = await ask('/device/auth', { scope: 'openid' });
    const link = new URL(device.verification_uri_complete);
    for (const path of [link.pathname, `${link.pathname}/`, link.pathname.replace('device', 'DEVICE')]) {
      const shown = await surfer.go(`${path}${link.search}`);
      expect(shown.text).toContain(`value="${device.user_code}"`);
      expect(shown.text).not.toContain('<script');
    }
  });

  it('is told when the person refuses', async () => {
    const { surfer } = await somebody();
    const device = await ask('/device/auth', { scope: 'openid' });
    await surfer.go('/oidc/device');
    await surfer.send({ user_code: device.user_code });
    expect((await surfer.send({ abort: 'yes' })).title).toBe('Nothing was allowed – Heddle');
    const answer = await ask('/token', {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: device.device_code,
    });
    expect(answer).toMatchObject({ status: 400, error: 'access_denied' });
  });
});

describe('a second factor', () => {
  it('is set up on a person’s own page, asked for from then on, and takes each code once', async () => {
    const { surfer, email } = await somebody();
    await surfer.go('/signin/account');
    await surfer.send({ step: 'password', email, password });
    const setUp = await surfer.send({ step: 'totp-begin' });
    expect(setUp.text).toContain('<svg');
    const secret = /id="totp-secret">([A-Z2-7]{32})</.exec(setUp.text)?.[1] ?? '';
    expect((await surfer.send({ step: 'totp-confirm', code: '000000' })).status).toBe(422);
    const code = () => totpCode(secret, stepAt(Date.now()));
    const used = code();
    expect((await surfer.send({ step: 'totp-confirm', code: used })).text).toContain('The second factor is on.');

    const other = openSurfer(scene().url);
    await other.go('/signin/account');
    expect((await other.send({ step: 'password', email, password })).title).toBe('Enter your code – Heddle');
    expect((await other.send({ step: 'code', code: used })).text).toContain('The code is wrong.');
    // The code of the next step counts too, so nobody has to wait for it here.
    const next = totpCode(secret, stepAt(Date.now()) + 1);
    expect((await other.send({ step: 'code', code: next })).title).toBe('Your account – Heddle');
    const rows = JSON.stringify(await scene().sql('select totp_secret from credentials where email = $1', [email]));
    expect(rows).not.toContain(secret);
  });

  it('is replaced by recovery codes, each once, and its comings and goings are told', async () => {
    const { surfer, email, id } = await somebody();
    await surfer.go('/signin/account');
    await surfer.send({ step: 'password', email, password });
    const setUp = await surfer.send({ step: 'totp-begin' });
    const secret = /id="totp-secret">([A-Z2-7]{32})</.exec(setUp.text)?.[1] ?? '';
    const codesIn = (text: string) =>
      [...text.matchAll(/<code>([a-z2-7]{4}(?:-[a-z2-7]{4}){3})<\/code>/g)].map(([, code = '']) => code);
    const shown = await surfer.send({ step: 'totp-confirm', code: totpCode(secret, stepAt(Date.now())) });
    const codes = codesIn(shown.text);
    const [first = '', second = '', third = ''] = codes;
    expect(new Set(codes).size).toBe(10);
    const page = await surfer.go('/signin/account');
    expect([codesIn(page.text), page.text.includes('10 recovery codes are left')]).toEqual([[], true]);
    const stored = JSON.stringify(await scene().sql('select * from credentials where email = $1', [email]));
    expect(codes.filter((code) => stored.includes(code) || stored.includes(code.replaceAll('-', '')))).toEqual([]);

    const enter = async (code: string) => {
      const other = openSurfer(scene().url);
      await other.go('/signin/account');
      await other.send({ step: 'password', email, password });
      return (await other.send({ step: 'code', code })).title;
    };
    expect(await enter(` ${first.toUpperCase().replaceAll('-', ' ')} `)).toBe('Your account – Heddle');
    expect(await enter(first)).toMatch(/^Problem/);

    expect((await surfer.send({ step: 'totp-codes', code: '' })).status).toBe(422);
    const renewed = codesIn((await surfer.send({ step: 'totp-codes', code: second })).text);
    expect(renewed).toHaveLength(10);
    expect(await enter(third)).toMatch(/^Problem/);
    expect((await surfer.send({ step: 'totp-remove', code: renewed[0] ?? '' })).text).toContain(
      'The second factor is off.',
    );
    const told = await scene().sql(
      "select activity_code as code from audit_events where target_id = $1 and activity_code like 'user.mfa.%' order by id",
      [id],
    );
    expect(told.map((row) => (row as { code: string }).code.slice('user.mfa.'.length))).toEqual([
      ...['enable', 'recovery.use', 'recovery.use', 'recovery.renew', 'recovery.use', 'disable'],
    ]);
  });
});

describe('a person’s own page', () => {
  it('makes tokens, shows them once, and deletes them', async () => {
    const { surfer, email, id } = await somebody();
    await surfer.go('/signin/account');
    await surfer.send({ step: 'password', email, password });
    const odd = await surfer.go('/signin/account?done=constructor');
    expect([odd.status, odd.text.includes('native code')]).toEqual([200, false]);
    const wrong = await surfer.send({ step: 'make-token', name: '', expires_in: '400' });
    expect([wrong.status, wrong.text.match(/aria-invalid="/g)?.length]).toEqual([422, 2]);
    const made = await surfer.send({ step: 'make-token', name: '<b>CI</b>', expires_in: '7' });
    const value = /nbp_\w{36}/.exec(made.text)?.[0] ?? '';
    expect(made.text).toContain('&lt;b&gt;CI&lt;/b&gt;');
    expect((await scene().call('GET', '/api/users/current', undefined, `Token ${value}`)).status).toBe(200);
    expect((await surfer.go('/signin/account')).text).not.toContain(value);
    await surfer.send({ step: 'delete-token' });
    expect((await scene().call('GET', '/api/users/current', undefined, `Token ${value}`)).status).toBe(401);
    const told = await scene().sql('select activity_code from audit_events where initiator_id = $1', [id]);
    expect(told.map((row) => (row as { activity_code: string }).activity_code)).toEqual(
      expect.arrayContaining(['personal.access.token.create', 'personal.access.token.delete']),
    );
  });

  it('changes the password, which ends every other session and refresh token', async () => {
    const { surfer, email, tokens } = await signedIn();
    const other = openSurfer(scene().url);
    await other.go('/signin/account');
    await other.send({ step: 'password', email, password });
    await surfer.go('/signin/account');
    const fresh = { new_password: 'a new password', repeated: 'a new password' };
    expect((await surfer.send({ step: 'password', old_password: 'wrong', ...fresh })).status).toBe(422);
    const changed = await surfer.send({ step: 'password', old_password: password, ...fresh });
    expect(changed.text).toContain('Your password is changed.');
    expect((await other.go('/signin/account')).title).toBe('Sign in – Heddle');
    expect(await refresh(tokens.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
    await other.send({ step: 'password', email, password });
    expect((await other.send({ step: 'password', email, password: 'a new password' })).title).toBe(
      'Your account – Heddle',
    );
  });

  it('refuses a form that another page sends', async () => {
    const { surfer, email } = await somebody();
    await surfer.go('/signin/account');
    await surfer.send({ step: 'password', email, password });
    const forged = await surfer.forge('/signin/account', { step: 'make-token', name: 'x', expires_in: '1' });
    expect(forged.status).toBe(403);
  });
});

describe('the keys that sign', () => {
  it('change without anybody noticing: tokens of the one before are good until they end', async () => {
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

async function api(token: string): Promise<number> {
  return (await scene().call('GET', '/api/users/current', undefined, `Bearer ${token}`)).status;
}

async function rotate(): Promise<unknown> {
  const answer = await scene().call('POST', '/api/config/idp/rotate');
  // The server reads its keys again when they are a moment old.
  await expect
    .poll(async () => (await keys())[0], { timeout: 10_000 })
    .toBe(((await answer.clone().json()) as { key: string }).key);
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
