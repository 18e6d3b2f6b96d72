import { type Field, type Format, string } from '../../model/schema/field.ts';

const longest = 500;

const reason: Format = {
  name: 'override',
  canonical(text) {
    const value = text.trim();
    if (value !== '' && value.length <= longest) return { value };
    return { fault: `\`override\` must say why, in at most ${longest} characters` };
  },
};

/** Why something is applied by hand although a server runs its source. */
export function overrideReason(doc: string): Field<string> {
  return string({ doc, minLength: 1, format: reason });
}
