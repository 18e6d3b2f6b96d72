import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/lib/json.ts';

/** Source of decisions about how a text is written. The decisions are taken one after the other. */
export interface Choices {
  /** Returns the next number, from 0 to `count - 1`. */
  pick(count: number): number;
}

/** Generates choices that a property test can shrink. */
export const choices: fc.Arbitrary<Choices> = fc
  .array(fc.nat({ max: 9999 }), { minLength: 40, maxLength: 400 })
  .map((numbers) => {
    let at = 0;
    return {
      pick(count) {
        const number = numbers[at % numbers.length] ?? 0;
        at += 1;
        return number % count;
      },
    };
  });

const words = [
  'staff',
  'a b',
  '443',
  'yes',
  'null',
  '# no',
  'x: y',
  "it's",
  'say "hi"',
  'a\\b',
  '',
  '1.10',
  'ü→',
  '- a',
  '{',
  '*.x',
];
const blockTexts = ['one\ntwo\n', 'one\n\ntwo', '  deep\nless\n', 'tail\n\n\n', 'a b\nc d\n', '# text\n'];

/** Returns a document that can be read, with known and unknown members in its spec. */
export function documentOf(choice: Choices, at: number): JsonObject {
  const kind = ['Policy', 'Group', 'Network', 'Unknown'][choice.pick(4)] ?? 'Group';
  const rules = Array.from({ length: choice.pick(3) }, () => mapOf(choice, ['protocol', 'name', 'ports', 'zeta'], 2));
  const spec = {
    ...mapOf(choice, ['enabled', 'name', 'alpha', 'description'], 3),
    ...(choice.pick(2) === 0 ? {} : { rules }),
  };
  const metadata = { labels: { b: 'x', a: 'y' }, name: `n${at}` };
  return { kind, spec, metadata, apiVersion: 'heddle.dev/v1' };
}

function mapOf(choice: Choices, names: readonly string[], depth: number): JsonObject {
  const entries = names.flatMap((name) => (choice.pick(3) === 0 ? [] : [[name, jsonOf(choice, depth)] as const]));
  return Object.fromEntries(entries);
}

function jsonOf(choice: Choices, depth: number): Json {
  switch (choice.pick(depth > 0 ? 8 : 5)) {
    case 0:
      return choice.pick(2) === 0;
    case 1:
      return choice.pick(2) === 0 ? null : choice.pick(70_000);
    case 2:
      return blockTexts[choice.pick(blockTexts.length)] ?? '';
    case 5:
      return mapOf(choice, ['name', 'b', 'a'], depth - 1);
    case 6:
    case 7:
      return Array.from({ length: choice.pick(4) }, () => jsonOf(choice, depth - 1));
    default:
      return words[choice.pick(words.length)] ?? '';
  }
}

/** Writes a document as YAML in one of many ways, with comments in all positions where people put them. */
export function writeAtWill(choice: Choices, document: JsonObject): string {
  const writer = { choice, comments: 0 };
  return [...lineOfComments(writer, ''), ...writeMap(writer, document, '', false), ...lineOfComments(writer, '')]
    .map((line) => `${line}\n`)
    .join('');
}

interface Writer {
  readonly choice: Choices;
  comments: number;
}

function comment(writer: Writer): string {
  writer.comments += 1;
  return `# note ${writer.comments}`;
}

function lineOfComments(writer: Writer, indent: string): readonly string[] {
  switch (writer.choice.pick(7)) {
    case 0:
      return [`${indent}${comment(writer)}`];
    case 1:
      return [''];
    case 2:
      return ['', `${indent}${comment(writer)}`, '', '', `${indent}${comment(writer)}`];
    case 3:
      return [`${indent}${['', '  ', '      '][writer.choice.pick(3)]}${comment(writer)}`];
    default:
      return [];
  }
}

function atEnd(writer: Writer): string {
  return writer.choice.pick(5) === 0 ? `${' '.repeat(1 + writer.choice.pick(3))}${comment(writer)}` : '';
}

function writeMap(writer: Writer, map: JsonObject, indent: string, isItem: boolean): readonly string[] {
  return Object.entries(map).flatMap(([name, value], at) => {
    const above = at === 0 && isItem ? [] : lineOfComments(writer, indent);
    const key = writer.choice.pick(8) === 0 ? JSON.stringify(name) : name;
    return [...above, ...writeValue(writer, value, `${indent}${key}:`, indent)];
  });
}

function writeValue(writer: Writer, value: Json, head: string, indent: string): readonly string[] {
  const { choice } = writer;
  const isCollection = typeof value === 'object' && value !== null;
  if (!isCollection) return writeScalar(writer, value, head, indent);
  const isEmpty = Object.keys(value).length === 0;
  if (isEmpty || choice.pick(4) === 0) return writeFlow(writer, value, head, indent);
  const isItem = head.endsWith('-');
  if (isItem) {
    const inner = `${indent}  `;
    const nested = writeNested(writer, value, inner, true);
    return [`${head} ${(nested[0] ?? '').trimStart()}`, ...nested.slice(1)];
  }
  const inner = indent + (Array.isArray(value) && choice.pick(2) === 0 ? '' : '    '.slice(choice.pick(3)));
  return [`${head}${atEnd(writer)}`, ...writeNested(writer, value, inner, false), ...lineOfComments(writer, inner)];
}

function writeNested(writer: Writer, value: Json, indent: string, isItem: boolean): readonly string[] {
  if (!Array.isArray(value)) return writeMap(writer, value as JsonObject, indent, isItem);
  return value.flatMap((item: Json, at) => [
    ...(at === 0 && isItem ? [] : lineOfComments(writer, indent)),
    ...writeValue(writer, item, `${indent}-`, indent),
  ]);
}

/** Writes a value in brackets, on one line, or on several lines with comments. */
function writeFlow(writer: Writer, value: Json, head: string, indent: string): readonly string[] {
  const items = Array.isArray(value)
    ? value.map((item: Json) => JSON.stringify(item))
    : Object.entries(value as JsonObject).map(([name, member]) => `${name}: ${JSON.stringify(member)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const inner = `${indent}    `;
  if (items.length === 0 || writer.choice.pick(2) === 0)
    return [`${head} ${open}${items.join(', ')}${close}${atEnd(writer)}`];
  const lines = items.flatMap((item) => [...lineOfComments(writer, inner), `${inner}${item},${atEnd(writer)}`]);
  return [
    `${head} ${open}${atEnd(writer)}`,
    ...lines,
    ...lineOfComments(writer, inner),
    `${indent}  ${close}${atEnd(writer)}`,
  ];
}

function writeScalar(writer: Writer, value: Json, head: string, indent: string): readonly string[] {
  const { choice } = writer;
  if (value === null && choice.pick(2) === 0) return [`${head}${atEnd(writer)}`];
  if (typeof value !== 'string') return [`${head} ${String(value)}${atEnd(writer)}`];
  if (value.includes('\n') && choice.pick(2) === 0) return writeBlock(writer, value, head, indent);
  const single = /[\n\\]/.test(value) ? JSON.stringify(value) : `'${value.replaceAll("'", "''")}'`;
  const plain = /^[a-z]+$/.test(value) && !/^(?:yes|null)$/.test(value) ? value : JSON.stringify(value);
  const texts = [JSON.stringify(value), single, plain];
  const text = texts[choice.pick(texts.length)] ?? '';
  if (head.endsWith(':') && choice.pick(8) === 0) return [head, `${indent}   ${text}${atEnd(writer)}`];
  return [`${head} ${text}${atEnd(writer)}`];
}

/** Writes a block text. The indentation is stated where YAML requires it, and sometimes elsewhere. */
function writeBlock(writer: Writer, value: string, head: string, indent: string): readonly string[] {
  const body = value.replace(/\n+$/, '').split('\n');
  const ends = value.length - value.replace(/\n+$/, '').length;
  const chomping = ['-', ''][ends] ?? '+';
  const by = 1 + writer.choice.pick(4);
  const isStated = value.startsWith(' ') || writer.choice.pick(3) === 0;
  const kept = Array.from({ length: chomping === '+' ? ends - 1 : 0 }, () => '');
  const lines = [...body, ...kept].map((line) => (line === '' ? '' : `${indent}${' '.repeat(by)}${line}`));
  return [`${head} |${isStated ? by : ''}${chomping}${atEnd(writer)}`, ...lines];
}
