import { printable } from './lib/text/printable.ts';

/** Log levels, the least important first. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const;

export type LogLevel = (typeof logLevels)[number];

/** One log line: a sentence for people, and fields for programs. */
export interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly [field: string]: unknown;
}

/** Writes one log line. */
export type Log = (line: LogLine) => void;

/** Destination and form of the log. */
export interface LogOptions {
  readonly format: 'text' | 'json';
  readonly write: (text: string) => void;
  readonly now?: () => Date;
  /** Minimum level of the lines that are written. Absent: `info`. */
  readonly level?: LogLevel;
  /** Returns fields for every line that does not set them itself, such as the id of the current request. */
  readonly fields?: () => Readonly<Record<string, unknown>>;
}

/**
 * Creates a log that writes text for people (`10:32:01  message  field=value`), or one JSON object per line. Secrets
 * are replaced.
 */
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

/** Writer that joins texts before it writes them. */
export interface BufferedWriter {
  write(text: string): void;
  /** Writes the texts that are waiting. */
  flush(): void;
}

/** Time for which texts are collected, in milliseconds. */
const flushDelayMs = 10;

/**
 * Creates a writer that joins texts written in quick succession. A separate write for each text costs a busy server as
 * much as planning.
 */
export function createBufferedWriter(write: (text: string) => void): BufferedWriter {
  let waiting = '';
  const flush = (): void => {
    const text = waiting;
    waiting = '';
    if (text !== '') write(text);
  };
  return {
    write(text) {
      if (waiting === '') setTimeout(flush, flushDelayMs);
      waiting += text;
    },
    flush,
  };
}

function formatJson({ level, message, ...fields }: LogLine, time: Date): string {
  return JSON.stringify({ time: time.toISOString(), level, message: redact(message), ...fields }, replacer);
}

const levelPrefixes = { debug: 'debug: ', info: '', warn: 'warning: ', error: 'error: ' };

function formatText({ level, message, ...fields }: LogLine, time: Date): string {
  const shown = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${fieldText(name, value)}`);
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => String(part).padStart(2, '0'));
  return [`${clock.join(':')}  ${levelPrefixes[level]}${oneLine(redact(message))}`, ...shown].join('  ');
}

function fieldText(name: string, value: unknown): string {
  const json = JSON.stringify(value, (inner, item) => replacer(inner === '' ? name : inner, item)) ?? '';
  return printable(/^"[^\s"\\=]+"$/.test(json) ? json.slice(1, -1) : json);
}

/**
 * Returns the text on one line, because a log line must not contain line breaks. Other control characters are escaped:
 * the text may come from tenants, and the terminal of the operator would obey them.
 */
function oneLine(text: string): string {
  if (!/[\r\n]/.test(text)) return printable(text);
  const lines = text.split(/[\r\n]/).map((line) => line.trim());
  return printable(lines.filter((line) => line !== '').join(' '));
}

const secretNamePattern = /token|secret|password|authorization|cookie|credential|private_?key/i;

function replacer(name: string, value: unknown): unknown {
  if (value instanceof Error) return redact(value.message);
  if (typeof value !== 'string') return value;
  return secretNamePattern.test(name) && !/(file|path|id|name)$/i.test(name) ? '(secret)' : redact(value);
}

/** Tokens of this server, and JWTs of other issuers. */
const tokenPattern = /\bnb[a-z]_[\dA-Za-z]{30,}|(?<![\w-])eyJ[\w-]{5,}\.[\w-]+(?:\.[\w-]*)?/g;

/** Credentials after an authorization scheme, and values of query parameters whose names indicate secrets. */
const credentialPattern =
  /(\b(?:bearer|basic|token) +(?=\S{16})|[?&](?:code|token|access_token|refresh_token|id_token|client_secret|device_code|user_code|state|password|key|signature)=)[^\s&#"']+/gi;

/** Replaces tokens, credentials and the passwords of URLs anywhere in a text. */
function redact(text: string): string {
  return hidePasswords(text.replace(tokenPattern, '(secret)').replace(credentialPattern, '$1(secret)'));
}

/**
 * Replaces the passwords of URLs. Scans the authority of each URL once, so the time is proportional to the length of
 * any text.
 */
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
