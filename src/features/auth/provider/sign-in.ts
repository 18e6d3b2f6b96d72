import type { errors, Interaction, InteractionResults } from 'oidc-provider';
import { changePassword } from '../../../db/accounts/credentials.ts';
import { passwordFault } from '../../../lib/new-password.ts';
import { checkPassword } from '../password-sign-in.ts';
import { hashPassword, verifyPassword } from '../passwords.ts';
import { chosenAccount, offerAccounts } from './choose-account.ts';
import { clientIds } from './clients.ts';
import { noteSignIn } from './first-sign-in.ts';
import type { Host } from './host.ts';
import { type Message, messagePage } from './pages/plain.ts';
import { recoveryCodesPage, setUpPage } from './pages/second-factor.ts';
import { codePage, consentPage, type Faults, newPasswordPage, type Place, passwordPage } from './pages/sign-in.ts';
import { type Known, type Person, personOf, readKnown } from './people.ts';
import { createNotes, type Notes } from './records.ts';
import {
  appOf,
  openTotp,
  prepareApp,
  switchOn,
  useAppCode,
  useSecondFactor,
  wantsSecondFactor,
} from './second-factor.ts';
import { apiScopes, audienceOf } from './token-words.ts';
import { formToken, inWords, isOurForm, textIn, type WebAnswer, type WebRequest } from './web.ts';

/** Progress of a sign-in. */
interface Progress {
  readonly user: string;
  readonly account: string;
  /** Authentication methods that the person has completed. */
  readonly amr: readonly string[];
  readonly wantsCode: boolean;
  readonly wantsPassword: boolean;
  /** Whether the account requires a second factor and the person has none yet. */
  readonly wantsApp?: boolean;
  /** Whether the second factor was just set up and its recovery codes were shown. */
  readonly showsCodes?: boolean;
}

/** Pages of a sign-in, between the request of a program and the answer to it. */
export interface SignInPages {
  answer(uid: string, request: WebRequest): Promise<WebAnswer>;
}

/** Maximum time between two steps of a sign-in, in seconds. */
const patience = 600;

interface Step {
  readonly host: Host;
  readonly notes: Notes<Progress>;
  readonly request: WebRequest;
  readonly interaction: Interaction;
  readonly place: Place;
  readonly targets: readonly string[];
}

/** Creates the pages of a sign-in. */
export function createSignInPages(host: Host): SignInPages {
  const notes = createNotes<Progress>(host.records, 'Progress');
  return {
    async answer(uid, request) {
      const { provider, ring } = await host.open();
      const interaction = await provider.interactionDetails(request.req, request.res).catch(endedOnly);
      if (interaction === undefined || interaction.uid !== uid) return message('ended', 400);
      const shownTo = `sign-in ${uid}`;
      if (request.form !== undefined && !isOurForm(request, ring.cookieSecret, shownTo)) return message('forged', 403);
      const client = await provider.Client.find(String(interaction.params['client_id']));
      const place = { action: `/signin/${uid}`, csrf: formToken(ring.cookieSecret, shownTo) };
      const step: Step = {
        ...{ host, notes, request, interaction, targets: targetsOf(interaction) },
        place: { ...place, client: client?.clientName ?? 'the program' },
      };
      return interaction.prompt.name === 'consent' ? await consent(step) : await signIn(step);
    },
  };
}

/** A missing cookie, or the cookie of an ended sign-in, is not an error to report. */
function endedOnly(error: errors.OIDCProviderError): undefined {
  if (error.name !== 'SessionNotFound') throw error;
  return undefined;
}

function message(name: Message, status: number): WebAnswer {
  return { status, page: messagePage(name) };
}

/**
 * Returns the origins to which the browser is redirected in the end. The Content-Security-Policy of the pages must
 * permit them.
 */
function targetsOf({ params }: Interaction): readonly string[] {
  const url = URL.parse(String(params['redirect_uri'] ?? ''));
  return url === null ? [] : [url.origin];
}

async function signIn(step: Step): Promise<WebAnswer> {
  const { host, notes, request, interaction } = step;
  if (host.engine.registry.installation.localAuthDisabled) return message('local-off', 403);
  const progress = await notes.find(interaction.uid);
  const asked = textIn(request.form, 'step');
  if (asked === 'account') return takeAccount(step);
  if (request.form === undefined || (progress === undefined && asked !== 'password')) return show(step, progress);
  if (asked === 'code' && progress?.wantsCode === true) return takeCode(step, progress);
  if (asked === 'new-password' && progress?.wantsPassword === true && !progress.wantsCode)
    return takeNewPassword(step, progress);
  const isLater = progress?.wantsCode === true || progress?.wantsPassword === true;
  if (asked === 'app' && progress?.wantsApp === true && !isLater) return takeApp(step, progress);
  if (asked === 'codes-kept' && progress?.showsCodes === true) return goOn(step, progress);
  return asked === 'password' ? takePassword(step) : show(step, progress);
}

/** Returns the page of the next step. */
async function show(step: Step, progress: Progress | undefined, faults?: Faults, status = 200): Promise<WebAnswer> {
  const { place, targets, interaction } = step;
  const answer = (page: string): WebAnswer => ({ status, page, targets });
  if (progress?.wantsCode === true) return answer(codePage(place, faults));
  if (progress?.wantsPassword === true) return answer(newPasswordPage(place, faults));
  if (progress?.showsCodes === true) return answer(recoveryCodesPage(place, []));
  if (progress?.wantsApp === true) return showApp(step, progress, faults, status);
  const hint = String(interaction.params['login_hint'] ?? '').slice(0, 254);
  const [email, account] = [textIn(step.request.form, 'email') || hint, textIn(step.request.form, 'account')];
  return answer(passwordPage(place, { email, account }, faults));
}

async function takePassword(step: Step): Promise<WebAnswer> {
  const { host, request, place, targets } = step;
  const [email, password] = [textIn(request.form, 'email').trim(), textIn(request.form, 'password')];
  const fields = {
    ...(email === '' ? { email: 'Enter your e-mail address.' } : {}),
    ...(password === '' ? { password: 'Enter your password.' } : {}),
  };
  if (email === '' || password === '') return show(step, undefined, { problem: 'Something is missing.', fields }, 422);
  const account = textIn(request.form, 'account').trim();
  const attempt = { address: request.address, person: email, password: password.slice(0, 2048) };
  const checked = await checkPassword(host.engine, host.guesses, {
    ...attempt,
    ...(account === '' ? {} : { account }),
  });
  if (checked.result === 'later') return later(step, undefined, checked.seconds);
  if (checked.result === 'wrong')
    return show(step, undefined, { problem: 'E-mail address or password is wrong.' }, 422);
  const [{ credentials, user }, ...more] = checked.matches;
  if (more.length === 0) return begin(step, { credentials, person: personOf(user, credentials) });
  const page = await offerAccounts(host, step.interaction.uid, place, checked.matches);
  return { status: 200, page, targets };
}

/** Handles the choice of a person whose password opens several accounts. */
async function takeAccount(step: Step): Promise<WebAnswer> {
  const known = await chosenAccount(step.host, step.interaction.uid, textIn(step.request.form, 'account'));
  return known === undefined ? message('ended', 400) : begin(step, known);
}

/** Begins the sign-in of a person whose password was right. */
async function begin(step: Step, { credentials, person }: Known): Promise<WebAnswer> {
  if (person.barred !== undefined) return message(person.barred, 403);
  return await advance(step, person, {
    ...{ user: person.id, account: person.account, amr: ['pwd'] },
    wantsCode: credentials.totpConfirmed,
    wantsPassword: credentials.oneTime,
    wantsApp: !credentials.totpConfirmed && (await wantsSecondFactor(step.host.engine, person)),
  });
}

async function later(step: Step, progress: Progress | undefined, seconds: number): Promise<WebAnswer> {
  const problem = `Too many tries. Wait ${inWords(seconds)} and try again.`;
  return { ...(await show(step, progress, { problem }, 429)), headers: { 'retry-after': String(seconds) } };
}

/** Redirects to the next step, or back to the program when no step is left. */
async function advance({ host, notes, request, interaction, place }: Step, person: Person, progress: Progress) {
  if (progress.wantsCode || progress.wantsPassword || progress.wantsApp === true || progress.showsCodes === true) {
    await notes.put(interaction.uid, progress, patience, person.id);
    return { location: place.action };
  }
  await notes.drop(interaction.uid);
  await noteSignIn(host.engine, person);
  return finish(host, request, { login: { accountId: person.id, amr: [...progress.amr] } });
}

async function finish(host: Host, { req, res }: WebRequest, result: InteractionResults): Promise<WebAnswer> {
  const { provider } = await host.open();
  return { location: await provider.interactionResult(req, res, result, { mergeWithLastSubmission: false }) };
}

async function takeCode(step: Step, progress: Progress): Promise<WebAnswer> {
  const { host, request } = step;
  const known = await readKnown(host.engine, progress);
  if (known === undefined) return message('ended', 400);
  const guess = { address: request.address, person: `code of ${progress.user}` };
  const seconds = host.guesses.begin(guess);
  if (seconds > 0) return later(step, progress, seconds);
  if (!(await useSecondFactor({ host, ...known }, textIn(request.form, 'code')))) {
    const fault = 'Enter the code that the app shows now; each code works only once.';
    return show(step, progress, { problem: 'The code is wrong.', fields: { code: fault } }, 422);
  }
  host.guesses.right(guess);
  return await advance(step, known.person, { ...progress, amr: [...progress.amr, 'otp'], wantsCode: false });
}

/** Returns the page for setting up an app. The secret is created when the page is first shown. */
async function showApp(step: Step, progress: Progress, faults?: Faults, status = 200): Promise<WebAnswer> {
  const { host, place, targets } = step;
  const known = await readKnown(host.engine, progress);
  if (known === undefined) return message('ended', 400);
  if (known.credentials.totpSecret === null) await prepareApp({ host, ...known }, true);
  const credentials = (await readKnown(host.engine, progress))?.credentials;
  if (credentials === undefined || credentials.totpSecret === null) return message('ended', 400);
  // The app was set up in another window.
  if (credentials.totpConfirmed) return message('ended', 400);
  const app = appOf(openTotp(host.engine.planEnvironment, credentials), known.person.email);
  return { status, page: setUpPage(place, app, faults), targets };
}

async function takeApp(step: Step, progress: Progress): Promise<WebAnswer> {
  const { host, notes, request, interaction, place, targets } = step;
  const known = await readKnown(host.engine, progress);
  if (known === undefined || known.credentials.totpConfirmed) return message('ended', 400);
  if (known.credentials.totpSecret === null) return show(step, progress);
  const guess = { address: request.address, person: `code of ${progress.user}` };
  const seconds = host.guesses.begin(guess);
  if (seconds > 0) return later(step, progress, seconds);
  const factor = { host, ...known };
  const codes = (await useAppCode(factor, textIn(request.form, 'code'))) ? await switchOn(factor) : undefined;
  if (codes === undefined) {
    const fault = 'Enter the code that the app shows now; each code works only once.';
    return show(step, progress, { problem: 'The code is wrong.', fields: { code: fault } }, 422);
  }
  host.guesses.right(guess);
  const next = { ...progress, amr: [...progress.amr, 'otp'], wantsApp: false, showsCodes: true };
  await notes.put(interaction.uid, next, patience, known.person.id);
  return { status: 200, page: recoveryCodesPage(place, codes), targets };
}

async function goOn(step: Step, progress: Progress): Promise<WebAnswer> {
  const known = await readKnown(step.host.engine, progress);
  if (known === undefined) return message('ended', 400);
  return await advance(step, known.person, { ...progress, showsCodes: false });
}

async function takeNewPassword(step: Step, progress: Progress): Promise<WebAnswer> {
  const { host, request } = step;
  const known = await readKnown(host.engine, progress);
  // A new password was chosen in another window, so the one-time password is no longer valid.
  if (known?.credentials.oneTime !== true) return message('ended', 400);
  const { credentials, person } = known;
  const password = textIn(request.form, 'password');
  const fault = passwordFault(password);
  const refuse = (fields: Readonly<Record<string, string>>) =>
    show(step, progress, { problem: 'The password was not saved.', fields }, 422);
  if (fault !== undefined) return refuse({ password: `A password ${fault}.` });
  if (password !== textIn(request.form, 'repeated')) return refuse({ repeated: 'The two passwords differ.' });
  if (await verifyPassword(host.engine, credentials.hash, password))
    return refuse({ password: 'Choose a password other than the one you were given.' });
  const change = {
    account: person.account,
    user: person.id,
    hash: await hashPassword(host.engine, password),
    oneTime: false,
  };
  const isChanged = await changePassword(
    host.engine.database,
    { ...change, replaces: credentials.hash },
    {
      actor: { type: 'user', id: person.id, name: person.name, email: person.email },
      event: { code: 'user.password.change', target: person.id, meta: {} },
      at: host.engine.now(),
    },
  );
  if (!isChanged) return message('ended', 400);
  return await advance(step, person, { ...progress, wantsPassword: false });
}

async function consent(step: Step): Promise<WebAnswer> {
  const { host, request, interaction, place, targets } = step;
  const person = await host.find(interaction.session?.accountId ?? '');
  if (person === undefined) return message('ended', 400);
  if (request.form === undefined) {
    const view = { name: person.name, email: person.email, device: interaction.deviceCode !== undefined };
    return { status: 200, page: consentPage(place, view), targets };
  }
  if (textIn(request.form, 'answer') !== 'allow')
    return finish(host, request, { error: 'access_denied', error_description: 'the person denied access' });
  const grantId = await grant(host, interaction, person.id);
  return finish(host, request, { consent: { grantId } });
}

/** Grants what the program requests. Returns the id of the grant. */
async function grant(host: Host, { params, grantId }: Interaction, accountId: string): Promise<string> {
  const { provider } = await host.open();
  const clientId = String(params['client_id'] ?? clientIds.cli);
  const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const given = known ?? new provider.Grant({ accountId, clientId });
  given.addOIDCScope(String(params['scope'] ?? 'openid'));
  given.addResourceScope(audienceOf(host.publicUrl()), apiScopes);
  return await given.save();
}
