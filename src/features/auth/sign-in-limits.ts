import { type Buckets, createBuckets } from '../../lib/buckets.ts';

/** An attempt to sign in: the network address of the client, and the person that it names. */
export interface SignInAttempt {
  readonly address: string;
  /** E-mail address, in upper or lower case. */
  readonly person: string;
}

/**
 * Slows down guessing, per process. No person is locked out: every limit refills within minutes, and guesses from other
 * addresses do not use up the limit of an address from which the person has signed in.
 */
export interface SignInLimits {
  /** Counts a guess before it is checked. Returns 0, or the seconds to wait before the next attempt. */
  beginAttempt(guess: SignInAttempt): number;
  /** Uncounts a guess that was right. With `remember`, the address counts as one of this person's afterwards. */
  recordSuccess(guess: SignInAttempt, options?: { readonly remember: boolean }): void;
}

/** Limit of guesses by one address at many people. */
const perAddress = { perMinute: 20, burst: 60 };
/** Limit of guesses by one address at one person. It leaves room for the usual mistakes. */
const perPair = { perMinute: 2, burst: 10 };
/** Limit of guesses by many addresses at one person. */
const perPerson = { perMinute: 5, burst: 50 };

/** Number of pairs of person and address that are remembered as having signed in. */
const maxKnownPairs = 100_000;

/** Creates the limits. `now` returns milliseconds of a monotonic clock. */
export function createSignInLimits(now: () => number = () => performance.now()): SignInLimits {
  const [addresses, pairs, people] = [createBuckets(perAddress), createBuckets(perPair), createBuckets(perPerson)];
  const known = new Set<string>();
  return {
    beginAttempt(guess) {
      const { person, pair } = namesOf(guess);
      const time = now();
      const taken: (readonly [Buckets, string])[] = [];
      const counts: readonly (readonly [Buckets, string])[] = [
        [pairs, pair],
        [addresses, guess.address],
        ...(known.has(pair) ? [] : [[people, person] as const]),
      ];
      for (const [buckets, name] of counts) {
        const seconds = buckets.take(name, time);
        if (seconds > 0) {
          for (const [other, taker] of taken) other.giveBack(taker);
          return seconds;
        }
        taken.push([buckets, name]);
      }
      return 0;
    },
    recordSuccess(guess, { remember } = { remember: true }) {
      const { person, pair } = namesOf(guess);
      pairs.giveBack(pair);
      addresses.giveBack(guess.address);
      if (!known.has(pair)) people.giveBack(person);
      if (!remember) return;
      known.delete(pair);
      known.add(pair);
      if (known.size > maxKnownPairs) known.delete(known.values().next().value ?? '');
    },
  };
}

/**
 * Returns the name under which guesses at the user of one account are counted. They do not count for users of other
 * accounts with the same address.
 */
export function accountPersonKey(account: string, email: string): string {
  return `${account} ${email}`;
}

function namesOf({ address, person }: SignInAttempt): { readonly person: string; readonly pair: string } {
  const name = person.toLowerCase().slice(0, 254);
  return { person: name, pair: `${name} ${address}` };
}
