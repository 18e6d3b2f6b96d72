import type { Format } from '../../model/schema/field.ts';

/** An e-mail address as it is written, without the space around it. */
export const email: Format = {
  name: 'email',
  pattern: '[^@<>]+@[^@<>]+',
  canonical(text) {
    const value = text.trim();
    if (/^[^\s@<>]{1,64}@[^\s@<>]+\.[^\s@<>.]+$/.test(value) && value.length <= 254) return { value };
    return { fault: `\`${text}\` is not an e-mail address; write one such as ana@example.com` };
  },
};

const words: Readonly<Record<string, boolean>> = Object.fromEntries([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((word) => [word, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((word) => [word, false] as const),
]);

/** A yes or no in a query, in the spellings that clients use. */
export function parseFlag(text: string): boolean | undefined {
  return Object.hasOwn(words, text) ? words[text] : undefined;
}
