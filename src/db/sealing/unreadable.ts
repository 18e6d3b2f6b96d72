import type { SealContext, SealPurpose } from '../../model/schema/sealing.ts';

/** A stored secret that does not open with any key of the server. */
export interface UnreadableSecret {
  readonly what: SealPurpose;
  /** Absent for a secret of the server itself. */
  readonly account?: string;
  /** Id of the object, or of the other record that contains the secret. */
  readonly object: string;
  /** Path of the field in the object; empty for a secret that is not in an object. */
  readonly path: string;
  readonly reason: string;
}

/** Describes the secret in a context as unreadable. */
export function unreadableAt({ purpose: what, path }: SealContext, reason: string): UnreadableSecret {
  if (what === 'provider-key') return { what, object: path.join(' '), path: '', reason };
  const [account = '', object = '', ...rest] = path;
  return { what, account, object, path: rest.join('.'), reason };
}

/** An unreadable secret as an answer lists it. */
type Listed = Readonly<Record<'what' | 'object' | 'path' | 'reason', string>> & {
  readonly account?: string | undefined;
};

/** Returns where a secret is stored, and why it does not open, as a phrase. */
export function describeSecret({ what, account, object, path, reason }: Listed): string {
  const owner = account === undefined ? '' : `account ${account}, `;
  return `${owner}${what} ${object}${path === '' ? '' : `, ${path}`}: ${reason}`;
}
