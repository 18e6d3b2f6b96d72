import { isObject, type Json } from '../json.ts';
import { nearest } from '../nearest.ts';

/** The values of a template, by name. */
type Values<Name extends string> = Readonly<Record<Name, Json>>;

/** A text with placeholders for values. The rendered text is JSON for any values. */
export interface JsonTemplate<Name extends string> {
  render(values: Values<Name>): string;
}

/** A placeholder for a value. */
interface Placeholder<Name extends string> {
  readonly name: Name;
  /** Name of the member of the value to insert, always as text. Absent: the whole value. */
  readonly member: string | undefined;
  /** Whether the placeholder is inside a JSON string. */
  readonly isQuoted: boolean;
}

interface TemplateFault {
  readonly fault: string;
}

/**
 * Parses a template in the syntax of Go: `{{.Name}}` and `{{.Name.member}}`. A placeholder inside quotes becomes part
 * of the string; elsewhere it becomes a complete JSON value. Returns a fault when the text is not a template or does
 * not render to JSON. Rendering the samples is enough to find that out, because other values give JSON in the same
 * cases.
 */
export function parseJsonTemplate<Name extends string>(
  text: string,
  samples: Values<Name>,
): JsonTemplate<Name> | TemplateFault {
  // `Object.keys` loses the type of the keys.
  const names = Object.keys(samples) as Name[];
  const parts: (string | Placeholder<Name>)[] = [];
  let isQuoted = false;
  let end = 0;
  // Two searches for texts: a regular expression would read the rest of the text again for each `{{` without a `}}`.
  for (let begin = text.indexOf('{{'); begin >= 0; begin = text.indexOf('{{', end)) {
    const close = text.indexOf('}}', begin + 2);
    if (close < 0) return { fault: 'a `{{` has no closing `}}`; add it' };
    const fixed = text.slice(end, begin);
    isQuoted = isQuotedAfter(fixed, isQuoted);
    const placeholder = parsePlaceholder(text.slice(begin + 2, close), names);
    if ('fault' in placeholder) return placeholder;
    parts.push(fixed, { ...placeholder, isQuoted });
    end = close + 2;
  }
  const rest = text.slice(end);
  const template: JsonTemplate<Name> = {
    render: (values) => [...parts, rest].map((part) => renderPart(part, values)).join(''),
  };
  const fault = explainInvalidJson(template.render(samples));
  return fault === undefined ? template : { fault };
}

function isQuotedAfter(fixed: string, before: boolean): boolean {
  const quotes = [...fixed.matchAll(/\\.|"/gs)].filter(([mark]) => mark === '"');
  return quotes.length % 2 === 0 ? before : !before;
}

function parsePlaceholder<Name extends string>(
  inner: string,
  names: readonly Name[],
): Omit<Placeholder<Name>, 'isQuoted'> | TemplateFault {
  const [, named = '', member] = /^\s*\.(\w+)(?:\.([\w-]+))?\s*$/.exec(inner) ?? [];
  const name = names.find((known) => known === named);
  if (name !== undefined) return { name, member };
  const guess = nearest(named, names);
  const known = names.map((one) => `{{.${one}}}`).join(', ');
  const hint = guess === undefined ? `there are ${known}` : `did you mean {{.${guess}}}?`;
  return { fault: `\`{{${inner.slice(0, 60)}}}\` is not a known value; ${hint}` };
}

function renderPart<Name extends string>(part: string | Placeholder<Name>, values: Values<Name>): string {
  if (typeof part === 'string') return part;
  const { name, member, isQuoted } = part;
  const value = member === undefined ? values[name] : plainText(memberOf(values[name], member));
  return isQuoted ? JSON.stringify(plainText(value)).slice(1, -1) : JSON.stringify(value);
}

function memberOf(value: Json, member: string): Json {
  return isObject(value) && Object.hasOwn(value, member) ? (value[member] ?? '') : '';
}

function plainText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function explainInvalidJson(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return `its output is not JSON (${error.message})`;
  }
}
