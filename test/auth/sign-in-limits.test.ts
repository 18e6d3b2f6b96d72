import { beforeEach, describe, expect, it } from 'vitest';
import { createSignInLimits, type SignInLimits } from '../../src/features/auth/sign-in-limits.ts';

let now = 0;
let guesses: SignInLimits;
beforeEach(() => {
  now = 0;
  guesses = createSignInLimits(() => now);
});
const tries = (count: number, address: (at: number) => string, person: (at: number) => string): number[] =>
  Array.from({ length: count }, (_, at) => guesses.beginAttempt({ address: address(at), person: person(at) }));
const passed = (answers: readonly number[]): number => answers.filter((seconds) => seconds === 0).length;

describe('guessing a password', () => {
  it('of one person from one address is slowed down after ten mistakes, and states the wait', () => {
    const answers = tries(
      12,
      () => 'a',
      () => 'ana@example.com',
    );
    expect(answers).toEqual([...Array<number>(10).fill(0), 30, 30]);
    now += 30_000;
    expect(guesses.beginAttempt({ address: 'a', person: 'ANA@example.com' })).toBe(0);
  });

  it('of many people from one address is slowed down after 60 tries', () => {
    expect(
      passed(
        tries(
          100,
          () => 'a',
          (at) => `person${at}@example.com`,
        ),
      ),
    ).toBe(60);
  });

  it('of one person from many addresses is slowed down after 50 tries', () => {
    expect(
      passed(
        tries(
          100,
          (at) => `a${at}`,
          () => 'ana@example.com',
        ),
      ),
    ).toBe(50);
  });

  it('does not lock the person out at an address where they signed in, nor other addresses permanently', () => {
    const home = { address: 'home', person: 'ana@example.com' };
    expect(guesses.beginAttempt(home)).toBe(0);
    guesses.recordSuccess(home);
    tries(
      100,
      (at) => `a${at}`,
      () => 'ana@example.com',
    );
    expect(guesses.beginAttempt(home)).toBe(0);
    expect(guesses.beginAttempt({ ...home, address: 'elsewhere' })).toBeGreaterThan(0);
    now += 60_000;
    expect(guesses.beginAttempt({ ...home, address: 'elsewhere' })).toBe(0);
  });

  it('does not count tries that were right', () => {
    const home = { address: 'home', person: 'ana@example.com' };
    for (let at = 0; at < 200; at++) {
      expect(guesses.beginAttempt(home)).toBe(0);
      guesses.recordSuccess(home);
    }
  });

  it('does not count a refused try towards the other limits', () => {
    tries(
      500,
      () => 'a',
      () => 'ana@example.com',
    );
    expect(guesses.beginAttempt({ address: 'a', person: 'ben@example.com' })).toBe(0);
    expect(
      passed(
        tries(
          100,
          (at) => `b${at}`,
          () => 'ana@example.com',
        ),
      ),
    ).toBe(40);
  });
});
