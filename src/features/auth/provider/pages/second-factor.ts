import { field, form, problemMessage } from './form.ts';
import { Html, html } from './html.ts';
import { renderPage } from './layout.ts';
import type { Faults, FormContext } from './sign-in.ts';

/** Values for setting up an authenticator app. */
interface AppSetup {
  readonly secret: string;
  readonly uri: string;
  readonly picture: string;
}

/**
 * Renders the page that asks a person to set up an app during sign-in, because their account requires a second factor.
 */
export function appSetupPage({ action, csrf }: FormContext, app: AppSetup, faults: Faults = {}): string {
  const body = html`${problemMessage(faults.problem)}
<p>Your account requires a second factor from everybody who signs in with a password.</p>
${appPart(app)}
${form(
  action,
  { csrf, step: 'app' },
  html`${field({
    ...{ name: 'code', label: 'Code', fault: faults.fields?.['code'], autocomplete: 'one-time-code', focus: true },
    ...{ hint: 'The six digits that the app shows', extraAttributes: 'class="code" maxlength="30"' },
  })}
<button class="full">Switch it on and continue</button>`,
)}`;
  return renderPage({ title: 'Set up a second factor', problem: faults.problem !== undefined, body });
}

/** Renders the page that shows new recovery codes, only once, before the sign-in continues to the program. */
export function recoveryCodesPage({ action, csrf, client }: FormContext, codes: readonly string[]): string {
  const shown =
    codes.length > 0
      ? codesPart(codes)
      : html`<p>Your recovery codes were shown once. Make new ones on the page of your account if you did not keep them.</p>`;
  const body = html`<p>The second factor is on: from now on, signing in requires a code from the app.</p>
${shown}
${form(action, { csrf, step: 'codes-kept' }, html`<button class="full">Go on to ${client}</button>`)}`;
  return renderPage({ title: 'The second factor is on', body });
}

/** Renders the instructions for setting up an app. */
export function appPart({ secret, uri, picture }: AppSetup): Html {
  return html`<p>Scan this QR code with an authenticator app, or enter the secret in the app; then enter the code that the app shows.</p>
<div class="qr" role="img" aria-label="QR code of the secret below">${new Html(picture)}</div>
<p>Secret: <code class="secret" id="totp-secret">${secret}</code></p>
<p class="soft">As a URI: <code class="secret">${uri}</code></p>`;
}

/** Renders recovery codes, which replace the app. */
export function codesPart(codes: readonly string[]): Html {
  return html`<div class="done"><strong>Save your recovery codes now.</strong> They are not shown again. Without the app, you can sign in with each of them once.
<ul id="recovery-codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul></div>`;
}
