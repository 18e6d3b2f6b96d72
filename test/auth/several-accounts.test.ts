import { describe, expect, it } from 'vitest';
import { hashPassword } from '../../src/features/auth/passwords.ts';
import { createSignInLimits } from '../../src/features/auth/sign-in-limits.ts';
import { cheapPasswordCost } from '../setup/password-cost.ts';
import { present } from '../setup/present.ts';
import { idpScene } from './idp-scene.ts';
import { sharing } from './shared-addresses.ts';
import { bodyOf, password, signingIn } from './signing-in.ts';
import { pkce, type Surfer } from './surfer.ts';

const scene = idpScene();
const people = signingIn(scene);
const { visitor, authorization, redeem } = people;
const { copy, twoUsers } = sharing(scene, people);

/** Completes the sign-in. Returns the claims of the access token, and the id of the user that the API sees. */
async function tokenOf(surfer: Surfer, verifier: string) {
  const { url } = await surfer.send({ step: 'consent', answer: 'allow' });
  const { access_token } = await redeem(url.searchParams.get('code') ?? '', verifier);
  const seen = await scene().call('GET', '/api/users/current', undefined, `Bearer ${access_token}`);
  return { ...bodyOf(access_token), current: ((await seen.json()) as { readonly id: string }).id };
}

describe('an address of users in two accounts', () => {
  it.each([
    ['the one password', password],
    ['the other password', 'another password'],
  ])('with %s signs in to the matching account', async (_, used) => {
    const { email, id, there, surfer, account: other } = await twoUsers('another password');
    const { verifier, challenge } = pkce();
    await surfer.go(authorization(challenge));
    await surfer.send({ step: 'password', email, password: used });
    const [account, user] = used === password ? [present(scene().server.account), id] : [other, there];
    expect(await tokenOf(surfer, verifier)).toMatchObject({ sub: user, account, current: user });
  });

  it('offers a choice of account when both users have the same password', async () => {
    const { email, there, surfer, account: other } = await twoUsers(password);
    const { verifier, challenge } = pkce();
    await surfer.go(authorization(challenge));
    const asked = await surfer.send({ step: 'password', email, password });
    expect([asked.title, asked.text]).toEqual([
      'Choose an account – Heddle',
      expect.stringContaining(`${other}, as There`),
    ]);
    await surfer.send({ step: 'account', account: other });
    expect(await tokenOf(surfer, verifier)).toMatchObject({ sub: there, account: other });
  });

  it('refuses an account that was not offered, or an account after a change of its password', async () => {
    const { email, there, surfer, account: other } = await twoUsers(password);
    for (const account of ['elsewhere', other]) {
      await surfer.go(authorization(pkce().challenge));
      await surfer.send({ step: 'password', email, password });
      await scene().sql("update credentials set changed_at = changed_at + interval '1 second' where user_id = $1", [
        there,
      ]);
      expect((await surfer.send({ step: 'account', account })).status).toBe(400);
    }
  });

  it('signs in to the account that is named', async () => {
    const { email, there, surfer, account: other } = await twoUsers(password);
    const { verifier, challenge } = pkce();
    await surfer.go(authorization(challenge));
    const unknown = await surfer.send({ step: 'password', email, password, account: 'elsewhere' });
    const wrong = await surfer.send({ step: 'password', email, password: 'wrong', account: 'elsewhere' });
    expect([unknown.status, unknown.text]).toEqual([422, wrong.text]);
    await surfer.send({ step: 'password', email, password, account: other });
    expect(await tokenOf(surfer, verifier)).toMatchObject({ sub: there, account: other });
  });

  it('signs in to the named account even behind a dozen older users with the same address', async () => {
    const { email, id, surfer } = await visitor();
    const own = present(scene().server.account);
    const hash = await hashPassword({ passwordCost: cheapPasswordCost }, 'of a squatter');
    for (let at = 0; at < 12; at++) {
      const [account, there] = [`squat-${at}-${id}`, `squatter-${at}-${id}`];
      await copy('accounts', 'account_id', own, { account_id: account });
      await copy('objects', 'id', own, { account_id: account, id: account });
      await copy('objects', 'id', id, { account_id: account, id: there, created_at: '2020-01-01T00:00:00Z' });
      await copy('object_keys', 'object_id', id, { account_id: account, object_id: there });
      await copy('credentials', 'user_id', id, { account_id: account, user_id: there, password_hash: hash });
    }
    const { verifier, challenge } = pkce();
    await surfer.go(authorization(challenge));
    const hidden = await surfer.send({ step: 'password', email, password });
    const wrong = await surfer.send({ step: 'password', email, password: 'wrong' });
    expect([hidden.status, hidden.text]).toEqual([422, wrong.text]);
    expect(hidden.text).toContain('Your invitation names it');
    await surfer.send({ step: 'password', email, password, account: own });
    expect(await tokenOf(surfer, verifier)).toMatchObject({ sub: id, account: own });
  });
});

describe('sign-in limits', () => {
  it('slow down guesses at a user by clients that knew the password of another user with the same address', () => {
    const guesses = createSignInLimits(() => 0);
    const person = 'ana@example.com';
    for (let at = 0; at < 60; at++) {
      const guess = { address: `stranger ${at}`, person };
      if (guesses.beginAttempt(guess) === 0) guesses.recordSuccess(guess, { remember: false });
    }
    const tries = Array.from({ length: 60 }, (_, at) => guesses.beginAttempt({ address: `stranger ${at}`, person }));
    expect(tries.filter((seconds) => seconds === 0)).toHaveLength(50);
  });
});
