import type { PasswordMatch } from '../password-sign-in.ts';
import type { Host } from './host.ts';
import { accountsPage, type Place } from './pages/sign-in.ts';
import { type Known, readKnown } from './people.ts';
import { createNotes } from './records.ts';

/** A user whose password was right, and the time at which that password was set. */
interface Option {
  readonly account: string;
  readonly user: string;
  readonly changedAt: string;
}

/** Time that a person has to choose, in seconds. */
const patience = 600;

/** Returns the page on which a person chooses one of the accounts that their password opens, and stores the options. */
export async function offerAccounts(
  host: Host,
  uid: string,
  place: Place,
  matches: readonly PasswordMatch[],
): Promise<string> {
  const options = matches.map(
    ({ credentials: { account, user, changedAt } }): Option => ({ account, user, changedAt: changedAt.toISOString() }),
  );
  await notesOf(host).put(uid, options, patience);
  return accountsPage(
    place,
    matches.map(({ credentials: { account }, user: { name } }) => ({ account, name })),
  );
}

/**
 * Returns the person in the chosen account; `undefined` when that account was not offered, or when its password has
 * changed since.
 */
export async function chosenAccount(host: Host, uid: string, account: string): Promise<Known | undefined> {
  const options = await notesOf(host).find(uid);
  const chosen = options?.find((option) => option.account === account);
  const known = chosen && (await readKnown(host.engine, chosen));
  return known?.credentials.changedAt.toISOString() === chosen?.changedAt ? known : undefined;
}

function notesOf({ records }: Host) {
  return createNotes<readonly Option[]>(records, 'AccountChoice');
}
