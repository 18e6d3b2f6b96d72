import { field, form, problemMessage } from './form.ts';
import { Html, html } from './html.ts';
import { renderPage } from './layout.ts';

/** Values that every form of a sign-in needs: its target, and the token that proves that it comes from our page. */
export interface FormContext {
  readonly action: string;
  readonly csrf: string;
  /** Name of the program that the person signs in to. */
  readonly client: string;
}

/** Errors of the last attempt: for the form as a whole, and by field. */
export interface Faults {
  readonly problem?: string;
  readonly fields?: Readonly<Record<string, string>>;
}

/** E-mail address and account that a person entered. */
export interface EnteredIdentity {
  readonly email: string;
  /** Empty when the person named no account. */
  readonly account: string;
}

/**
 * Renders the page that asks for an e-mail address and a password, and for the account of people who are in several.
 */
export function passwordPage(
  { action, csrf, client }: FormContext,
  { email, account }: EnteredIdentity,
  faults: Faults = {},
): string {
  const { fields = {} } = faults;
  const wrong = faults.problem !== undefined && email !== '';
  const body = html`<p class="soft">to continue to ${client}</p>
${problemMessage(faults.problem)}
${form(
  action,
  { csrf, step: 'password' },
  html`${field({
    ...{ name: 'email', label: 'E-mail address', type: 'email', value: email, fault: fields['email'] },
    ...{ autocomplete: 'username', focus: !wrong, extraAttributes: 'inputmode="email" maxlength="254"' },
  })}
${field({
  ...{ name: 'password', label: 'Password', type: 'password', fault: fields['password'] },
  ...{ autocomplete: 'current-password', focus: wrong },
})}
<button class="full">Sign in</button>
<details${account !== '' && new Html(' open')}><summary>Are you in several accounts?</summary>
${field({
  ...{
    name: 'account',
    label: 'Account',
    value: account,
    optional: true,
    extraAttributes: 'maxlength="64" spellcheck="false"',
  },
  hint: 'The id of the account to sign in to; leave it empty if you have only one. Your invitation names it; the person who created your user knows it too',
})}
</details>`,
)}`;
  return renderPage({ title: 'Sign in', problem: faults.problem !== undefined, body });
}

/** One of several accounts that a password opens. */
export interface OfferedAccount {
  readonly account: string;
  /** Name of the person in that account. */
  readonly name: string;
}

/** Renders the page that asks which of several accounts to sign in to. */
export function accountsPage({ action, csrf, client }: FormContext, offered: readonly OfferedAccount[]): string {
  const body = html`<p>Your password is valid for several accounts. Which one should ${client} use?</p>
${form(
  action,
  { csrf, step: 'account' },
  offered.map(
    ({ account, name }) =>
      html`<p><button class="full" name="account" value="${account}">${account}${name !== '' && html`, as ${name}`}</button></p>`,
  ),
)}`;
  return renderPage({ title: 'Choose an account', body });
}

/** Renders the page that asks for the code of the second factor. */
export function codePage({ action, csrf }: FormContext, faults: Faults = {}): string {
  const body = html`${problemMessage(faults.problem)}
${form(
  action,
  { csrf, step: 'code' },
  html`${field({
    ...{ name: 'code', label: 'Code', fault: faults.fields?.['code'], autocomplete: 'one-time-code', focus: true },
    hint: 'The six digits that your authenticator app shows for Heddle, or one of your recovery codes',
    extraAttributes: 'class="code" maxlength="30"',
  })}
<button class="full">Continue</button>`,
)}
<p class="soft">Lost the device and the recovery codes? An administrator can delete your user and send you an invite.</p>`;
  return renderPage({ title: 'Enter your code', problem: faults.problem !== undefined, body });
}

/** Renders the page that asks for a password to replace the one that was generated for the first sign-in. */
export function newPasswordPage({ action, csrf }: FormContext, faults: Faults = {}): string {
  const { fields = {} } = faults;
  const body = html`${problemMessage(faults.problem)}
<p>The password that you entered works only once. Choose your own to go on.</p>
${form(
  action,
  { csrf, step: 'new-password' },
  html`${field({
    ...{ name: 'password', label: 'New password', type: 'password', fault: fields['password'] },
    ...{ hint: 'At least 8 characters; a few words in a row are easy to remember' },
    ...{ autocomplete: 'new-password', focus: fields['repeated'] === undefined },
  })}
${field({
  ...{ name: 'repeated', label: 'Repeat the new password', type: 'password', fault: fields['repeated'] },
  ...{ autocomplete: 'new-password', focus: fields['repeated'] !== undefined },
})}
<button class="full">Save and continue</button>`,
)}`;
  return renderPage({ title: 'Choose a password', problem: faults.problem !== undefined, body });
}

/** The signed-in person, and whether the program runs on another device. */
export interface Consent {
  readonly name: string;
  readonly email: string;
  readonly device: boolean;
}

/** Renders the page that asks whether a program may act for the person. */
export function consentPage({ action, csrf, client }: FormContext, { name, email, device }: Consent): string {
  const body = html`<p>You are signed in as <strong>${name === '' ? email : name}</strong>${name !== '' && email !== '' && ` (${email})`}.</p>
<p>${device ? `${client}, on your other device,` : client} will be able to:</p>
<ul><li>see your name and e-mail address</li><li>act in the account with your permissions until you sign it out or 30 days have passed</li></ul>
${form(
  action,
  { csrf, step: 'consent' },
  html`<div class="row"><button name="answer" value="allow" autofocus>Allow</button><button class="plain" name="answer" value="deny">Do not allow</button></div>`,
)}
<p class="soft">Not you? <a href="/oidc/session/end">Sign out</a> first.</p>`;
  return renderPage({ title: `Let ${client} act for you?`, body });
}
