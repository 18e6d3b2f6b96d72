import { createTransport } from 'nodemailer';
import { codeOf } from '../lib/error-code.ts';
import { certificateFault, trustIn } from './certificates.ts';
import { MailFailure, type MailRefusal } from './mail-failure.ts';

/** A mail to the addresses of one list. */
export interface OutgoingMail {
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  /** With angle brackets; absent: some. */
  readonly messageId?: string;
  /** Names in the spelling of mails. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The mail server and the sender. */
export interface MailSettings {
  /**
   * `smtps://…`, or `smtp://…` with STARTTLS: where it is offered, and always when there are credentials, unless the URL ends
   * with `?ignoreTLS=true`.
   */
  readonly url: string;
  /** Certificates (PEM) of authorities that are trusted besides those that the machine trusts. */
  readonly authorities?: string | undefined;
  readonly from: string;
  /** Connections are kept for the next mails. */
  readonly pool?: boolean;
}

/** Sends mails through the mail server. */
export interface MailTransport {
  /** The host of the mail server. */
  readonly host: string;
  /** Resolves when the mail server has taken it; returns the addresses that it refused beside. Throws `MailFailure`. */
  send(mail: OutgoingMail): Promise<readonly string[]>;
  close(): void;
}

/** How long the mail server may take for each step, in milliseconds. */
const patience = 5000;

/** Creates a transport; nothing is connected before the first mail. */
export function createMailTransport({ url, from, authorities, pool = false }: MailSettings): MailTransport {
  const timeouts = { connectionTimeout: patience, greetingTimeout: patience, socketTimeout: 2 * patience };
  const security = { ...(demandsTls(url) ? { requireTLS: true } : {}), tls: { ...trustIn(authorities) } };
  const options = { url, ...timeouts, ...security, disableFileAccess: true, disableUrlAccess: true };
  const transport = pool ? createTransport({ ...options, pool: true, maxConnections: 2 }) : createTransport(options);
  const { host } = new URL(url);
  return {
    host,
    async send({ to, subject, text, html, messageId, headers }) {
      try {
        const { rejected = [] } = await transport.sendMail({
          ...{ from, subject, text },
          // As objects, so that nothing in an address is read as a second one.
          to: to.map((address) => ({ name: '', address })),
          ...(html === undefined ? {} : { html }),
          ...(messageId === undefined ? {} : { messageId }),
          ...(headers === undefined ? {} : { headers }),
        });
        return rejected.map(String);
      } catch (error) {
        throw failureOf(error, host);
      }
    },
    close: () => transport.close(),
  };
}

/** Credentials go over TLS: a host in between could otherwise read them, by hiding that TLS is offered. */
function demandsTls(url: string): boolean {
  const { protocol, username, password, searchParams } = new URL(url);
  return protocol === 'smtp:' && `${username}${password}` !== '' && searchParams.get('ignoreTLS') !== 'true';
}

/** The URL is left out: it may contain a password. */
function failureOf(cause: unknown, host: string): MailFailure {
  const code = codeOf(cause);
  const answered = answerOf(cause);
  const isFinal = answered >= 500;
  const failed = (refusal: MailRefusal, message: string) => new MailFailure(refusal, message, { cause });
  const fault = certificateFault(originalCodeOf(cause)) ?? (code === 'ETLS' ? noTls : undefined);
  if (fault !== undefined) return failed('insecure', `the mail server ${host} ${fault}`);
  if (code === 'EAUTH')
    return failed('credentials', `the mail server ${host} refuses the user and password of this server`);
  if (code === 'EENVELOPE' && isFinal)
    return failed('addresses', `the mail server ${host} accepts none of the addresses`);
  // Other answers are about the connection, which another mail would not have either.
  if (code === 'EMESSAGE' && isFinal) return failed('content', `the mail server ${host} answers ${answered}`);
  const why = answered > 0 ? `answers ${answered}` : 'cannot be reached';
  return failed('away', `the mail server ${host} ${why}`);
}

const noTls =
  'offers no TLS, and nothing is sent to it without; the operator can write smtps:// in HEDDLE_SMTP_URL, or ?ignoreTLS=true behind it where the network in between is trusted';

/** What the socket said, which the library puts aside for a code of its own. */
function originalCodeOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'originalCode' in error ? error.originalCode : undefined;
  return typeof code === 'string' ? code : undefined;
}

function answerOf(error: unknown): number {
  return typeof error === 'object' && error !== null && 'responseCode' in error ? Number(error.responseCode) : 0;
}
