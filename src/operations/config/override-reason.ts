import { type Field, string } from '../../model/schema/field.ts';
import type { Format } from '../../model/schema/format.ts';

const maxReasonLength = 500;

const reason: Format = {
  name: 'override',
  canonical(text) {
    const value = text.trim();
    if (value !== '' && value.length <= maxReasonLength) return { value };
    return { fault: `\`override\` must give the reason, in at most ${maxReasonLength} characters` };
  },
};

/**
 * Returns the field with the reason for a manual apply of a source that a server runs: at most 500 characters, trimmed.
 */
export function overrideReason(doc: string): Field<string> {
  return string({ doc, minLength: 1, format: reason });
}
