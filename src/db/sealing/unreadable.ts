import type { SealPlace, SealPurpose } from '../../model/schema/sealing.ts';

/** A stored secret that does not open with any key of the server. */
export interface UnreadableSecret {
  readonly what: SealPurpose;
  /** Absent for what is the server's own. */
  readonly account?: string;
  /** The id of the object, or of what else the secret belongs to. */
  readonly object: string;
  /** The field of the object; empty elsewhere. */
  readonly path: string;
  readonly reason: string;
}

/** The text in a place that does not open. */
export function unreadableAt({ purpose: what, path }: SealPlace, reason: string): UnreadableSecret {
  if (what === 'provider-key') return { what, object: path.join(' '), path: '', reason };
  const [account = '', object = '', ...rest] = path;
  return { what, account, object, path: rest.join('.'), reason };
}

/** Such a secret as an answer lists it. */
type Listed = Readonly<Record<'what' | 'object' | 'path' | 'reason', string>> & {
  readonly account?: string | undefined;
};

/** Where a secret stands and why it does not open, as a phrase. */
export function describeSecret({ what, account, object, path, reason }: Listed): string {
  const owner = account === undefined ? '' : `account ${account}, `;
  return `${owner}${what} ${object}${path === '' ? '' : `, ${path}`}: ${reason}`;
}
