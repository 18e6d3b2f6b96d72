import type { Client, KoaContextWithOIDC } from 'oidc-provider';
import { field, form, problemMessage } from './form.ts';
import { html } from './html.ts';
import { renderPage } from './layout.ts';

function sendPage(ctx: KoaContextWithOIDC, page: string): void {
  ctx.type = 'html';
  ctx.body = page;
}

/** Returns the secret that proves that a form comes from our page. The provider stored it in the session. */
export function secretOf({ oidc }: KoaContextWithOIDC): string {
  return String(oidc.session?.state?.['secret'] ?? '');
}

const faults: Readonly<Record<string, string>> = {
  NoCodeError: 'Enter the code that your other device shows.',
  NotFoundError: 'This code does not exist. Compare it letter by letter with the one on your other device.',
  ExpiredError: 'This code has expired. Start the sign-in on your other device again to get a new one.',
  AlreadyUsedError: 'This code was used already. Start the sign-in on your other device again to get a new one.',
};

/** Returns the code in the address, which is present when the person followed the complete link of a device. */
function codeInAddress(ctx: KoaContextWithOIDC): string | undefined {
  const address = (ctx.req as { readonly originalUrl?: string }).originalUrl ?? '';
  return new URLSearchParams(address.split('?')[1] ?? '').get('user_code')?.slice(0, 20) ?? undefined;
}

/** Pages for the sign-in of a machine without a browser, in the form that the provider expects. */
export const devicePages = {
  userCodeInputSource(ctx: KoaContextWithOIDC, _form: string, _out?: unknown, error?: Error & { userCode?: string }) {
    if (error?.name === 'AbortedError') {
      const body = html`<p>The other device was not signed in. You can close this page.</p>`;
      return sendPage(ctx, renderPage({ title: 'The sign-in was cancelled', body }));
    }
    const fault = error && (faults[error.name] ?? 'This did not work. Enter the code again.');
    const value = error?.userCode ?? codeInAddress(ctx);
    const code = field({
      ...{ name: 'user_code', label: 'Code', value, fault, focus: true },
      hint: 'Eight letters, such as BCDF-GHJK',
      extraAttributes: 'class="code" autocapitalize="characters" spellcheck="false" maxlength="20"',
    });
    const body = html`${problemMessage(fault && 'The code was not accepted.')}
<p class="soft">You are about to sign in another device, such as a server without a browser.</p>
${form(ctx.oidc.urlFor('code_verification'), { xsrf: secretOf(ctx) }, html`${code}<button class="full">Continue</button>`)}`;
    return sendPage(ctx, renderPage({ title: 'Enter the code of your device', problem: fault !== undefined, body }));
  },
  userCodeConfirmSource(ctx: KoaContextWithOIDC, _form: string, client: Client, info: unknown, userCode: string) {
    const { ip = 'unknown' } = info as { readonly ip?: string };
    const hidden = { xsrf: secretOf(ctx), user_code: userCode, confirm: 'yes' };
    const body = html`<p><strong>${client.clientName ?? client.clientId}</strong> asks to be signed in as you. It runs at the address ${ip}.</p>
<p>It must show this code:</p>
<p class="code">${userCode}</p>
<p class="soft">Continue only if you started this sign-in yourself. If another person sent you a code or a link, they want to sign in as you.</p>
${form(
  ctx.oidc.urlFor('code_verification'),
  hidden,
  html`<div class="row"><button>The codes are the same</button><button class="plain" name="abort" value="yes">Cancel</button></div>`,
)}`;
    return sendPage(ctx, renderPage({ title: 'Is this your device?', body }));
  },
  successSource(ctx: KoaContextWithOIDC) {
    const body = html`<p>Your device is signed in. Continue there; you can close this page.</p>`;
    return sendPage(ctx, renderPage({ title: 'Done', body }));
  },
};
