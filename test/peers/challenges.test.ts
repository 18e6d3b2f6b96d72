import { expect, it } from 'vitest';
import { createVault } from '../../src/db/sealing/vault.ts';
import { createChallenges } from '../../src/features/peers/enrolment/challenges.ts';
import { answerChallenge, makeMachineKeys } from '../../src/features/peers/enrolment/client.ts';

const vault = createVault([new Uint8Array(32).fill(3)]);
const newServer = () => createChallenges({ vault } as Parameters<typeof createChallenges>[0]);
const keys = makeMachineKeys();
const [tunnel, signing] = [keys.tunnel.publicKey, keys.signing.publicKey];
const noon = Date.parse('2026-12-02T12:00:00.400Z');

/** Returns the machine's answer to a challenge, in the form that the server checks. */
function answer(challenge: ReturnType<ReturnType<typeof newServer>['make']>) {
  const { challenge: text, mac } = answerChallenge(keys, challenge);
  return { challenge: String(text), mac: String(mac) };
}

it('a challenge is accepted by any server of the installation until it expires', () => {
  const [one, other] = [newServer(), newServer()];
  const made = one.make(noon);
  expect([made.server_time, made.expires_at]).toEqual(['2026-12-02T12:00:00.400Z', '2026-12-02T12:02:00.000Z']);
  for (const server of [one, other, other]) server.check(answer(made), { tunnel, signing }, noon + 119_000);
  expect(() => other.check(answer(made), { tunnel, signing }, noon + 120_000)).toThrow(
    /expired at 2026-12-02T12:02:00/,
  );
});

it('challenges of one second are equal, those of one minute share a key, and the next minute has another', () => {
  const server = newServer();
  const made = [0, 500, 1000, 59_000, 60_000].map((later) => server.make(noon + later));
  const [first, same, next, late, other] = made.map(({ challenge, public_key }) => ({ challenge, public_key }));
  expect(same).toEqual(first);
  expect([next?.challenge === first?.challenge, next?.public_key, late?.public_key]).toEqual([
    false,
    first?.public_key,
    first?.public_key,
  ]);
  expect(other?.public_key).not.toBe(first?.public_key);
  for (const one of made) server.check(answer(one), { tunnel, signing }, noon + 60_000);
});

it('the answer to a challenge is refused with another key', () => {
  const server = newServer();
  const given = answer(server.make(noon));
  const thief = makeMachineKeys();
  for (const claimed of [
    { tunnel: thief.tunnel.publicKey, signing },
    { tunnel, signing: thief.signing.publicKey },
  ])
    expect(() => server.check(given, claimed, noon)).toThrow('does not match the tunnel key');
});
