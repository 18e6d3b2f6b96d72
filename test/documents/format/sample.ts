import type { Renames } from '../../../src/documents/format/edits.ts';
import { type FormatResult, formatFile } from '../../../src/documents/format/format.ts';
import * as kinds from '../../../src/kinds/index.ts';
import { createRegistry } from '../../../src/model/declare/registry.ts';

const registry = createRegistry(Object.values(kinds));

/** Formats a text as the file `path`. */
export function format(text: string, path = 'a.yaml', fix?: Renames): FormatResult {
  return formatFile({ path, text }, { registry, ...(fix === undefined ? {} : { fix }) });
}

/** Returns the canonical form of a text. Throws when the text cannot be formatted. */
export function formatted(text: string, path?: string, fix?: Renames): string {
  const result = format(text, path, fix);
  if (result.type !== 'formatted') throw new Error(`expected a formatted text, got ${JSON.stringify(result)}`);
  return result.text;
}
