import { doneMessage, field, form, problemMessage } from './form.ts';
import { Html, type HtmlPart, html } from './html.ts';
import { renderPage } from './layout.ts';
import { appPart, codesPart } from './second-factor.ts';

/** A token as the page lists it. */
export interface ListedToken {
  readonly id: string;
  readonly name: string;
  /** Time at which the token expires, in ISO 8601. */
  readonly ends: string;
  readonly used: string | undefined;
  readonly planOnly: boolean;
}

/** Content of the page, and the result of the last form. */
export interface AccountView {
  readonly action: string;
  readonly csrf: string;
  readonly name: string;
  readonly email: string;
  readonly tokens: readonly ListedToken[];
  /** Value of a token that was just created; shown only once. */
  readonly newToken?: string;
  readonly doneText?: string | undefined;
  /** The form that contains an error. */
  readonly faultyForm?: 'token' | 'password' | 'totp';
  readonly faults?: Readonly<Record<string, string>>;
  readonly enteredValues?: Readonly<Record<string, string>>;
  /** Recovery codes that were just created; shown only once. */
  readonly codes?: readonly string[];
  readonly totp:
    | 'off'
    | { readonly codesLeft: number }
    | { readonly secret: string; readonly uri: string; readonly picture: string };
  readonly hasPassword: boolean;
}

/** Renders a person's own page: tokens, password, second factor. */
export function accountPage(view: AccountView): string {
  const wrong = view.faultyForm !== undefined;
  const body = html`${problemMessage(wrong ? 'The form has an error; see below.' : undefined)}${doneMessage(view.doneText)}
<div class="row"><p>Signed in as <strong>${view.name === '' ? view.email : view.name}</strong>${view.name !== '' && ` (${view.email})`}. <a href="/oidc/session/end">Sign out</a></p></div>
${tokensPart(view)}
${view.hasPassword && passwordPart(view)}
${view.hasPassword && totpPart(view)}`;
  return renderPage({ title: 'Your account', wide: true, problem: wrong, body });
}

function tokensPart(view: AccountView): Html {
  const { action, csrf, tokens, newToken, enteredValues = {} } = view;
  const faults = view.faultyForm === 'token' ? (view.faults ?? {}) : {};
  const wrong = Object.keys(faults)[0];
  return html`<section aria-labelledby="tokens"><h2 id="tokens">Personal access tokens</h2>
<p class="soft">For programs and for <code>curl</code>: they act as you. The value of a token is shown once, when it is made.</p>
${newToken !== undefined && html`<div class="done" role="status"><strong>Copy your new token now.</strong> It is not shown again.<code class="secret" id="made-token" tabindex="0">${newToken}</code></div>`}
${tokens.length === 0 ? html`<p>You have none.</p>` : tokenTable(view)}
${form(
  action,
  { csrf, step: 'make-token' },
  html`${field({ name: 'name', label: 'Name', value: enteredValues['name'], fault: faults['name'], hint: 'What will use it, such as CI', focus: wrong === 'name', extraAttributes: 'maxlength="255"' })}
${field({ name: 'expires_in', label: 'Days until it expires', type: 'number', value: enteredValues['expires_in'] ?? '90', fault: faults['expires_in'], hint: '1 to 365', focus: wrong === 'expires_in', extraAttributes: 'min="1" max="365"' })}
<div class="field check"><input type="checkbox" id="plan_only" name="plan_only" value="yes"${enteredValues['plan_only'] !== undefined && new Html(' checked')}><label for="plan_only">It may only read and plan, and write nothing</label></div>
<button>Make a token</button>`,
)}</section>`;
}

function tokenTable({ action, csrf, tokens }: AccountView): Html {
  const rows = tokens.map(
    ({
      id,
      name,
      ends,
      used,
      planOnly,
    }) => html`<tr><td>${name}${planOnly && html` <span class="soft">(plans only)</span>`}</td><td>${dayOf(ends)}</td><td>${used === undefined ? 'never' : dayOf(used)}</td>
<td>${form(action, { csrf, step: 'delete-token', id }, html`<button class="danger" aria-label="Delete the token ${name}">Delete</button>`)}</td></tr>`,
  );
  return html`<div class="scroll"><table aria-labelledby="tokens"><thead><tr><th scope="col">Name</th><th scope="col">Ends</th><th scope="col">Last used</th><th scope="col">Action</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

function dayOf(time: string): HtmlPart {
  return html`<time datetime="${time}">${time.slice(0, 10)}</time>`;
}

function passwordPart(view: AccountView): Html {
  const faults = view.faultyForm === 'password' ? (view.faults ?? {}) : {};
  const [wrong] = Object.keys(faults);
  const line = (name: string, label: string, autocomplete: string, hint?: string) =>
    field({
      ...{ name, label, autocomplete, type: 'password', fault: faults[name], focus: wrong === name },
      ...(hint === undefined ? {} : { hint }),
    });
  return html`<section aria-labelledby="password-part"><h2 id="password-part">Password</h2>
<p class="soft">A new password signs you out everywhere else.</p>
${form(
  view.action,
  { csrf: view.csrf, step: 'password' },
  html`${line('old_password', 'Present password', 'current-password')}
${line('new_password', 'New password', 'new-password', 'At least 8 characters')}
${line('repeated', 'Repeat the new password', 'new-password')}
<button>Change the password</button>`,
)}</section>`;
}

function totpPart(view: AccountView): Html {
  return html`<section aria-labelledby="totp-part"><h2 id="totp-part">Second factor</h2>
${totpBody(view)}</section>`;
}

function totpBody({ action, csrf, totp, faultyForm, codes, faults = {} }: AccountView): Html {
  const fault = faultyForm === 'totp' ? faults['code'] : undefined;
  if (totp === 'off')
    return html`<p>With a second factor, signing in also requires a code from an authenticator app, so a stolen password alone is not enough.</p>
${form(action, { csrf, step: 'totp-begin' }, html`<button>Set up a second factor</button>`)}`;
  const code = field({
    ...{ name: 'code', label: 'Code', fault, autocomplete: 'one-time-code', focus: fault !== undefined },
    ...{ hint: 'The six digits that the app shows', extraAttributes: 'class="code" maxlength="30"' },
  });
  if ('codesLeft' in totp)
    return html`<p>The second factor is on: signing in requires a code from your authenticator app.</p>
${codes !== undefined && codesPart(codes)}
<p>${totp.codesLeft === 1 ? '1 recovery code is' : `${totp.codesLeft} recovery codes are`} left for signing in without the app.</p>
${form(action, { csrf }, html`${code}<div class="row"><button class="plain" name="step" value="totp-codes">Make new recovery codes</button><button class="danger" name="step" value="totp-remove">Switch it off</button></div>`)}`;
  return html`${appPart(totp)}
${form(action, { csrf, step: 'totp-confirm' }, html`${code}<button>Switch it on</button>`)}
${form(action, { csrf, step: 'totp-cancel' }, html`<button class="plain">Cancel</button>`)}`;
}
