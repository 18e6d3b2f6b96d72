import { isObject, type JsonObject } from '../lib/json.ts';
import { sealedPrefix, type Vault } from '../model/means.ts';

/** Something that only servers of this installation can make and read, as text for a header. */
export function sealValue(vault: Vault, prefix: string, value: JsonObject): string {
  return prefix + Buffer.from(vault.seal(JSON.stringify(value)).slice(sealedPrefix.length)).toString('base64url');
}

/** What was sealed; `undefined` for what no server of this installation made. */
export function openValue(vault: Vault, prefix: string, text: string): JsonObject | undefined {
  if (!text.startsWith(prefix) || !/^[\w-]+$/.test(text) || text.length > 2000) return undefined;
  try {
    const sealed = sealedPrefix + Buffer.from(text.slice(prefix.length), 'base64url').toString('utf8');
    const value: unknown = JSON.parse(vault.open(sealed));
    // It was written by `sealValue`.
    return isObject(value) ? (value as JsonObject) : undefined;
  } catch {
    // Whoever made it up is told that it is not known, whatever is wrong with it.
    return undefined;
  }
}
