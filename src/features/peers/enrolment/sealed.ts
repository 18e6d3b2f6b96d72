import { isObject, type JsonObject } from '../../../lib/json.ts';
import { type SealPurpose, sealedPrefix, type Vault } from '../../../model/schema/sealing.ts';

/** A type of sealed text. A text of one type is not accepted as another. */
export interface SealedTextType {
  /** Prefix of the text. */
  readonly prefix: string;
  readonly purpose: SealPurpose;
}

/** Seals a value as a text for a header. Only servers of this installation can make and read it. */
export function sealValue(vault: Vault, { prefix, purpose }: SealedTextType, value: JsonObject): string {
  const sealed = vault.seal(JSON.stringify(value), { purpose, path: [] });
  return prefix + Buffer.from(sealed.slice(sealedPrefix.length)).toString('base64url');
}

/** Returns the value of a sealed text, `undefined` when no server of this installation sealed it. */
export function openValue(vault: Vault, { prefix, purpose }: SealedTextType, text: string): JsonObject | undefined {
  if (!text.startsWith(prefix) || !/^[\w-]+$/.test(text) || text.length > 2000) return undefined;
  try {
    const sealed = sealedPrefix + Buffer.from(text.slice(prefix.length), 'base64url').toString('utf8');
    const value: unknown = JSON.parse(vault.open(sealed, { purpose, path: [] }));
    // The value was written by `sealValue`.
    return isObject(value) ? (value as JsonObject) : undefined;
  } catch {
    // A forged text gets the same answer as an unknown one, whatever is wrong with it.
    return undefined;
  }
}
