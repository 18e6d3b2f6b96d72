import { InvalidInput, Unavailable } from '../../model/errors.ts';
import { createMailTransport, type MailSettings } from '../../outbound/mail.ts';
import { MailFailure } from '../../outbound/mail-failure.ts';

/** A mail, as plain text. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Sends mails. */
export interface Mailer {
  /**
   * Resolves when the mail server has accepted the mail. Throws `Unavailable`, or `InvalidInput` when the mail server
   * refuses the address.
   */
  send(mail: Mail): Promise<void>;
  close(): void;
}

/** Creates a mailer that sends through a mail server. */
export function createMailer(settings: MailSettings): Mailer {
  const transport = createMailTransport(settings);
  return {
    async send({ to, subject, text }) {
      try {
        await transport.send({ to: [to], subject, text });
      } catch (error) {
        throw error instanceof MailFailure ? toCallerError(error, transport.host, to) : error;
      }
    },
    close: () => transport.close(),
  };
}

/** Returns the error for the caller, with advice on what to do. */
function toCallerError(error: MailFailure, host: string, to: string): Error {
  if (error.refusal === 'addresses') {
    const message = `the mail server ${host} does not accept the address ${to}; correct it. Nothing was created`;
    return new InvalidInput(message, { problems: [{ code: 'email_refused', path: '/email', message }] });
  }
  if (error.refusal === 'insecure')
    return new Unavailable(`${error.message}. No mail was sent and nothing was created`, { cause: error });
  const reason =
    error.refusal === 'credentials' ? 'rejects the user and password in HEDDLE_SMTP_URL' : 'cannot be reached';
  return new Unavailable(
    `the mail server ${host} ${reason}, so no mail was sent and nothing was created; try again later, or start the server without HEDDLE_SMTP_URL to hand over invitations yourself`,
    { cause: error },
  );
}
