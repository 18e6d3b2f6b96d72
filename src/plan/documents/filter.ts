import { nearest } from '../../lib/nearest.ts';
import type { Registry } from '../../model/declare/registry.ts';
import type { Document } from '../../model/document.ts';
import type { Problem } from '../../model/problem.ts';

/** Selects the documents of a source to plan. Other documents are ignored in this run. */
export type DocumentFilter = {
  readonly kinds?: readonly string[];
  /** All terms must match. */
  readonly labels?: readonly LabelTerm[];
};

/** A condition on one label. */
export type LabelTerm =
  | { readonly label: string; readonly is: 'in' | 'notIn'; readonly values: readonly string[] }
  | { readonly label: string; readonly is: 'there' | 'absent' };

/** Whether the filter selects a document. */
export function isSelected(filter: DocumentFilter, { kind, metadata }: Document): boolean {
  const { kinds, labels = [] } = filter;
  return (
    (kinds === undefined || kinds.includes(kind)) && labels.every((term) => matchesTerm(term, metadata.labels ?? {}))
  );
}

/**
 * Returns a problem for each unknown kind in the filter, because a filter that silently matches nothing is a mistake.
 */
export function filterProblems(registry: Registry, { kinds = [] }: DocumentFilter): readonly Problem[] {
  return kinds
    .filter((kind) => registry.find(kind) === undefined)
    .map((kind) => {
      const guess = nearest(kind, registry.names);
      const hint = guess === undefined ? `known are ${registry.names.join(', ')}` : `did you mean \`${guess}\`?`;
      return { code: 'kind_unknown', message: `the filter names the unknown kind \`${kind}\`; ${hint}` };
    });
}

function matchesTerm(term: LabelTerm, labels: Readonly<Record<string, string>>): boolean {
  const value = labels[term.label];
  switch (term.is) {
    case 'there':
      return value !== undefined;
    case 'absent':
      return value === undefined;
    case 'in':
      return value !== undefined && term.values.includes(value);
    case 'notIn':
      return value === undefined || !term.values.includes(value);
  }
}

/** Maximum length of a label selector, in characters. */
export const maxSelectorLength = 4096;

/**
 * Parses a label selector: terms separated by commas, each `label`, `!label`, `label=value`, `label!=value`, `label in
 * (a, b)` or `label notin (a, b)`. Returns the first invalid term as `fault`.
 */
export function parseSelector(text: string): readonly LabelTerm[] | { readonly fault: string } {
  if (text.length > maxSelectorLength) return { fault: `${text.slice(0, 40)}…` };
  const terms: LabelTerm[] = [];
  for (const part of splitTerms(text)) {
    const term = parseTerm(part);
    if (term === undefined) return { fault: part };
    terms.push(term);
  }
  return terms;
}

/** Splits a text at commas outside of parentheses. Visits each character once. */
function splitTerms(text: string): readonly string[] {
  const parts: string[] = [];
  let begin = 0;
  let isInside = false;
  for (const { 0: sign, index } of text.matchAll(/[(),]/g)) {
    if (sign !== ',') isInside = sign === '(';
    else if (!isInside) {
      parts.push(text.slice(begin, index).trim());
      begin = index + 1;
    }
  }
  return [...parts, text.slice(begin).trim()];
}

const labelPattern = '[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?';
const presencePattern = new RegExp(`^(?<not>!?)\\s*(?<label>${labelPattern})$`);
const equalityPattern = new RegExp(`^(?<label>${labelPattern})\\s*(?<sign>==?|!=)\\s*(?<value>[^\\s=!(),]*)$`);
const setPattern = new RegExp(`^(?<label>${labelPattern})\\s+(?<sign>in|notin)\\s*\\((?<values>[^()]+)\\)$`);

function parseTerm(text: string): LabelTerm | undefined {
  const presence = presencePattern.exec(text)?.groups;
  if (presence !== undefined)
    return { label: presence['label'] ?? '', is: presence['not'] === '!' ? 'absent' : 'there' };
  const equality = equalityPattern.exec(text)?.groups;
  if (equality !== undefined)
    return {
      label: equality['label'] ?? '',
      is: equality['sign'] === '!=' ? 'notIn' : 'in',
      values: [equality['value'] ?? ''],
    };
  const list = setPattern.exec(text)?.groups;
  if (list === undefined) return undefined;
  const values = (list['values'] ?? '').split(',').map((value) => value.trim());
  return { label: list['label'] ?? '', is: list['sign'] === 'in' ? 'in' : 'notIn', values: values.sort() };
}
