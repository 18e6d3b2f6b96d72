import { accountPath } from '../clients.ts';
import { form } from './form.ts';
import { html } from './html.ts';
import { renderPage } from './layout.ts';

/** Texts of pages that show only a message. */
const messages = {
  blocked: {
    title: 'You are blocked',
    text: 'An administrator of your account has blocked you. Ask them to unblock you; your password is not the cause.',
  },
  pending: {
    title: 'Your access waits for approval',
    text: 'An administrator must approve your access first. Come back after the approval; you need not do anything else.',
  },
  promoted: {
    title: 'This password is no longer valid',
    text: 'You are an owner, and others may know this one-time password. Ask an owner of your account for an invitation link.',
  },
  'local-off': {
    title: 'Passwords are switched off here',
    text: 'On this server, people can sign in with another identity provider only. Use that provider; passwords of this server do not work while `local_auth_disabled` is on.',
  },
  ended: {
    title: 'This sign-in has ended',
    text: 'It took too long, it was finished already, or it belongs to another browser. Go back to the program that sent you here and sign in again.',
  },
  forged: {
    title: 'The form could not be accepted',
    text: 'It was not sent from the page that this server showed to this browser. Go back, load the page again and send the form again; your browser must accept cookies of this server.',
  },
  missing: { title: 'There is nothing here', text: 'Check the address.' },
} as const;

/** Name of a page that shows only a message. */
export type MessageName = keyof typeof messages;

/** Renders a page that shows only a message. */
export function messagePage(name: MessageName): string {
  const { title, text } = messages[name];
  return renderPage({ title, problem: true, body: html`<p>${text}</p>` });
}

const reasons: Readonly<Record<string, string>> = {
  invalid_redirect_uri:
    'The program that sent you here asked to send you back to an address that is not registered for it.',
  invalid_client: 'The program that sent you here is not known on this server.',
  access_denied: 'You did not allow access. The program received nothing.',
};

/** Renders an error between a program and the provider. The codes are for the developer of the program. */
export function errorPage(error: string, description = ''): string {
  const reason =
    error === 'server_error'
      ? 'The server had an internal error, which is in its log. Try again.'
      : (reasons[error] ?? 'The program that sent you here sent a request that the server cannot fulfil.');
  return renderPage({
    title: 'Signing in did not work',
    problem: true,
    body: html`<p>${reason}</p>
<p class="soft">For the developer of the program: <code>${error}</code>${description !== '' && html` (${description})`}.</p>`,
  });
}

/** Renders the page that asks whether to sign out. `secret` proves that the form comes from this page. */
export function signOutPage(secret: string, action: string): string {
  const body = form(
    action,
    { xsrf: secret },
    html`<p>You will be signed out of this browser. Programs on the command line stay signed in.</p>
<div class="row"><button name="logout" value="yes" autofocus>Sign out</button><button class="plain">Stay signed in</button></div>`,
  );
  return renderPage({ title: 'Sign out?', body });
}

/** Renders the page that is shown after signing out. */
export function signedOutPage(): string {
  return renderPage({
    title: 'You are signed out',
    body: html`<p>You can close this page, or <a href="${accountPath}">sign in again</a>.</p>`,
  });
}
