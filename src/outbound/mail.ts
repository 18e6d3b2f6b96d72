import { createTransport } from 'nodemailer';
import { codeOf } from '../lib/error-code.ts';
import { certificateFault, trustAuthorities } from './certificates.ts';
import { MailFailure, type MailRefusal } from './mail-failure.ts';

/** A mail, and the addresses that it is sent to. */
export interface OutgoingMail {
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  /** Value of `Message-ID`, in angle brackets. Absent: one is generated. */
  readonly messageId?: string;
  /** Additional headers, by name as mails spell it. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** URL of the mail server, and the sender. */
export interface MailSettings {
  /**
   * `smtps://…`, or `smtp://…` with STARTTLS. STARTTLS is used when the server offers it; it is required when the URL
   * contains credentials, unless the URL ends with `?ignoreTLS=true`.
   */
  readonly url: string;
  /** Certificates (PEM) of authorities that are trusted in addition to those that the machine trusts. */
  readonly authorities?: string | undefined;
  readonly from: string;
  /** Whether connections are kept open for later mails. */
  readonly pool?: boolean;
}

/** Sends mails through a mail server. */
export interface MailTransport {
  /** Host of the mail server, with its port if the URL has one. */
  readonly host: string;
  /**
   * Resolves when the mail server has accepted the mail, to the addresses that it refused nevertheless. Throws
   * `MailFailure` when the mail was not accepted.
   */
  send(mail: OutgoingMail): Promise<readonly string[]>;
  close(): void;
}

/** Timeout of each step of the mail server, in milliseconds. */
const stepTimeoutMs = 5000;

/** Creates a transport. Connects only when the first mail is sent. */
export function createMailTransport({ url, from, authorities, pool = false }: MailSettings): MailTransport {
  const timeouts = {
    connectionTimeout: stepTimeoutMs,
    greetingTimeout: stepTimeoutMs,
    socketTimeout: 2 * stepTimeoutMs,
  };
  const security = { ...(demandsTls(url) ? { requireTLS: true } : {}), tls: { ...trustAuthorities(authorities) } };
  const options = { url, ...timeouts, ...security, disableFileAccess: true, disableUrlAccess: true };
  const transport = pool ? createTransport({ ...options, pool: true, maxConnections: 2 }) : createTransport(options);
  const { host } = new URL(url);
  return {
    host,
    async send({ to, subject, text, html, messageId, headers }) {
      try {
        const { rejected = [] } = await transport.sendMail({
          ...{ from, subject, text },
          // Passed as objects, so that no part of an address is parsed as a second address.
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

/**
 * Whether STARTTLS is required: credentials are only sent over TLS. Otherwise a host between this server and the mail
 * server could read them, by hiding that the mail server offers TLS.
 */
function demandsTls(url: string): boolean {
  const { protocol, username, password, searchParams } = new URL(url);
  return protocol === 'smtp:' && `${username}${password}` !== '' && searchParams.get('ignoreTLS') !== 'true';
}

/** Translates an error of the mail library. The message omits the URL, which may contain a password. */
function failureOf(cause: unknown, host: string): MailFailure {
  const code = codeOf(cause);
  const answered = responseCodeOf(cause);
  const isFinal = answered >= 500;
  const failed = (refusal: MailRefusal, message: string) => new MailFailure(refusal, message, { cause });
  const fault = certificateFault(originalCodeOf(cause)) ?? (code === 'ETLS' ? noTlsMessage : undefined);
  if (fault !== undefined) return failed('insecure', `the mail server ${host} ${fault}`);
  if (code === 'EAUTH')
    return failed('credentials', `the mail server ${host} refuses the user and password of this server`);
  if (code === 'EENVELOPE' && isFinal)
    return failed('addresses', `the mail server ${host} accepts none of the addresses`);
  // All other answers concern the connection, and would be the same for another mail.
  if (code === 'EMESSAGE' && isFinal) return failed('content', `the mail server ${host} answers ${answered}`);
  const why = answered > 0 ? `answers ${answered}` : 'cannot be reached';
  return failed('away', `the mail server ${host} ${why}`);
}

const noTlsMessage =
  'offers no TLS, and nothing is sent without TLS; the operator can write smtps:// in HEDDLE_SMTP_URL, or append ?ignoreTLS=true when the network in between is trusted';

/** Returns the error code of the socket, which the library replaces by a code of its own in `code`. */
function originalCodeOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'originalCode' in error ? error.originalCode : undefined;
  return typeof code === 'string' ? code : undefined;
}

function responseCodeOf(error: unknown): number {
  return typeof error === 'object' && error !== null && 'responseCode' in error ? Number(error.responseCode) : 0;
}
