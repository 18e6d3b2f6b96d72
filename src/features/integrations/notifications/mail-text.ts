import type { OutgoingMail } from '../../../outbound/mail.ts';
import { requestHeader } from '../deliveries/events.ts';
import type { DeliveryEvent } from '../deliveries/target.ts';

/** Values that all mails of a channel share. */
export interface MailFrame {
  readonly account: string;
  readonly channel: string;
  readonly to: readonly string[];
  /** Host in the message ids of mails. */
  readonly host: string;
  /**
   * Address of the page where recipients change their notifications. Absent: the server does not know its own address.
   */
  readonly settingsUrl?: string | undefined;
}

const maxSubjectLength = 200;

/** Returns the mail about one event, or about several events as a list. The same events give the same mail. */
export function notificationMail(frame: MailFrame, events: readonly DeliveryEvent[]): OutgoingMail {
  const [first] = events;
  const subject =
    first !== undefined && events.length === 1 ? `${first.activity}: ${nameOf(first)}` : `${events.length} events`;
  const { settingsUrl } = frame;
  const { 'x-request-id': request } = requestHeader(events);
  return {
    to: frame.to,
    subject: oneLine(`[Heddle] ${subject}`).slice(0, maxSubjectLength),
    text: textOf(frame, events),
    html: htmlOf(frame, events),
    messageId: `<${frame.channel}.${idRangeOf(events)}@${frame.host}>`,
    headers: {
      'Auto-Submitted': 'auto-generated',
      ...(request === undefined ? {} : { 'X-Request-Id': request }),
      ...(settingsUrl === undefined ? {} : { 'List-Unsubscribe': `<${settingsUrl}>` }),
    },
  };
}

function idRangeOf(events: readonly DeliveryEvent[]): string {
  return [...new Set([events[0]?.id ?? 0, events.at(-1)?.id ?? 0])].join('-');
}

function nameOf({ target }: DeliveryEvent): string {
  return target.name === '' ? target.id : target.name;
}

/** Returns the details of an event for the mail, as pairs of name and value. */
function rowsOf(event: DeliveryEvent): readonly (readonly [name: string, value: string])[] {
  const { at, code, initiator, target, meta, id, requestId } = event;
  const by = initiator.email === '' ? initiator.name : `${initiator.name} <${initiator.email}>`;
  const more = Object.entries(meta).filter(([name]) => name !== 'name');
  const rows: readonly (readonly [string, string])[] = [
    ['When', formatTime(at)],
    ['By', by],
    ['Target', target.name === '' ? target.id : `${target.name} (${target.id})`],
    ...more.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const),
    ['Event', `${id} (${code})`],
    ['Request', requestId ?? ''],
  ];
  return rows.map(([name, value]) => [oneLine(name), oneLine(value)] as const).filter(([, value]) => value !== '');
}

function lineOf(event: DeliveryEvent): string {
  const { at, activity, initiator } = event;
  return oneLine(
    `${formatTime(at)} ${activity}: ${nameOf(event)}${initiator.name === '' ? '' : `, by ${initiator.name}`}`,
  );
}

function textOf(frame: MailFrame, events: readonly DeliveryEvent[]): string {
  const [only] = events;
  const lines =
    only !== undefined && events.length === 1
      ? [oneLine(`${only.activity}: ${nameOf(only)}`), '', ...rowsOf(only).map(([name, value]) => `${name}: ${value}`)]
      : [`${events.length} events, the oldest first:`, '', ...events.map(lineOf)];
  return [...lines, '', footerOf(frame), ''].join('\n');
}

function htmlOf(frame: MailFrame, events: readonly DeliveryEvent[]): string {
  const [only] = events;
  const body =
    only !== undefined && events.length === 1
      ? `<p><b>${escapeHtml(oneLine(`${only.activity}: ${nameOf(only)}`))}</b></p><table>${rowsOf(only)
          .map(([name, value]) => `<tr><td>${escapeHtml(name)}</td><td>${escapeHtml(value)}</td></tr>`)
          .join('')}</table>`
      : `<p>${events.length} events, the oldest first:</p><ul>${events.map((event) => `<li>${escapeHtml(lineOf(event))}</li>`).join('')}</ul>`;
  return `<!doctype html><html><body>${body}<p><small>${escapeHtml(footerOf(frame))}</small></p></body></html>`;
}

function footerOf({ account, channel, settingsUrl }: MailFrame): string {
  const where = settingsUrl === undefined ? '' : ` How to change it: ${settingsUrl}`;
  return `The notification channel ${channel} of the account ${account} sent this message.${where}`;
}

function formatTime(timestamp: string): string {
  return `${timestamp.slice(0, 10)} ${timestamp.slice(11, 19)} UTC`;
}

/** Returns a text on one line. Names come from users and must not start a new line in the mail. */
function oneLine(text: string): string {
  return text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim();
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
