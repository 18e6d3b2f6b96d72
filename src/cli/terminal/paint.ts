import { styleText } from 'node:util';

/** Colours a text, or returns it unchanged when colours are disabled. */
export type Paint = (style: Style, text: string) => string;

/** Styles of text, by meaning. */
export type Style = 'added' | 'removed' | 'changed' | 'faint' | 'strong' | 'warning' | 'error';

const styles = {
  added: 'green',
  removed: 'red',
  changed: 'yellow',
  faint: 'dim',
  strong: 'bold',
  warning: 'yellow',
  error: 'red',
} as const;

/** Returns a `Paint` that colours texts when `enabled`, else returns them unchanged. */
export function paint(enabled: boolean): Paint {
  if (!enabled) return (_, text) => text;
  return (style, text) => styleText(styles[style], text, { validateStream: false });
}

// Control characters and the marks that reverse the direction of text; line ends and tabs are dealt with by who writes lines.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const unprintable = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Returns a text that is safe to print: escapes characters that would move the cursor, change the screen or reverse the
 * text.
 */
export function printable(text: string): string {
  return text.replace(unprintable, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
