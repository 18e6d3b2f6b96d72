import { type Credentials, changePassword, readCredentials, setTotp, useTotpStep } from '../../store/credentials.ts';
import { hashPassword, passwordFault, verifyPassword } from '../passwords.ts';
import type { Host } from './host.ts';
import type { Person } from './people.ts';
import { matchingStep, newTotpSecret } from './totp.ts';
import { inWords, textIn, type WebRequest } from './web.ts';

/** What became of a form: what was done, or what is wrong with its fields. */
export type Outcome = { readonly deed: string } | { readonly faults: Readonly<Record<string, string>> };

interface Visit {
  readonly host: Host;
  readonly request: WebRequest;
  readonly person: Person;
  readonly session: string;
}

/** Changes the password of the person who is signed in, and ends their other sessions. */
export async function changeOwnPassword({ host, request, person, session }: Visit): Promise<Outcome> {
  const { database } = host.engine;
  const [old, password] = [textIn(request.form, 'old_password'), textIn(request.form, 'new_password')];
  const credentials = await readCredentials(database, person.account, person.id);
  if (credentials === undefined) return { faults: { old_password: 'You have no password here.' } };
  const isRight = await guarded({ host, request, person }, 'password', () => verifyPassword(credentials.hash, old));
  if (isRight !== true) return { faults: { old_password: isRight || 'This is not your present password.' } };
  const fault = passwordFault(password);
  if (fault !== undefined) return { faults: { new_password: `A password ${fault}.` } };
  if (password !== textIn(request.form, 'repeated')) return { faults: { repeated: 'The two are not the same.' } };
  const { account, id: user, name, email } = person;
  const change = { account, user, hash: await hashPassword(password), oneTime: false, replaces: credentials.hash };
  const isChanged = await changePassword(database, change, {
    actor: { type: 'user', id: user, name, email },
    event: { code: 'user.password.change', target: user, meta: {} },
    at: host.engine.now(),
  });
  if (!isChanged) return { faults: { old_password: 'It was changed somewhere else just now.' } };
  await host.endSessions(user, session);
  return { deed: 'password' };
}

/** Sets the second factor up, step by step, or takes it away. */
export async function changeTotp({ host, request, person }: Visit, step: string): Promise<Outcome> {
  const { database, means } = host.engine;
  const credentials = await readCredentials(database, person.account, person.id);
  if (credentials === undefined) return { deed: '' };
  const { totpSecret, totpConfirmed } = credentials;
  const clear = () => setTotp(database, credentials, { totpSecret: null, totpConfirmed: false });
  if (step === 'totp-begin' && !totpConfirmed)
    await setTotp(database, credentials, { totpSecret: means.vault.seal(newTotpSecret()), totpConfirmed: false });
  if (step === 'totp-cancel' && !totpConfirmed) await clear();
  const wantsCode = (step === 'totp-confirm' && !totpConfirmed) || (step === 'totp-remove' && totpConfirmed);
  if (!wantsCode || totpSecret === null) return { deed: '' };
  const isRight = await guarded({ host, request, person }, 'code', () =>
    takeCode(host, credentials, textIn(request.form, 'code')),
  );
  if (isRight !== true)
    return { faults: { code: isRight || 'Enter the code that the app shows now; each works once.' } };
  if (step === 'totp-confirm') {
    await confirm(host, credentials, totpSecret, textIn(request.form, 'code'));
    return { deed: 'totp-on' };
  }
  await clear();
  return { deed: 'totp-off' };
}

async function confirm(host: Host, credentials: Credentials, totpSecret: string, code: string): Promise<void> {
  await setTotp(host.engine.database, credentials, { totpSecret, totpConfirmed: true });
  // Whoever saw the code being typed must not sign in with it.
  await takeCode(host, credentials, code);
}

/** Whether the code is right and nobody used it before. */
async function takeCode({ engine, now }: Host, credentials: Credentials, code: string): Promise<boolean> {
  const secret = engine.means.vault.open(credentials.totpSecret ?? '');
  const step = matchingStep(secret, code, now());
  return step !== undefined && (await useTotpStep(engine.database, credentials, step));
}

/** Does what may be guessed, slowly when it is tried often: `true` when it was right, else `false` or why not. */
async function guarded(
  { host, request, person }: Omit<Visit, 'session'>,
  what: string,
  attempt: () => Promise<boolean>,
): Promise<boolean | string> {
  const guess = { address: request.address, person: `${what} of ${person.id}` };
  const seconds = host.guesses.begin(guess);
  if (seconds > 0) return `Too many tries. Wait ${inWords(seconds)} and try again.`;
  const isRight = await attempt();
  if (isRight) host.guesses.right(guess);
  return isRight;
}
