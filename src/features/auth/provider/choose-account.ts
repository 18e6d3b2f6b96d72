import type { PasswordMatch } from '../password-sign-in.ts';
import type { Host } from './host.ts';
import { accountsPage, type Place } from './pages/sign-in.ts';
import { type Known, readKnown } from './people.ts';
import { createNotes } from './records.ts';

/** A user whose password was right, and since when it is the password. */
interface Option {
  readonly account: string;
  readonly user: string;
  readonly changedAt: string;
}

/** How long a person may take to choose, in seconds. */
const patience = 600;

/** The page on which a person says which of the accounts that their password opens they mean. */
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

/** Who the person is in the account that they chose; `undefined` when it was not offered, or the password is another one since. */
export async function chosenAccount(host: Host, uid: string, account: string): Promise<Known | undefined> {
  const options = await notesOf(host).find(uid);
  const chosen = options?.find((option) => option.account === account);
  const known = chosen && (await readKnown(host.engine, chosen));
  return known?.credentials.changedAt.toISOString() === chosen?.changedAt ? known : undefined;
}

function notesOf({ records }: Host) {
  return createNotes<readonly Option[]>(records, 'AccountChoice');
}
