import type { Setting } from '../config.ts';
import { type Parsed, parseSwitch } from './parse.ts';

/** Settings for mail to users, and for the deletion of users. */
export interface PeopleConfig {
  readonly smtpUrl: string | undefined;
  readonly smtpUrlFile: string | undefined;
  readonly mailFrom: string | undefined;
  readonly userDeleteFromIdp: boolean;
}

/** Declarations of the settings for mail and users. */
export const peopleSettings: { readonly [K in keyof PeopleConfig]: Setting<PeopleConfig[K]> } = {
  smtpUrl: {
    variable: 'HEDDLE_SMTP_URL',
    placeholder: 'URL',
    doc: 'Mail server for invitations, smtp://USER:PASSWORD@HOST:587 or smtps://HOST; without it, you hand over invitation links yourself. Passwords are sent over TLS only, unless the URL ends with ?ignoreTLS=true.',
    default: undefined,
    parse: ([text = '']) => parseSmtpUrl(text),
  },
  smtpUrlFile: {
    variable: 'HEDDLE_SMTP_URL_FILE',
    placeholder: 'FILE',
    doc: 'File that holds this URL.',
    default: undefined,
    parse: ([text = '']) => ({ value: text.trim() }),
  },
  mailFrom: {
    variable: 'HEDDLE_MAIL_FROM',
    placeholder: 'ADDRESS',
    doc: 'Sender of mails, such as Heddle <heddle@example.com>; required with a mail server.',
    default: undefined,
    parse: ([text = '']) => parseSender(text),
  },
  userDeleteFromIdp: {
    flag: 'user-delete-from-idp',
    variable: 'HEDDLE_USER_DELETE_FROM_IDP',
    placeholder: 'true|false',
    isSwitch: true,
    doc: 'Whether deleting a user also deletes the user and their password from the identity provider of this server (default false).',
    default: false,
    parse: ([text = '']) => parseSwitch(text),
  },
};

/** Checks the URL of a mail server. The fault does not repeat the text, which may contain a password. */
export function parseSmtpUrl(text: string): Parsed<string> {
  const url = URL.parse(text);
  if (url !== null && ['smtp:', 'smtps:'].includes(url.protocol) && url.hostname !== '') return { value: text };
  return { fault: 'is not the URL of a mail server; write smtp://USER:PASSWORD@HOST:587 or smtps://HOST' };
}

function parseSender(text: string): Parsed<string> {
  if (/^(?:[^<>\r\n]*<[^\s@<>]+@[^\s@<>]+>|[^\s@<>]+@[^\s@<>]+)$/.test(text)) return { value: text };
  return { fault: `is \`${text}\`; write an address such as heddle@example.com or Heddle <heddle@example.com>` };
}
