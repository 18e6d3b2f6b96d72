import { describe, expect, it } from 'vitest';
import { defaultPasswordCost } from '../../src/model/password-cost.ts';
import { idpScene } from './idp-scene.ts';
import { sharing } from './shared-addresses.ts';
import { signingIn } from './signing-in.ts';
import { openSurfer, pkce } from './surfer.ts';

describe('an address of users in two accounts, at the default password cost', () => {
  const dear = idpScene({ passwordCost: defaultPasswordCost });
  const people = signingIn(dear);
  const { twoUsers } = sharing(dear, people);

  it('takes no more CPU time per try than an unknown address', async () => {
    const { email } = await twoUsers('another password', defaultPasswordCost);
    const surfer = openSurfer(dear().url);
    await surfer.go(people.authorization(pkce().challenge));
    const anonymous = 'nobody@example.com';
    const least = new Map([email, anonymous].map((tried) => [tried, Number.POSITIVE_INFINITY]));
    // Compares the cheapest of nine tries for each address. Other work of the process can only add to the figures.
    // These tries are not slowed down yet.
    for (let round = 0; round < 9; round++)
      for (const [tried, so] of least) {
        const before = process.cpuUsage();
        expect((await surfer.send({ step: 'password', email: tried, password: 'wrong' })).status).toBe(422);
        const { user, system } = process.cpuUsage(before);
        least.set(tried, Math.min(so, user + system));
      }
    const ratio = (least.get(email) ?? 0) / (least.get(anonymous) ?? 1);
    expect(ratio).toBeGreaterThan(0.7);
    expect(ratio).toBeLessThan(1.4);
  });
});
