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
