/** A piece of HTML, in which all texts are escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Content of a piece of HTML. `undefined` and `false` are rendered as nothing. */
export type HtmlPart = Html | string | number | undefined | false | readonly HtmlPart[];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Builds HTML. Every inserted text is escaped, for elements and for quoted attributes. */
export function html(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return new Html(strings.map((string, at) => string + (at < parts.length ? textOf(parts[at]) : '')).join(''));
}

function textOf(part: HtmlPart): string {
  if (part === undefined || part === false) return '';
  if (part instanceof Html) return part.text;
  // `Array.isArray` does not narrow `readonly` arrays.
  if (typeof part === 'object') return part.map(textOf).join('');
  return String(part).replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
