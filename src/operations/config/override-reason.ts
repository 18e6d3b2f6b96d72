import { type Field, type Format, string } from '../../model/schema/field.ts';

const longest = 500;

const reason: Format = {
  name: 'override',
  canonical(text) {
    const value = text.trim();
    if (value !== '' && value.length <= longest) return { value };
    return { fault: `\`override\` must give the reason, in at most ${longest} characters` };
  },
};

/**
 * Returns the field with the reason for a manual apply of a source that a server runs: at most 500 characters, trimmed.
 */
export function overrideReason(doc: string): Field<string> {
  return string({ doc, minLength: 1, format: reason });
}
