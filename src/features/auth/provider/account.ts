import type { Call } from '../../../commit/engine.ts';
import { type Credentials, readCredentials } from '../../../db/accounts/credentials.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { makeToken, tokenRandomBytes } from '../../../lib/token.ts';
import { NotFound } from '../../../model/errors.ts';
import { readBody } from '../../../model/operation/body.ts';
import { tokenRequest } from '../../../operations/tokens.ts';
import { addToken, readTokens, removeToken } from '../../accounts/tokens.ts';
import { hashToken, tokenPrefix } from '../authenticate.ts';
import { isRecent } from '../recent-sign-in.ts';
import { accountPath, clientIds } from './clients.ts';
import type { ProviderContext } from './host.ts';
import { type AccountView, accountPage, type ListedToken } from './pages/account.ts';
import { messagePage } from './pages/plain.ts';
import type { Person } from './people.ts';
import { createAppSetup, openTotp } from './second-factor.ts';
import { changeOwnPassword, changeTotp, type FormOutcome } from './self-service.ts';
import { createCsrfToken, isOurForm, textIn, type WebAnswer, type WebRequest } from './web.ts';

/** Messages about completed actions, which the page shows after it was loaded again. */
const actionTexts: Readonly<Record<string, string>> = {
  deleted: 'The token is deleted. It stopped working at once.',
  password: 'Your password is changed. You are signed out everywhere else.',
  'totp-on': 'The second factor is on. Keep the recovery codes below: the next sign-in asks for a code.',
  'totp-off': 'The second factor is off.',
  again: 'You are signed in again. Now repeat what you wanted to do.',
  'totp-codes': 'Your new recovery codes are below. The previous ones no longer work.',
};

/** Request of a signed-in person to their own page. */
interface Visit {
  readonly host: ProviderContext;
  readonly request: WebRequest;
  readonly person: Person;
  readonly csrf: string;
  /** The uid of the session. */
  readonly session: string;
  /** Milliseconds since 1970. */
  readonly signedInAt: number;
}

/** Answers a request for a person's own page. Redirects to the sign-in page when the person is not signed in. */
export async function answerAccountPage(host: ProviderContext, request: WebRequest): Promise<WebAnswer> {
  const { provider, ring } = await host.openProvider();
  const session = await provider.Session.get(provider.createContext(request.req, request.res));
  const person = session.accountId === undefined ? undefined : await host.findPerson(session.accountId);
  if (person === undefined) return { location: signInAddress(host.publicUrl()) };
  const shownTo = `account ${session.uid}`;
  if (request.form !== undefined && !isOurForm(request, ring.cookieSecret, shownTo))
    return { status: 403, page: messagePage('forged') };
  const signedInAt = (session.loginTs ?? 0) * 1000;
  const visit = {
    host,
    request,
    person,
    csrf: createCsrfToken(ring.cookieSecret, shownTo),
    session: session.uid,
    signedInAt,
  };
  return request.form === undefined
    ? show(visit, { doneText: completedActionText(request) })
    : handleStep(visit, textIn(request.form, 'step'));
}

/**
 * Returns the address of the sign-in page. With the parameters in `again`, a signed-in person must sign in again, and
 * the page confirms it afterwards.
 */
function signInAddress(publicUrl: string, again: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams({
    ...{ client_id: clientIds.account, response_type: 'none', scope: 'openid' },
    redirect_uri: `${publicUrl}${accountPath}`,
    ...again,
  });
  return `/oidc/auth?${query}`;
}

function completedActionText({ req }: WebRequest): string | undefined {
  const query = new URLSearchParams((req.url ?? '').split('?')[1] ?? '');
  const action = query.get('done') ?? query.get('state') ?? '';
  return Object.hasOwn(actionTexts, action) ? actionTexts[action] : undefined;
}

type FormResultView = Partial<
  Pick<AccountView, 'newToken' | 'codes' | 'doneText' | 'faultyForm' | 'faults' | 'enteredValues'>
>;

async function show({ host, person, csrf }: Visit, shown: FormResultView, status = 200): Promise<WebAnswer> {
  const tokens = await readTokens(host.engine, callOf(person), person.id);
  const credentials = await readCredentials(host.engine.database, person.account, person.id);
  const view: AccountView = {
    ...{ action: accountPath, csrf, name: person.name, email: person.email, ...shown },
    tokens: tokens.map(listed),
    totp: totpOf(host, person, credentials),
    hasPassword: credentials !== undefined,
  };
  return { status, page: accountPage(view) };
}

function listed(token: JsonObject): ListedToken {
  const text = (name: string) => String(token[name]);
  const used = token['last_used'] === undefined ? undefined : text('last_used');
  return {
    ...{ id: text('id'), name: text('name'), ends: text('expiration_date'), used },
    planOnly: token['plan_only'] === true,
  };
}

function totpOf(
  { engine }: ProviderContext,
  person: Person,
  credentials: Credentials | undefined,
): AccountView['totp'] {
  if (credentials === undefined || credentials.totpSecret === null) return 'off';
  if (credentials.totpConfirmed) return { codesLeft: credentials.recoveryCodes };
  return createAppSetup(openTotp(engine.planEnvironment, credentials), person.email);
}

function callOf({ account, revision, id, name, email }: Person): Call {
  return { account, revision, actor: { type: 'user', id, name, ...(email === '' ? {} : { email }) } };
}

async function handleStep(visit: Visit, step: string): Promise<WebAnswer> {
  // Changing the password requires the current password, so it needs no recent sign-in.
  if (step !== 'password' && !isRecent(visit.signedInAt, visit.host.now()))
    return { location: signInAddress(visit.host.publicUrl(), { prompt: 'login', state: 'again' }) };
  switch (step) {
    case 'make-token':
      return await makeOwnToken(visit);
    case 'delete-token':
      return await deleteOwnToken(visit);
    case 'password':
      return await answerOutcome(visit, 'password', await changeOwnPassword(visit));
    default:
      return await answerOutcome(visit, 'totp', await changeTotp(visit, step));
  }
}

/** Returns the page with its faults, or the page after the completed action. */
function answerOutcome(visit: Visit, at: 'password' | 'totp', outcome: FormOutcome): WebAnswer | Promise<WebAnswer> {
  if ('faults' in outcome) return show(visit, { faultyForm: at, faults: outcome.faults }, 422);
  const { action, codes } = outcome;
  return codes === undefined ? redirectAfter(action) : show(visit, { codes, doneText: actionTexts[action] });
}

function redirectAfter(action: string): WebAnswer {
  return { location: action === '' ? accountPath : `${accountPath}?done=${action}` };
}

async function makeOwnToken(visit: Visit): Promise<WebAnswer> {
  const { host, request, person } = visit;
  const [name, days] = [textIn(request.form, 'name').trim(), textIn(request.form, 'expires_in').trim()];
  const plansOnly = textIn(request.form, 'plan_only') === 'yes';
  const body = { name, expires_in: /^\d{1,4}$/.test(days) ? Number(days) : days, plan_only: plansOnly };
  const read = readBody(tokenRequest, body, { strict: false });
  if (read.faults.length > 0) {
    const words: Readonly<Record<string, string>> = {
      name: 'Give the token a name of at most 255 characters.',
      expires_in: 'Enter a whole number of days from 1 to 365.',
    };
    const wrong = read.faults.map(({ path = '' }) => path.slice(1)).filter((field) => field in words);
    const faults = Object.fromEntries(wrong.map((field) => [field, words[field] ?? '']));
    const filled = { name, expires_in: days, ...(plansOnly ? { plan_only: 'yes' } : {}) };
    return await show(visit, { faultyForm: 'token', faults, enteredValues: filled }, 422);
  }
  const made = await addToken(host.engine, callOf(person), person.id, read.body, () => {
    const value = makeToken(tokenPrefix, host.engine.planEnvironment.random(tokenRandomBytes));
    return { value, hash: hashToken(value) };
  });
  return await show(visit, { newToken: made.plain_token });
}

async function deleteOwnToken({ host, request, person }: Visit): Promise<WebAnswer> {
  try {
    await removeToken(host.engine, callOf(person), person.id, textIn(request.form, 'id'));
  } catch (error) {
    // The token was deleted in another window already: the result is the same.
    if (!(error instanceof NotFound)) throw error;
  }
  return redirectAfter('deleted');
}
