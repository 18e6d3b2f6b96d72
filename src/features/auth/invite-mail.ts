import type { Mail } from './mail.ts';

/** The content of a mail that invites a person. */
export interface Invitation {
  readonly to: string;
  /** Empty when not given. */
  readonly name: string;
  readonly invitedBy: string;
  /** The id of the account. */
  readonly account: string;
  readonly link: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** The mail that invites a person. */
export function inviteMail({ to, name, invitedBy, account, link, expiresAt }: Invitation): Mail {
  const lines = [
    name === '' ? 'Hello,' : `Hello ${oneLine(name)},`,
    '',
    `${oneLine(invitedBy)} invites you to a private network that is managed with Heddle.`,
    'Choose a password to come in:',
    '',
    link,
    '',
    `The link is for you alone and works once, until ${readable(expiresAt)}.`,
    `If you are in several accounts, or others claim your address, sign in to the account ${account}.`,
    'If you do not expect this invitation, you need not do anything.',
    '',
  ];
  return { to, subject: 'You are invited to a private network', text: lines.join('\n') };
}

/** Names come from people: they may not begin a line of their own. */
function oneLine(text: string): string {
  return text.replace(/[\p{C}\s]+/gu, ' ').trim();
}

function readable(timestamp: string): string {
  return `${timestamp.slice(0, 10)} ${timestamp.slice(11, 16)} UTC`;
}

/** Where an invite is accepted in a browser. Only mails contain the proof, and browsers send it to no server. */
export function inviteLink(publicUrl: string, token: string, proof?: string): string {
  return `${publicUrl}/invite/${token}${proof === undefined ? '' : `#${proof}`}`;
}
