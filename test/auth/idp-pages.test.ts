import { describe, expect, it } from 'vitest';
import { editDerivedFacts, planEdits } from '../../src/commit/edits.ts';
import { stepAt, totpCode } from '../../src/features/auth/provider/totp.ts';
import { present } from '../setup/present.ts';
import { idpScene } from './idp-scene.ts';
import { password, signingIn } from './signing-in.ts';
import { openSurfer, pkce } from './surfer.ts';

const scene = idpScene();
const { visitor, authorization, refresh, signedIn, api } = signingIn(scene);

describe('the sign-in pages', () => {
  it('refuse a form from another site, a form of another sign-in, and a form without its cookie', async () => {
    const { surfer, email } = await visitor();
    const first = await surfer.go(authorization(pkce().challenge));
    const fields = { step: 'password', email, password };
    const forged = await surfer.forge(first.url.pathname, { ...fields, csrf: 'made-up' });
    expect([forged.status, forged.title]).toEqual([403, 'Problem: The form could not be accepted – Heddle']);
    const other = openSurfer(scene().url);
    const theirs = await other.go(authorization(pkce().challenge));
    const csrf = /name="csrf" value="([^"]+)"/.exec(theirs.text)?.[1] ?? '';
    expect((await surfer.forge(first.url.pathname, { ...fields, csrf })).status).toBe(403);
    // The attacker's sign-in is submitted with the victim's browser. If the server accepted it, the victim would be
    // signed in as the attacker.
    expect((await surfer.forge(theirs.url.pathname, { ...fields, csrf })).status).toBe(400);
    expect((await openSurfer(scene().url).forge(theirs.url.pathname, { ...fields, csrf })).status).toBe(400);
    const own = /name="csrf" value="([^"]+)"/.exec(first.text)?.[1] ?? '';
    const site = { 'sec-fetch-site': 'cross-site' };
    expect((await surfer.forge(first.url.pathname, { ...fields, csrf: own }, site)).status).toBe(403);
  });

  it('give the browser a new session at sign-in, so that a session planted before is useless', async () => {
    const attacker = openSurfer(scene().url);
    await attacker.go('/oidc/device');
    const planted = [...attacker.cookies].filter(([name]) => name.startsWith('heddle_session'));
    expect(planted.length).toBe(2);
    const { surfer, email } = await visitor();
    for (const [name, value] of planted) surfer.cookies.set(name, value);
    await surfer.go('/signin/account');
    expect((await surfer.send({ step: 'password', email, password })).title).toBe('Your account – Heddle');
    expect(surfer.cookies.get('heddle_session')).not.toBe(Object.fromEntries(planted)['heddle_session']);
    expect((await attacker.go('/signin/account')).title).toBe('Sign in – Heddle');
  });

  it('set headers that forbid foreign content, caching and framing', async () => {
    const { surfer } = await visitor();
    const { headers } = await surfer.go(authorization(pkce().challenge));
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self' http:\/\/127\.0\.0\.1:4711; frame-ancestors 'none'; base-uri 'none'$/,
    );
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-frame-options')).toBe('DENY');
    const set = (await fetch(`${scene().url}/oidc/device`)).headers.getSetCookie().join('\n');
    expect(set).toMatch(/^heddle_session=[^;]+; path=\/; samesite=lax; httponly; expires=[^;]+$/m);
  });

  it('answer the same to a wrong password and an unknown address, and slow guessing down', async () => {
    const { surfer, email } = await visitor();
    await surfer.go(authorization(pkce().challenge));
    const wrong = await surfer.send({ step: 'password', email, password: 'wrong' });
    const unknown = await surfer.send({ step: 'password', email: 'nobody@example.com', password: 'wrong' });
    expect(wrong.status).toBe(422);
    expect(unknown.text.replaceAll('nobody@example.com', email)).toBe(wrong.text);
    let last = wrong;
    for (let tries = 0; tries < 12; tries++) last = await surfer.send({ step: 'password', email, password: 'wrong' });
    expect([last.status, last.headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    expect(last.text).toMatch(/Too many tries\. Wait \d+ seconds? and try again\./);
    // The right password is not checked either.
    expect((await surfer.send({ step: 'password', email, password })).status).toBe(429);
  });

  it('show at the field what is missing', async () => {
    const { surfer } = await visitor();
    await surfer.go(authorization(pkce().challenge));
    const shown = await surfer.send({ step: 'password', email: '', password: '' });
    expect(shown.status).toBe(422);
    expect(shown.text).toMatch(/<input id="email"[^>]* aria-describedby="email-fault" aria-invalid="true" autofocus/);
  });

  it('report that the user is blocked only after the right password', async () => {
    const { surfer, email, id } = await visitor({ role: 'user' });
    const blocked = { role: 'user', auto_groups: [], is_blocked: true };
    expect((await scene().call('PUT', `/api/users/${id}`, blocked)).status).toBe(200);
    await surfer.go(authorization(pkce().challenge));
    expect((await surfer.send({ step: 'password', email, password: 'wrong' })).title).toBe('Problem: Sign in – Heddle');
    expect((await surfer.send({ step: 'password', email, password })).title).toBe('Problem: You are blocked – Heddle');
  });

  it('report that the user waits for approval', async () => {
    const { surfer, email, id } = await visitor({ role: 'user' });
    const { engine } = scene().server;
    const account = present(scene().server.account);
    const { revision } = await engine.snapshots.fresh(account);
    await engine.committer.mutate({
      ...{ account, revision, actor: { type: 'system', id: 'sys', name: 'system' } },
      propose(now) {
        const user = now.get(id);
        return planEdits(
          engine,
          now,
          user === undefined ? [] : [editDerivedFacts(engine, user, { pending_approval: true })],
        );
      },
    });
    await surfer.go(authorization(pkce().challenge));
    const shown = await surfer.send({ step: 'password', email, password });
    expect([shown.status, shown.title]).toEqual([403, expect.stringMatching('Your access waits for approval')]);
  });

  it('end the session and the refresh token of a user who is blocked', async () => {
    const { surfer, id, tokens } = await signedIn();
    const blocked = { role: 'admin', auto_groups: [], is_blocked: true };
    expect((await scene().call('PUT', `/api/users/${id}`, blocked)).status).toBe(200);
    expect(await api(tokens.access_token)).toBe(403);
    expect(await refresh(tokens.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
    expect((await surfer.go('/signin/account')).title).toBe('Sign in – Heddle');
  });

  it('require a new password after sign-in with a one-time password', async () => {
    const { surfer, email } = await visitor({ oneTime: true });
    await surfer.go('/signin/account');
    expect((await surfer.send({ step: 'password', email, password })).title).toBe('Choose a password – Heddle');
    const short = await surfer.send({ step: 'new-password', password: 'short', repeated: 'short' });
    expect(short.text).toContain('A password must have at least 8 characters.');
    const same = await surfer.send({ step: 'new-password', password, repeated: password });
    expect(same.text).toContain('Choose a password other than the one you were given.');
    const differing = await surfer.send({ step: 'new-password', password: 'my very own', repeated: 'my very old' });
    expect(differing.text).toContain('The two passwords differ.');
    const saved = await surfer.send({ step: 'new-password', password: 'my very own', repeated: 'my very own' });
    expect(saved.title).toBe('Your account – Heddle');
  });

  it('accept one new password for a one-time password; a second sign-in with it is refused', async () => {
    const { surfer, email } = await visitor({ oneTime: true });
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

  it('return access_denied when the person refuses consent', async () => {
    const { surfer, email } = await visitor();
    await surfer.go(authorization(pkce().challenge));
    await surfer.send({ step: 'password', email, password });
    const { url } = await surfer.send({ step: 'consent', answer: 'deny' });
    expect(Object.fromEntries(url.searchParams)).toMatchObject({ error: 'access_denied', state: 's' });
  });
});

describe('a second factor', () => {
  it('is set up on the account page, required from then on, and accepts each code once', async () => {
    const { surfer, email } = await visitor();
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
    // The code of the next time step is valid too, so the test need not wait for that step.
    const next = totpCode(secret, stepAt(Date.now()) + 1);
    expect((await other.send({ step: 'code', code: next })).title).toBe('Your account – Heddle');
    const rows = JSON.stringify(await scene().sql('select totp_secret from credentials where email = $1', [email]));
    expect(rows).not.toContain(secret);
  });

  it('can be replaced by recovery codes, each once, and writes audit events when set up and removed', async () => {
    const { surfer, email, id } = await visitor();
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
    const reported = await scene().sql(
      "select activity_code as code from audit_events where target_id = $1 and activity_code like 'user.mfa.%' order by id",
      [id],
    );
    expect(reported.map((row) => (row as { code: string }).code.slice('user.mfa.'.length))).toEqual([
      ...['enable', 'recovery.use', 'recovery.use', 'recovery.renew', 'recovery.use', 'disable'],
    ]);
  });
});

describe('the account page', () => {
  it('makes tokens, shows them once, and deletes them', async () => {
    const { surfer, email, id } = await visitor();
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
    const reported = await scene().sql('select activity_code from audit_events where initiator_id = $1', [id]);
    expect(reported.map((row) => (row as { activity_code: string }).activity_code)).toEqual(
      expect.arrayContaining(['personal.access.token.create', 'personal.access.token.delete']),
    );
  });

  it('changes the password and ends every other session and refresh token', async () => {
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

  it('refuses a form from another page', async () => {
    const { surfer, email } = await visitor();
    await surfer.go('/signin/account');
    await surfer.send({ step: 'password', email, password });
    const forged = await surfer.forge('/signin/account', { step: 'make-token', name: 'x', expires_in: '1' });
    expect(forged.status).toBe(403);
  });
});
