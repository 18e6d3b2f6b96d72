import { changePassword, readCredentials } from '../../../db/accounts/credentials.ts';
import { passwordFault } from '../../../lib/new-password.ts';
import { hashPassword, verifyPassword } from '../passwords.ts';
import type { ProviderContext } from './host.ts';
import type { Person } from './people.ts';
import {
  disableSecondFactor,
  enableSecondFactor,
  type FactorContext,
  prepareAppSetup,
  replaceRecoveryCodes,
  requiresSecondFactor,
  useAppCode,
  useSecondFactor,
} from './second-factor.ts';
import { formatWait, textIn, type WebRequest } from './web.ts';

/** Result of a form: the completed action, with codes that are shown only once, or the errors by field. */
export type FormOutcome =
  | { readonly action: string; readonly codes?: readonly string[] }
  | { readonly faults: Readonly<Record<string, string>> };

interface Visit {
  readonly host: ProviderContext;
  readonly request: WebRequest;
  readonly person: Person;
  readonly session: string;
}

/** Changes the password of the person who is signed in, and ends their other sessions. */
export async function changeOwnPassword({ host, request, person, session }: Visit): Promise<FormOutcome> {
  const { database } = host.engine;
  const [old, password] = [textIn(request.form, 'old_password'), textIn(request.form, 'new_password')];
  const credentials = await readCredentials(database, person.account, person.id);
  if (credentials === undefined) return { faults: { old_password: 'You have no password here.' } };
  const isRight = await attemptWithinLimits({ host, request, person }, 'password', () =>
    verifyPassword(host.engine, credentials.hash, old),
  );
  if (isRight !== true) return { faults: { old_password: isRight || 'This is not your present password.' } };
  const fault = passwordFault(password);
  if (fault !== undefined) return { faults: { new_password: `A password ${fault}.` } };
  if (password !== textIn(request.form, 'repeated')) return { faults: { repeated: 'The two passwords differ.' } };
  const { account, id: user, name, email } = person;
  const change = {
    account,
    user,
    hash: await hashPassword(host.engine, password),
    oneTime: false,
    replacedHash: credentials.hash,
  };
  const isChanged = await changePassword(database, change, {
    actor: { type: 'user', id: user, name, email },
    event: { code: 'user.password.change', target: user, meta: {} },
    at: host.engine.now(),
  });
  if (!isChanged) return { faults: { old_password: 'Your password was changed somewhere else just now.' } };
  await host.endSessions(user, session);
  return { action: 'password' };
}

/**
 * Steps that require a code, and whether the second factor must be on already (`true`) or is switched on by the step
 * (`false`).
 */
const stepsWithCode: Readonly<Record<string, boolean>> = {
  'totp-confirm': false,
  'totp-remove': true,
  'totp-codes': true,
};

/** Sets up the second factor, step by step, or removes it. */
export async function changeTotp({ host, request, person }: Visit, step: string): Promise<FormOutcome> {
  const credentials = await readCredentials(host.engine.database, person.account, person.id);
  if (credentials === undefined) return { action: '' };
  const factor = { host, person, credentials };
  if (step === 'totp-begin' || step === 'totp-cancel') await prepareAppSetup(factor, step === 'totp-begin');
  if (stepsWithCode[step] !== credentials.totpConfirmed || credentials.totpSecret === null) return { action: '' };
  const use = credentials.totpConfirmed ? useSecondFactor : useAppCode;
  const attempt = () => use(factor, textIn(request.form, 'code'));
  const isRight = await attemptWithinLimits({ host, request, person }, 'code', attempt);
  if (isRight !== true)
    return { faults: { code: isRight || 'Enter the code that the app shows now; each code works only once.' } };
  return await changeFactor(factor, step);
}

async function changeFactor(factor: FactorContext, step: string): Promise<FormOutcome> {
  if (step === 'totp-remove') {
    if (await requiresSecondFactor(factor.host.engine, factor.person))
      return { faults: { code: 'Your account requires a second factor from everybody, so it stays on.' } };
    await disableSecondFactor(factor);
    return { action: 'totp-off' };
  }
  const codes = step === 'totp-confirm' ? await enableSecondFactor(factor) : await replaceRecoveryCodes(factor);
  if (codes === undefined)
    return { faults: { code: 'The second factor was set up again in another window; continue there.' } };
  return { action: step === 'totp-confirm' ? 'totp-on' : 'totp-codes', codes };
}

/**
 * Makes an attempt that could be a guess, and limits such attempts. Returns `true` when it was right; otherwise
 * `false`, or the message that there were too many attempts.
 */
async function attemptWithinLimits(
  { host, request, person }: Omit<Visit, 'session'>,
  what: string,
  attempt: () => Promise<boolean>,
): Promise<boolean | string> {
  const guess = { address: request.address, person: `${what} of ${person.id}` };
  const seconds = host.signInLimits.beginAttempt(guess);
  if (seconds > 0) return `Too many tries. Wait ${formatWait(seconds)} and try again.`;
  const isRight = await attempt();
  if (isRight) host.signInLimits.recordSuccess(guess);
  return isRight;
}
