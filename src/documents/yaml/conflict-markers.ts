import { truncate } from '../truncate.ts';
import type { Fault } from './values.ts';

/** Returns the offsets of the lines that begin an unfinished merge, at most 20. */
export function findConflicts(text: string): readonly number[] {
  // A document contains such a line at the first column only when another program, such as Git, wrote the line.
  if (!text.includes('<<<<<<< ') && !text.includes('>>>>>>> ')) return [];
  const found = [...text.matchAll(/^<{7} /gm)];
  const starts = found.length > 0 ? found : [...text.matchAll(/^>{7} /gm)];
  return starts.slice(0, 20).map(({ index }) => index);
}

/** Fault at the beginning of an unfinished merge. */
export const conflictFault: Fault = {
  code: 'merge_conflict',
  message:
    'An unfinished merge begins here; keep the intended lines of both sides, and remove the lines that begin with `<<<<<<<`, `=======` and `>>>>>>>`.',
};

/** Placeholders that template engines did not fill in: `{{ }}`, `{% %}`, `<% %>`, `${ }`. */
const template = /\{\{.*?\}\}|\{%.*?%\}|<%.*?%>/;
const wholeTemplatePattern = /^(?:\$\{[^{}]*\}|\{\{[^{}]*\}\}|\{%[^{}]*%\}|<%[^<>]*%>)$/;

/** Returns the fault of a string that consists of one template placeholder, or `undefined` for other strings. */
export function templateFault(value: string): Fault | undefined {
  // Every such string begins with one of these characters, and most strings do not.
  if (!/^[$<{]/.test(value) || !wholeTemplatePattern.test(value)) return undefined;
  return {
    code: 'template_leftover',
    message: `\`${truncate(value)}\` is a template placeholder that was not filled in; render the file before Heddle reads it, or write the value.`,
  };
}

/**
 * Returns the fault of a line that is invalid YAML because of a template placeholder outside quotes, or `undefined` for
 * other lines.
 */
export function templateFaultOfLine(line: string): Fault | undefined {
  const [found] = template.exec(line.replace(/"[^"]*"|'[^']*'/g, '')) ?? [];
  if (found === undefined) return undefined;
  return {
    code: 'template_leftover',
    message: `\`${truncate(found)}\` is a template placeholder that was not filled in; render the file before Heddle reads it. To use it as text, quote it.`,
  };
}
