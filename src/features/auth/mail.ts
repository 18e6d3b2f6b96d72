import { createTransport } from 'nodemailer';
import { codeOf } from '../../lib/error-code.ts';
import { isObject } from '../../lib/json.ts';
import { InvalidInput, Unavailable } from '../../model/errors.ts';

/** A mail, as plain text. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Sends mails. */
export interface Mailer {
  /** Resolves when the mail server has taken it. Throws `Unavailable`, or `InvalidInput` when it refuses the address. */
  send(mail: Mail): Promise<void>;
  close(): void;
}

/** How long the mail server may take for each step, in milliseconds. */
const patience = 5000;

/** A mailer that hands mails to a server, `smtp://…` (with STARTTLS where it is offered) or `smtps://…`. */
export function createMailer({ url, from }: { readonly url: string; readonly from: string }): Mailer {
  const timeouts = { connectionTimeout: patience, greetingTimeout: patience, socketTimeout: 2 * patience };
  const transport = createTransport({ url, ...timeouts, disableFileAccess: true, disableUrlAccess: true });
  const { host } = new URL(url);
  return {
    async send({ to, subject, text }) {
      try {
        // As an object, so that nothing in the address is read as a second one.
        await transport.sendMail({ from, to: { name: '', address: to }, subject, text });
      } catch (error) {
        throw explain(error, host, to);
      }
    },
    close: () => transport.close(),
  };
}

/** What a person can do about it. The URL is left out: it may contain a password. */
function explain(error: unknown, host: string, to: string): Error {
  const code = codeOf(error);
  const answered = isObject(error) ? Number(error['responseCode']) : 0;
  if (code === 'EENVELOPE' && answered >= 500) {
    const message = `the mail server ${host} does not accept the address ${to}; correct it. Nothing was made`;
    return new InvalidInput(message, { problems: [{ code: 'email_refused', path: '/email', message }] });
  }
  const reason = code === 'EAUTH' ? 'refuses the user and password in HEDDLE_SMTP_URL' : 'cannot be reached';
  return new Unavailable(
    `the mail server ${host} ${reason}, so no mail was sent and nothing was made; try again later, or start the server without HEDDLE_SMTP_URL to hand invitations over yourself`,
    { cause: error },
  );
}
