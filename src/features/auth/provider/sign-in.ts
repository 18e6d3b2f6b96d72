import type { errors, Interaction, InteractionResults } from 'oidc-provider';
import { changePassword } from '../../../db/accounts/credentials.ts';
import { passwordFault } from '../../../lib/new-password.ts';
import { checkPassword } from '../password-sign-in.ts';
import { hashPassword, verifyPassword } from '../passwords.ts';
import { findChosenAccount, offerAccounts } from './choose-account.ts';
import { clientIds } from './clients.ts';
import { recordSignIn } from './first-sign-in.ts';
import type { ProviderContext } from './host.ts';
import { type MessageName, messagePage } from './pages/plain.ts';
import { appSetupPage, recoveryCodesPage } from './pages/second-factor.ts';
import {
  codePage,
  consentPage,
  type Faults,
  type FormContext,
  newPasswordPage,
  passwordPage,
} from './pages/sign-in.ts';
import { type Person, type PersonWithPassword, personOf, readPersonWithPassword } from './people.ts';
import { createOwnRecords, type OwnRecords } from './records.ts';
import {
  createAppSetup,
  enableSecondFactor,
  openTotp,
  prepareAppSetup,
  requiresSecondFactor,
  useAppCode,
  useSecondFactor,
} from './second-factor.ts';
import { apiScopes, audienceOf } from './token-words.ts';
import { createCsrfToken, formatWait, isOurForm, textIn, type WebAnswer, type WebRequest } from './web.ts';

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
const stepTimeoutSeconds = 600;

interface SignInStep {
  readonly host: ProviderContext;
  readonly notes: OwnRecords<Progress>;
  readonly request: WebRequest;
  readonly interaction: Interaction;
  readonly formContext: FormContext;
  readonly targets: readonly string[];
}

/** Creates the pages of a sign-in. */
export function createSignInPages(host: ProviderContext): SignInPages {
  const notes = createOwnRecords<Progress>(host.records, 'Progress');
  return {
    async answer(uid, request) {
      const { provider, ring } = await host.openProvider();
      const interaction = await provider.interactionDetails(request.req, request.res).catch(ignoreEndedSession);
      if (interaction === undefined || interaction.uid !== uid) return message('ended', 400);
      const shownTo = `sign-in ${uid}`;
      if (request.form !== undefined && !isOurForm(request, ring.cookieSecret, shownTo)) return message('forged', 403);
      const client = await provider.Client.find(String(interaction.params['client_id']));
      const form = { action: `/signin/${uid}`, csrf: createCsrfToken(ring.cookieSecret, shownTo) };
      const step: SignInStep = {
        ...{ host, notes, request, interaction, targets: targetsOf(interaction) },
        formContext: { ...form, client: client?.clientName ?? 'the program' },
      };
      return interaction.prompt.name === 'consent' ? await handleConsent(step) : await signIn(step);
    },
  };
}

/** A missing cookie, or the cookie of an ended sign-in, is not an error to report. */
function ignoreEndedSession(error: errors.OIDCProviderError): undefined {
  if (error.name !== 'SessionNotFound') throw error;
  return undefined;
}

function message(name: MessageName, status: number): WebAnswer {
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

async function signIn(step: SignInStep): Promise<WebAnswer> {
  const { host, notes, request, interaction } = step;
  if (host.engine.registry.installation.localAuthDisabled) return message('local-off', 403);
  const progress = await notes.find(interaction.uid);
  const asked = textIn(request.form, 'step');
  if (asked === 'account') return handleAccountChoice(step);
  if (request.form === undefined || (progress === undefined && asked !== 'password')) return show(step, progress);
  if (asked === 'code' && progress?.wantsCode === true) return handleCode(step, progress);
  if (asked === 'new-password' && progress?.wantsPassword === true && !progress.wantsCode)
    return handleNewPassword(step, progress);
  const isLater = progress?.wantsCode === true || progress?.wantsPassword === true;
  if (asked === 'app' && progress?.wantsApp === true && !isLater) return handleAppSetup(step, progress);
  if (asked === 'codes-kept' && progress?.showsCodes === true) return continueAfterCodes(step, progress);
  return asked === 'password' ? handlePassword(step) : show(step, progress);
}

/** Returns the page of the next step. */
async function show(
  step: SignInStep,
  progress: Progress | undefined,
  faults?: Faults,
  status = 200,
): Promise<WebAnswer> {
  const { formContext, targets, interaction } = step;
  const answer = (page: string): WebAnswer => ({ status, page, targets });
  if (progress?.wantsCode === true) return answer(codePage(formContext, faults));
  if (progress?.wantsPassword === true) return answer(newPasswordPage(formContext, faults));
  if (progress?.showsCodes === true) return answer(recoveryCodesPage(formContext, []));
  if (progress?.wantsApp === true) return showApp(step, progress, faults, status);
  const hint = String(interaction.params['login_hint'] ?? '').slice(0, 254);
  const [email, account] = [textIn(step.request.form, 'email') || hint, textIn(step.request.form, 'account')];
  return answer(passwordPage(formContext, { email, account }, faults));
}

async function handlePassword(step: SignInStep): Promise<WebAnswer> {
  const { host, request, formContext, targets } = step;
  const [email, password] = [textIn(request.form, 'email').trim(), textIn(request.form, 'password')];
  const fields = {
    ...(email === '' ? { email: 'Enter your e-mail address.' } : {}),
    ...(password === '' ? { password: 'Enter your password.' } : {}),
  };
  if (email === '' || password === '') return show(step, undefined, { problem: 'Something is missing.', fields }, 422);
  const account = textIn(request.form, 'account').trim();
  const attempt = { address: request.address, person: email, password: password.slice(0, 2048) };
  const checked = await checkPassword(host.engine, host.signInLimits, {
    ...attempt,
    ...(account === '' ? {} : { account }),
  });
  if (checked.result === 'later') return showTooManyAttempts(step, undefined, checked.seconds);
  if (checked.result === 'wrong')
    return show(step, undefined, { problem: 'E-mail address or password is wrong.' }, 422);
  const [{ credentials, user, state }, ...more] = checked.matches;
  if (more.length === 0) return beginSignIn(step, { credentials, person: personOf(state, user, credentials) });
  const page = await offerAccounts(host, step.interaction.uid, formContext, checked.matches);
  return { status: 200, page, targets };
}

/** Handles the choice of a person whose password opens several accounts. */
async function handleAccountChoice(step: SignInStep): Promise<WebAnswer> {
  const known = await findChosenAccount(step.host, step.interaction.uid, textIn(step.request.form, 'account'));
  return known === undefined ? message('ended', 400) : beginSignIn(step, known);
}

/** Begins the sign-in of a person whose password was right. */
async function beginSignIn(step: SignInStep, { credentials, person }: PersonWithPassword): Promise<WebAnswer> {
  if (person.refusedBecause !== undefined) return message(person.refusedBecause, 403);
  return await advance(step, person, {
    ...{ user: person.id, account: person.account, amr: ['pwd'] },
    wantsCode: credentials.totpConfirmed,
    wantsPassword: credentials.oneTime,
    wantsApp: !credentials.totpConfirmed && (await requiresSecondFactor(step.host.engine, person)),
  });
}

async function showTooManyAttempts(
  step: SignInStep,
  progress: Progress | undefined,
  seconds: number,
): Promise<WebAnswer> {
  const problem = `Too many tries. Wait ${formatWait(seconds)} and try again.`;
  return { ...(await show(step, progress, { problem }, 429)), headers: { 'retry-after': String(seconds) } };
}

/** Redirects to the next step, or back to the program when no step is left. */
async function advance(
  { host, notes, request, interaction, formContext }: SignInStep,
  person: Person,
  progress: Progress,
) {
  if (progress.wantsCode || progress.wantsPassword || progress.wantsApp === true || progress.showsCodes === true) {
    await notes.put(interaction.uid, progress, stepTimeoutSeconds, person.id);
    return { location: formContext.action };
  }
  await notes.drop(interaction.uid);
  await recordSignIn(host.engine, person);
  return finish(host, request, { login: { accountId: person.id, amr: [...progress.amr] } });
}

async function finish(host: ProviderContext, { req, res }: WebRequest, result: InteractionResults): Promise<WebAnswer> {
  const { provider } = await host.openProvider();
  return { location: await provider.interactionResult(req, res, result, { mergeWithLastSubmission: false }) };
}

async function handleCode(step: SignInStep, progress: Progress): Promise<WebAnswer> {
  const { host, request } = step;
  const known = await readPersonWithPassword(host.engine, progress);
  if (known === undefined) return message('ended', 400);
  const guess = { address: request.address, person: `code of ${progress.user}` };
  const seconds = host.signInLimits.beginAttempt(guess);
  if (seconds > 0) return showTooManyAttempts(step, progress, seconds);
  if (!(await useSecondFactor({ host, ...known }, textIn(request.form, 'code')))) {
    const fault = 'Enter the code that the app shows now; each code works only once.';
    return show(step, progress, { problem: 'The code is wrong.', fields: { code: fault } }, 422);
  }
  host.signInLimits.recordSuccess(guess);
  return await advance(step, known.person, { ...progress, amr: [...progress.amr, 'otp'], wantsCode: false });
}

/** Returns the page for setting up an app. The secret is created when the page is first shown. */
async function showApp(step: SignInStep, progress: Progress, faults?: Faults, status = 200): Promise<WebAnswer> {
  const { host, formContext, targets } = step;
  const known = await readPersonWithPassword(host.engine, progress);
  if (known === undefined) return message('ended', 400);
  if (known.credentials.totpSecret === null) await prepareAppSetup({ host, ...known }, true);
  const credentials = (await readPersonWithPassword(host.engine, progress))?.credentials;
  if (credentials === undefined || credentials.totpSecret === null) return message('ended', 400);
  // The app was set up in another window.
  if (credentials.totpConfirmed) return message('ended', 400);
  const app = createAppSetup(openTotp(host.engine.planEnvironment, credentials), known.person.email);
  return { status, page: appSetupPage(formContext, app, faults), targets };
}

async function handleAppSetup(step: SignInStep, progress: Progress): Promise<WebAnswer> {
  const { host, notes, request, interaction, formContext, targets } = step;
  const known = await readPersonWithPassword(host.engine, progress);
  if (known === undefined || known.credentials.totpConfirmed) return message('ended', 400);
  if (known.credentials.totpSecret === null) return show(step, progress);
  const guess = { address: request.address, person: `code of ${progress.user}` };
  const seconds = host.signInLimits.beginAttempt(guess);
  if (seconds > 0) return showTooManyAttempts(step, progress, seconds);
  const factor = { host, ...known };
  const codes = (await useAppCode(factor, textIn(request.form, 'code'))) ? await enableSecondFactor(factor) : undefined;
  if (codes === undefined) {
    const fault = 'Enter the code that the app shows now; each code works only once.';
    return show(step, progress, { problem: 'The code is wrong.', fields: { code: fault } }, 422);
  }
  host.signInLimits.recordSuccess(guess);
  const next = { ...progress, amr: [...progress.amr, 'otp'], wantsApp: false, showsCodes: true };
  await notes.put(interaction.uid, next, stepTimeoutSeconds, known.person.id);
  return { status: 200, page: recoveryCodesPage(formContext, codes), targets };
}

async function continueAfterCodes(step: SignInStep, progress: Progress): Promise<WebAnswer> {
  const known = await readPersonWithPassword(step.host.engine, progress);
  if (known === undefined) return message('ended', 400);
  return await advance(step, known.person, { ...progress, showsCodes: false });
}

async function handleNewPassword(step: SignInStep, progress: Progress): Promise<WebAnswer> {
  const { host, request } = step;
  const known = await readPersonWithPassword(host.engine, progress);
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
    { ...change, replacedHash: credentials.hash },
    {
      actor: { type: 'user', id: person.id, name: person.name, email: person.email },
      event: { code: 'user.password.change', target: person.id, meta: {} },
      at: host.engine.now(),
    },
  );
  if (!isChanged) return message('ended', 400);
  return await advance(step, person, { ...progress, wantsPassword: false });
}

async function handleConsent(step: SignInStep): Promise<WebAnswer> {
  const { host, request, interaction, formContext, targets } = step;
  const person = await host.findPerson(interaction.session?.accountId ?? '');
  if (person === undefined) return message('ended', 400);
  if (request.form === undefined) {
    const view = { name: person.name, email: person.email, device: interaction.deviceCode !== undefined };
    return { status: 200, page: consentPage(formContext, view), targets };
  }
  if (textIn(request.form, 'answer') !== 'allow')
    return finish(host, request, { error: 'access_denied', error_description: 'the person denied access' });
  const grantId = await grant(host, interaction, person.id);
  return finish(host, request, { consent: { grantId } });
}

/** Grants what the program requests. Returns the id of the grant. */
async function grant(host: ProviderContext, { params, grantId }: Interaction, accountId: string): Promise<string> {
  const { provider } = await host.openProvider();
  const clientId = String(params['client_id'] ?? clientIds.cli);
  const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const given = known ?? new provider.Grant({ accountId, clientId });
  given.addOIDCScope(String(params['scope'] ?? 'openid'));
  given.addResourceScope(audienceOf(host.publicUrl()), apiScopes);
  return await given.save();
}
