import { isObject, type JsonObject } from '../../../lib/json.ts';
import { type SealPurpose, sealedPrefix, type Vault } from '../../../model/schema/sealing.ts';

/** A sort of such texts: one of a sort is none of another. */
export interface Ticket {
  /** How the text begins. */
  readonly prefix: string;
  readonly purpose: SealPurpose;
}

/** Something that only servers of this installation can make and read, as text for a header. */
export function sealValue(vault: Vault, { prefix, purpose }: Ticket, value: JsonObject): string {
  const sealed = vault.seal(JSON.stringify(value), { purpose, path: [] });
  return prefix + Buffer.from(sealed.slice(sealedPrefix.length)).toString('base64url');
}

/** What was sealed; `undefined` for what no server of this installation made. */
export function openValue(vault: Vault, { prefix, purpose }: Ticket, text: string): JsonObject | undefined {
  if (!text.startsWith(prefix) || !/^[\w-]+$/.test(text) || text.length > 2000) return undefined;
  try {
    const sealed = sealedPrefix + Buffer.from(text.slice(prefix.length), 'base64url').toString('utf8');
    const value: unknown = JSON.parse(vault.open(sealed, { purpose, path: [] }));
    // It was written by `sealValue`.
    return isObject(value) ? (value as JsonObject) : undefined;
  } catch {
    // An invented one is answered like an unknown one, whatever is wrong with it.
    return undefined;
  }
}
