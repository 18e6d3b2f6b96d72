import type { Mail } from './mail.ts';

/** Content of a mail that invites a person. */
export interface Invitation {
  readonly to: string;
  /** Empty when not given. */
  readonly name: string;
  readonly invitedBy: string;
  /** Id of the account. */
  readonly account: string;
  readonly link: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** Returns the mail that invites a person. */
export function inviteMail({ to, name, invitedBy, account, link, expiresAt }: Invitation): Mail {
  const lines = [
    name === '' ? 'Hello,' : `Hello ${oneLine(name)},`,
    '',
    `${oneLine(invitedBy)} invites you to a private network that is managed with Heddle.`,
    'Choose a password to join:',
    '',
    link,
    '',
    `The link is for you alone and works once, until ${formatTime(expiresAt)}.`,
    `If you are a user of several accounts, or other accounts also use your address, sign in to the account ${account}.`,
    'If you do not expect this invitation, you need not do anything.',
    '',
  ];
  return { to, subject: 'You are invited to a private network', text: lines.join('\n') };
}

/** Names are entered by users, so they must not be able to add lines to the mail. */
function oneLine(text: string): string {
  return text.replace(/[\p{C}\s]+/gu, ' ').trim();
}

function formatTime(timestamp: string): string {
  return `${timestamp.slice(0, 10)} ${timestamp.slice(11, 16)} UTC`;
}

/**
 * Returns the link by which an invite is accepted in a browser. Only mailed links contain the proof, in the fragment,
 * which browsers send to no server.
 */
export function inviteLink(publicUrl: string, token: string, proof?: string): string {
  return `${publicUrl}/invite/${token}${proof === undefined ? '' : `#${proof}`}`;
}
