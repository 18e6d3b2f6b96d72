import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { onTestFinished } from 'vitest';
import { createMailTransport } from '../../src/outbound/mail.ts';
import type { Tls } from './counterpart.ts';

/** A mail as the mail server received it. */
export interface MailReceived {
  readonly to: readonly string[];
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** All text after the headers, decoded. */
  readonly body: string;
}

/** A mail server that runs in the test. */
export interface Mailbox {
  readonly received: readonly MailReceived[];
  /** Returns the number of mails that clients tried to send, refused ones included. */
  readonly attempts: () => number;
  /** Sets the SMTP reply codes to the next mails, one mail per code. Codes of 400 or more refuse the mail. */
  next(...codes: readonly number[]): void;
  /** SMTP URL for the Heddle server, with user and password. */
  readonly url: string;
  /** Passwords that arrived over a connection without TLS. */
  readonly inPlainText: readonly string[];
  /** Settings for a Heddle server that sends through this mail server. */
  readonly mail: { readonly transport: ReturnType<typeof createMailTransport>; readonly from: string };
}

/** How the Heddle server connects to the mail server, and which authorities it trusts. */
interface MailboxOptions {
  readonly password?: string;
  readonly scheme?: 'smtp' | 'smtps';
  /** Absent: the mail server does not offer TLS. */
  readonly tls?: Tls;
  /** Query of the SMTP URL, with its `?`. */
  readonly query?: string;
  readonly authorities?: string;
}

/** Starts a mail server that accepts mails from clients with the password `secret`. */
export async function startMailbox({
  password = 'secret',
  scheme = 'smtp',
  tls,
  query = tls === undefined ? '?ignoreTLS=true' : '',
  authorities,
}: MailboxOptions = {}): Promise<Mailbox> {
  const inPlainText: string[] = [];
  const received: MailReceived[] = [];
  const codes: number[] = [];
  let attempts = 0;
  const refusal = (responseCode: number) => Object.assign(new Error('refused'), { responseCode });
  const server = new SMTPServer({
    ...tls,
    secure: scheme === 'smtps',
    disabledCommands: tls === undefined ? ['STARTTLS'] : [],
    allowInsecureAuth: true,
    authMethods: ['PLAIN', 'LOGIN'],
    onAuth(auth, session, done) {
      if (!session.secure) inPlainText.push(String(auth.password));
      if (auth.password === 'secret') done(null, { user: auth.username });
      else done(new Error('no'));
    },
    onRcptTo: ({ address }, _session, done) => (address.startsWith('refused') ? done(refusal(550)) : done()),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        attempts += 1;
        const code = codes.shift();
        if (code !== undefined && code >= 400) {
          done(refusal(code));
          return;
        }
        const to = session.envelope.rcptTo.map(({ address }) => address);
        received.push({ to, ...read(Buffer.concat(chunks).toString('latin1')) });
        done();
      });
    },
  });
  // A client that does not trust the certificate disconnects during the TLS handshake.
  server.on('error', () => undefined);
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  // `address()` returns an `AddressInfo` for a server that listens over TCP.
  const { port } = listening.address() as AddressInfo;
  const url = `${scheme}://heddle:${password}@127.0.0.1:${port}/${query}`;
  const from = 'Heddle <heddle@mesh.example.com>';
  const transport = createMailTransport({ url, from, authorities, pool: true });
  onTestFinished(async () => {
    transport.close();
    await new Promise<void>((resolve) => server.close(resolve));
  });
  return {
    ...{ url, received, inPlainText, attempts: () => attempts, mail: { transport, from } },
    next: (...more) => void codes.push(...more),
  };
}

function read(text: string): Omit<MailReceived, 'to'> {
  const at = text.indexOf('\r\n\r\n');
  const unfolded = text.slice(0, at).replace(/\r\n[ \t]+/g, ' ');
  const headers = unfolded.split('\r\n').map((line): [string, string] => {
    const [, name = '', value = ''] = /^([^:]+):\s*(.*)$/.exec(line) ?? [];
    return [name.toLowerCase(), decodeWords(value)];
  });
  return { headers: Object.fromEntries(headers), body: decode(text.slice(at + 4)) };
}

/** Decodes quoted-printable text as UTF-8. */
function decode(text: string): string {
  const bytes = text
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** Decodes encoded words (RFC 2047) in headers. */
function decodeWords(text: string): string {
  return text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([QB])\?(.*?)\?=/gi, (_, way: string, word: string) =>
      way.toUpperCase() === 'B' ? Buffer.from(word, 'base64').toString('utf8') : decode(word.replaceAll('_', ' ')),
    );
}
