import type { YAMLError } from 'yaml';
import { limits } from '../limits.ts';
import { templateFaultOfLine } from './conflict-markers.ts';
import { findMisindented, type Misindented } from './indentation.ts';
import type { Fault } from './values.ts';

/** A fault. `offset` is where it really is, when the library reported the error at a later offset. */
export interface FaultAtOffset extends Fault {
  readonly offset?: number;
}

/** Words an error of the YAML library for the user who must repair the file. */
export function syntaxFault(error: YAMLError, text: string): FaultAtOffset {
  const [start] = error.pos;
  const template = templateFaultOfLine(lineAt(text, start));
  if (template !== undefined) return template;
  const misindented = indentationErrorCodes.includes(error.code) ? findMisindented(text, start) : undefined;
  if (misindented !== undefined) return indentationFault(misindented);
  switch (error.code) {
    case 'TAB_AS_INDENT':
      return { code: 'yaml_tab', message: 'A tab is used as indentation, which YAML does not allow; use spaces.' };
    case 'RESOURCE_EXHAUSTION':
      // The library recurses, and gives up only at a depth far beyond `limits.depth`.
      return {
        code: 'document_too_deep',
        message: `This is nested more than ${limits.depth} levels deep; flatten the document.`,
      };
    case 'TAG_RESOLVE_FAILED':
      return { code: 'yaml_tag', message: `${sentence(error)} YAML tags are not allowed; remove it.` };
    case 'BAD_DIRECTIVE':
      return {
        code: 'yaml_directive',
        message: `${sentence(error)} YAML directives are not allowed; remove the line.`,
      };
    case 'BAD_SCALAR_START':
    case 'BAD_ALIAS':
      return { code: 'yaml_invalid', message: `${sentence(error)} ${quoteHint(wordAt(text, start))}` };
    default:
      return { code: 'yaml_invalid', message: `${sentence(error)} ${hintFor(error, text)}` };
  }
}

/** Error codes of the library that wrong indentation may cause. */
const indentationErrorCodes = [
  'BAD_INDENT',
  'BLOCK_AS_IMPLICIT_KEY',
  'MULTILINE_IMPLICIT_KEY',
  'UNEXPECTED_TOKEN',
  'MISSING_CHAR',
];

function indentationFault({ offset, indent, expected }: Misindented): FaultAtOffset {
  const spaces = indent === 1 ? '1 space' : `${indent} spaces`;
  const message = `This line is indented by ${spaces}, and the lines that it seems to belong to by ${expected}; indent all members of a map, and all items of a list, by the same number of spaces.`;
  return { code: 'yaml_indentation', message, offset };
}

function lineAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', Math.max(0, offset - 1)) + 1;
  const end = text.indexOf('\n', offset);
  return text.slice(start, Math.min(end < 0 ? text.length : end, start + 1000));
}

const hints: Readonly<Record<string, string>> = {
  NON_STRING_KEY: 'Use a plain word as the key.',
  BLOCK_AS_IMPLICIT_KEY: 'If the text after the first colon is a value, quote it.',
  MISSING_CHAR: 'Close the open quote or bracket, or add the missing character.',
  BAD_INDENT: 'Indent it like its neighbours.',
  MULTIPLE_DOCS: 'Separate documents with a line `---`.',
  MULTILINE_IMPLICIT_KEY: 'Add the colon after the key, or quote a text that runs over several lines.',
  UNEXPECTED_TOKEN: 'Remove it, or quote the text it belongs to.',
  BAD_DQ_ESCAPE: 'Write a backslash as `\\\\`, or use single quotes.',
};

function hintFor(error: YAMLError, text: string): string {
  const word = firstWordOfLine(text, error.pos[0]);
  // `*.example.com: x` fails far from the star, with several error codes.
  if (/^[*&!@%`]/.test(word)) return quoteHint(word);
  return hints[error.code] ?? 'Correct the YAML at this place.';
}

function firstWordOfLine(text: string, offset: number): string {
  const line = text.lastIndexOf('\n', offset - 1) + 1;
  const [indentation = ''] = /^[ \t-]*/.exec(text.slice(line, line + wordLimit)) ?? [];
  return wordAt(text, line + indentation.length);
}

function sentence(error: YAMLError): string {
  const message = error.message.split('\n', 1)[0] ?? '';
  return /[.:!]$/.test(message) ? message.replace(/:$/, '.') : `${message}.`;
}

const wordLimit = 80;

/** Returns the unquoted word at an offset, without the colon of a key. */
function wordAt(text: string, offset: number): string {
  const rest = text.slice(offset, offset + wordLimit);
  return rest.split(/[,\]}]|:?(?:\s|$)/, 1)[0] ?? '';
}

function quoteHint(word: string): string {
  return word === '' ? 'Quote the text.' : `To use it as text, quote it: ${JSON.stringify(word)}.`;
}
