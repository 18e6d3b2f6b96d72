import { type Buckets, createBuckets } from '../../lib/buckets.ts';

/** An attempt to sign in: the address that it comes from, and the person that it names. */
export interface SignInAttempt {
  readonly address: string;
  /** The e-mail address, in any case. */
  readonly person: string;
}

/**
 * Slows down guessing, per process. No person is locked out: every limit refills within minutes, and guesses from
 * elsewhere do not use up the limit of addresses from which that person has signed in.
 */
export interface SignInLimits {
  /** Counts a guess before it is looked at. Answers 0, or after how many seconds to try again. */
  begin(guess: SignInAttempt): number;
  /** The guess was right, so it does not count; `remember`: the address is from now on one of this person's. */
  right(guess: SignInAttempt, options?: { readonly remember: boolean }): void;
}

/** One address tries many people. */
const perAddress = { perMinute: 20, burst: 60 };
/** One address tries one person: the usual mistakes are free. */
const perPair = { perMinute: 2, burst: 10 };
/** Many addresses try one person. */
const perPerson = { perMinute: 5, burst: 50 };

/** How many pairs of person and address are remembered as having signed in. */
const mostKnown = 100_000;

/** Creates the counts; `now` is in milliseconds, on a clock that only goes forward. */
export function createSignInLimits(now: () => number = () => performance.now()): SignInLimits {
  const [addresses, pairs, people] = [createBuckets(perAddress), createBuckets(perPair), createBuckets(perPerson)];
  const known = new Set<string>();
  return {
    begin(guess) {
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
    right(guess, { remember } = { remember: true }) {
      const { person, pair } = namesOf(guess);
      pairs.giveBack(pair);
      addresses.giveBack(guess.address);
      if (!known.has(pair)) people.giveBack(person);
      if (!remember) return;
      known.delete(pair);
      known.add(pair);
      if (known.size > mostKnown) known.delete(known.values().next().value ?? '');
    },
  };
}

/** How the user of an account is called among those who are guessed: guesses at them do not count for others with the address. */
export function personIn(account: string, email: string): string {
  return `${account} ${email}`;
}

function namesOf({ address, person }: SignInAttempt): { readonly person: string; readonly pair: string } {
  const name = person.toLowerCase().slice(0, 254);
  return { person: name, pair: `${name} ${address}` };
}
