import { truncate } from '../truncate.ts';
import type { Fault } from './values.ts';

/** Where a merge left both sides in a text: the offsets of the lines that begin them, some at most. */
export function findConflicts(text: string): readonly number[] {
  // Documents hold such lines at the first column only when something else wrote them.
  if (!text.includes('<<<<<<< ') && !text.includes('>>>>>>> ')) return [];
  const found = [...text.matchAll(/^<{7} /gm)];
  const starts = found.length > 0 ? found : [...text.matchAll(/^>{7} /gm)];
  return starts.slice(0, 20).map(({ index }) => index);
}

/** What is wrong where one begins. */
export const conflictFault: Fault = {
  code: 'merge_conflict',
  message:
    'A merge that was not finished begins here; keep what is meant of both sides, and remove the lines that begin with `<<<<<<<`, `=======` and `>>>>>>>`.',
};

/** What template languages leave behind when nothing fills them in: `{{ }}`, `{% %}`, `<% %>`, `${ }`. */
const template = /\{\{.*?\}\}|\{%.*?%\}|<%.*?%>/;
const whole = /^(?:\$\{[^{}]*\}|\{\{[^{}]*\}\}|\{%[^{}]*%\}|<%[^<>]*%>)$/;

/** What is wrong with a text that is a template and nothing else. */
export function templateFault(value: string): Fault | undefined {
  // Every such text begins with one of these, and most texts do not.
  if (!/^[$<{]/.test(value) || !whole.test(value)) return undefined;
  return {
    code: 'template_leftover',
    message: `\`${truncate(value)}\` is a template that nothing filled in; render the file before Heddle reads it, or write the value.`,
  };
}

/** What is wrong with a line that is no YAML because a template stands in it, outside of quotes. */
export function templateFaultOfLine(line: string): Fault | undefined {
  const [found] = template.exec(line.replace(/"[^"]*"|'[^']*'/g, '')) ?? [];
  if (found === undefined) return undefined;
  return {
    code: 'template_leftover',
    message: `\`${truncate(found)}\` is a template that nothing filled in; render the file before Heddle reads it. If the text is meant, quote it.`,
  };
}
