import { expect, it } from 'vitest';
import { stepAt, totpCode } from '../../src/features/auth/provider/totp.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { idpScene } from './idp-scene.ts';
import { password, signingIn } from './signing-in.ts';
import { openSurfer } from './surfer.ts';

const scene = idpScene();
const { visitor } = signingIn(scene);

async function require(local_mfa_enabled: boolean): Promise<JsonObject> {
  const [account] = (await (await scene().call('GET', '/api/accounts')).json()) as readonly JsonObject[];
  const settings = { ...(account?.['settings'] as JsonObject), local_mfa_enabled };
  const answer = await scene().call('PUT', `/api/accounts/${account?.['id']}`, { settings });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as JsonObject)['settings'] as JsonObject;
}

const secretIn = (text: string) => /id="totp-secret">([A-Z2-7]{32})</.exec(text)?.[1] ?? '';

it('local_mfa_enabled refuses sign-in by password alone: a user without a second factor must set it up', async () => {
  const { surfer, email, id } = await visitor();
  expect((await require(true))['local_mfa_enabled']).toBe(true);
  await surfer.go('/signin/account');
  const asked = await surfer.send({ step: 'password', email, password });
  expect(asked.title).toBe('Set up a second factor – Heddle');
  const secret = secretIn(asked.text);
  // Another step of the sign-in cannot skip the setup.
  const csrf = /name="csrf" value="([^"]+)"/.exec(asked.text)?.[1] ?? '';
  const skipped = await surfer.forge(asked.url.pathname, { csrf, step: 'codes-kept' });
  expect(skipped.title).toBe('Set up a second factor – Heddle');
  const wrong = await surfer.send({ step: 'app', code: '000000' });
  expect([wrong.status, secretIn(wrong.text)]).toEqual([422, secret]);
  const on = await surfer.send({ step: 'app', code: totpCode(secret, stepAt(Date.now())) });
  expect(on.title).toBe('The second factor is on – Heddle');
  expect([...on.text.matchAll(/<code>([a-z2-7]{4}(?:-[a-z2-7]{4}){3})<\/code>/g)]).toHaveLength(10);
  const page = await surfer.send({ step: 'codes-kept' });
  expect(page.title).toBe('Your account – Heddle');
  expect(await scene().sql('select totp_confirmed as on from credentials where user_id = $1', [id])).toEqual([
    { on: true },
  ]);

  const next = () => totpCode(secret, stepAt(Date.now()) + 1);
  const other = openSurfer(scene().url);
  await other.go('/signin/account');
  expect((await other.send({ step: 'password', email, password })).title).toBe('Enter your code – Heddle');
  expect((await other.send({ step: 'code', code: next() })).title).toBe('Your account – Heddle');
});

it('a second factor cannot be removed while the account requires it', async () => {
  const { surfer, email } = await visitor();
  await require(false);
  await surfer.go('/signin/account');
  await surfer.send({ step: 'password', email, password });
  const secret = secretIn((await surfer.send({ step: 'totp-begin' })).text);
  const shown = await surfer.send({ step: 'totp-confirm', code: totpCode(secret, stepAt(Date.now())) });
  const [first = '', second = ''] = [...shown.text.matchAll(/<code>([a-z2-7]{4}(?:-[a-z2-7]{4}){3})<\/code>/g)].map(
    ([, code = '']) => code,
  );
  await require(true);
  const refused = await surfer.send({ step: 'totp-remove', code: first });
  expect([refused.status, refused.text.includes('it stays on')]).toEqual([422, true]);
  await require(false);
  expect((await surfer.send({ step: 'totp-remove', code: second })).text).toContain('The second factor is off.');
});

it('a change of local_mfa_enabled is written to the audit trail', async () => {
  await require(true);
  await require(false);
  const rows = await scene().sql<{ code: string }>(
    "select activity_code as code from audit_events where activity_code like 'account.setting.local.mfa.%' order by id desc limit 2",
  );
  expect(rows.map(({ code }) => code)).toEqual([
    'account.setting.local.mfa.disable',
    'account.setting.local.mfa.enable',
  ]);
});
