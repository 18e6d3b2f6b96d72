import type { YAMLError } from 'yaml';
import { limits } from './limits.ts';
import type { Fault } from './values.ts';

/** Says what the YAML library found in the words of someone who has to repair it. */
export function syntaxFault(error: YAMLError, text: string): Fault {
  const [start] = error.pos;
  switch (error.code) {
    case 'TAB_AS_INDENT':
      return { code: 'yaml_tab', message: 'A tab is used as indentation, which YAML does not allow; use spaces.' };
    case 'RESOURCE_EXHAUSTION':
      // The library recurses; long before it gives up, the depth is beyond ours.
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

const hints: Readonly<Record<string, string>> = {
  NON_STRING_KEY: 'Use a plain word as the key.',
  BLOCK_AS_IMPLICIT_KEY: 'If the text after the first colon is a value, quote it.',
  MISSING_CHAR: 'Close what is open, or add what is missing.',
  BAD_INDENT: 'Indent it like its neighbours.',
  MULTIPLE_DOCS: 'Separate documents with a line `---`.',
  MULTILINE_IMPLICIT_KEY: 'Add the colon after the key, or quote a text that runs over several lines.',
  UNEXPECTED_TOKEN: 'Remove it, or quote the text it belongs to.',
  BAD_DQ_ESCAPE: 'Write a backslash as `\\\\`, or use single quotes.',
};

function hintFor(error: YAMLError, text: string): string {
  const word = firstWordOfLine(text, error.pos[0]);
  // `*.example.com: x` fails far from the star, and in several ways.
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

/** The unquoted text that begins at an offset, without a key's colon. */
function wordAt(text: string, offset: number): string {
  const rest = text.slice(offset, offset + wordLimit);
  return rest.split(/[,\]}]|:?(?:\s|$)/, 1)[0] ?? '';
}

function quoteHint(word: string): string {
  return word === '' ? 'Quote the text.' : `If the text is meant, quote it: ${JSON.stringify(word)}.`;
}
