import type { PasswordMatch } from '../password-sign-in.ts';
import type { ProviderContext } from './host.ts';
import { accountsPage, type FormContext } from './pages/sign-in.ts';
import { type PersonWithPassword, readPersonWithPassword } from './people.ts';
import { createOwnRecords } from './records.ts';

/** A user whose password was right, and the time at which that password was set. */
interface AccountOption {
  readonly account: string;
  readonly user: string;
  readonly changedAt: string;
}

/** Time that a person has to choose, in seconds. */
const choiceTimeoutSeconds = 600;

/** Returns the page on which a person chooses one of the accounts that their password opens, and stores the options. */
export async function offerAccounts(
  host: ProviderContext,
  uid: string,
  formContext: FormContext,
  matches: readonly PasswordMatch[],
): Promise<string> {
  const options = matches.map(
    ({ credentials: { account, user, changedAt } }): AccountOption => ({
      account,
      user,
      changedAt: changedAt.toISOString(),
    }),
  );
  await notesOf(host).put(uid, options, choiceTimeoutSeconds);
  return accountsPage(
    formContext,
    matches.map(({ credentials: { account }, user: { name } }) => ({ account, name })),
  );
}

/**
 * Returns the person in the chosen account; `undefined` when that account was not offered, or when its password has
 * changed since.
 */
export async function findChosenAccount(
  host: ProviderContext,
  uid: string,
  account: string,
): Promise<PersonWithPassword | undefined> {
  const options = await notesOf(host).find(uid);
  const chosen = options?.find((option) => option.account === account);
  const known = chosen && (await readPersonWithPassword(host.engine, chosen));
  return known?.credentials.changedAt.toISOString() === chosen?.changedAt ? known : undefined;
}

function notesOf({ records }: ProviderContext) {
  return createOwnRecords<readonly AccountOption[]>(records, 'AccountChoice');
}
