/** How much a line matters, the least first. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const;

export type LogLevel = (typeof logLevels)[number];

/** One line of the log: a sentence for people, and fields for programs. */
export interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly [field: string]: unknown;
}

/** Writes one line. */
export type Log = (line: LogLine) => void;

/** Where log lines go, and in what form. */
export interface LogOptions {
  readonly format: 'text' | 'json';
  readonly write: (text: string) => void;
  readonly now?: () => Date;
  /** Lines that matter less are left out; absent: those for debugging. */
  readonly level?: LogLevel;
  /** Fields of every line that does not have them itself, such as the id of the request that is carried out. */
  readonly fields?: () => Readonly<Record<string, unknown>>;
}

/** Creates a log: text for people (`10:32:01  message  field=value`), or one JSON object a line. Secrets are left out. */
export function createLog(options: LogOptions): Log {
  const now = options.now ?? (() => new Date());
  const format = options.format === 'json' ? formatJson : formatText;
  const least = logLevels.indexOf(options.level ?? 'info');
  return (line) => {
    if (logLevels.indexOf(line.level) < least) return;
    const { level, message, ...own } = line;
    options.write(`${format({ level, message, ...options.fields?.(), ...own }, now())}\n`);
  };
}

/** Texts on their way out. */
export interface Gathering {
  write(text: string): void;
  /** Writes what waits. */
  flush(): void;
}

/** How long texts gather, in milliseconds. */
const gatherMs = 10;

/** Writes texts that come in quick succession at once: each write of its own costs a busy server as much as planning. */
export function gather(write: (text: string) => void): Gathering {
  let waiting = '';
  const flush = (): void => {
    const text = waiting;
    waiting = '';
    if (text !== '') write(text);
  };
  return {
    write(text) {
      if (waiting === '') setTimeout(flush, gatherMs);
      waiting += text;
    },
    flush,
  };
}

function formatJson({ level, message, ...fields }: LogLine, time: Date): string {
  return JSON.stringify({ time: time.toISOString(), level, message: redact(message), ...fields }, replacer);
}

const marks = { debug: 'debug: ', info: '', warn: 'warning: ', error: 'error: ' };

function formatText({ level, message, ...fields }: LogLine, time: Date): string {
  const shown = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${fieldText(name, value)}`);
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => String(part).padStart(2, '0'));
  return [`${clock.join(':')}  ${marks[level]}${oneLine(redact(message))}`, ...shown].join('  ');
}

function fieldText(name: string, value: unknown): string {
  const json = JSON.stringify(value, (inner, item) => replacer(inner === '' ? name : inner, item)) ?? '';
  return /^"[^\s"\\=]+"$/.test(json) ? json.slice(1, -1) : json;
}

/** A log line is one line, whatever the message holds. */
function oneLine(text: string): string {
  if (!/[\r\n]/.test(text)) return text;
  const lines = text.split(/[\r\n]/).map((line) => line.trim());
  return lines.filter((line) => line !== '').join(' ');
}

const secretName = /token|secret|password|authorization|cookie|credential|private_?key/i;

function replacer(name: string, value: unknown): unknown {
  if (value instanceof Error) return redact(value.message);
  if (typeof value !== 'string') return value;
  return secretName.test(name) && !/(file|path|id|name)$/i.test(name) ? '(secret)' : redact(value);
}

/** Tokens of this server, and signed ones of others. */
const tokens = /\bnb[a-z]_[\dA-Za-z]{30,}|(?<![\w-])eyJ[\w-]{5,}\.[\w-]+(?:\.[\w-]*)?/g;

/** What stands behind a scheme of authorization, and in a query under the name of a secret. */
const credentials =
  /(\b(?:bearer|basic|token) +(?=\S{16})|[?&](?:code|token|access_token|refresh_token|id_token|client_secret|device_code|user_code|state|password|key|signature)=)[^\s&#"']+/gi;

/** Tokens, credentials and the passwords of URLs, wherever they stand in a text. */
function redact(text: string): string {
  return hidePasswords(text.replace(tokens, '(secret)').replace(credentials, '$1(secret)'));
}

/** Each authority of a URL is looked at once, so that the time is in proportion to the text whatever stands in it. */
function hidePasswords(text: string): string {
  const pieces: string[] = [];
  let [written, next] = [0, 0];
  for (let sign = text.indexOf('://'); sign >= 0; sign = text.indexOf('://', next)) {
    const begin = sign + 3;
    next = endOfAuthority(text, begin);
    const authority = text.slice(begin, next);
    const [colon, at] = [authority.indexOf(':'), authority.lastIndexOf('@')];
    if (colon < 0 || at <= colon + 1) continue;
    pieces.push(text.slice(written, begin), `${authority.slice(0, colon)}:(secret)${authority.slice(at)}`);
    written = next;
  }
  return pieces.join('') + text.slice(written);
}

function endOfAuthority(text: string, begin: number): number {
  const ends = /[\s/]/g;
  ends.lastIndex = begin;
  return ends.exec(text)?.index ?? text.length;
}
