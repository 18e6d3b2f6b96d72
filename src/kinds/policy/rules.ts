import { isObject } from '../../lib/json.ts';
import type { Fault } from '../../model/declare/kind.ts';
import type { Mutation } from '../../model/declare/mutation.ts';
import { derivedFromId } from '../../model/state/object.ts';
import type { Stored } from '../../model/state/stored.ts';

interface Range {
  readonly start: number;
  readonly end: number;
}

interface Rule {
  readonly ports: readonly string[];
  readonly port_ranges: readonly Range[];
}

/** Sorts ports by number and ranges by their start, so that equal sets are written alike. */
export function sortPorts<S extends { readonly rules?: readonly Rule[] }>(spec: S): S {
  if (spec.rules === undefined) return spec;
  const rules = spec.rules.map((rule) => ({
    ...rule,
    ports: [...rule.ports].sort((a, b) => Number(a) - Number(b)),
    port_ranges: [...rule.port_ranges].sort((a, b) => a.start - b.start || a.end - b.end),
  }));
  return { ...spec, rules };
}

/** Warns when a disabled policy becomes enabled. */
export function warnOfEnabling(
  before: Stored<'Policy'> | undefined,
  after: Stored<'Policy'> | undefined,
): readonly string[] {
  const enabled = before?.spec.enabled === false && after?.spec.enabled === true;
  return enabled ? [`the policy ${after.name} was disabled and becomes enabled`] : [];
}

/** Whether a policy is derived from another object, and deleted with it. */
export function isDerived(policy: Stored<'Policy'>): boolean {
  return derivedFromId(policy) !== undefined;
}

/**
 * Refuses a second rule with the same name, because rules are identified by their names. Existing duplicates stay
 * writable. Rollbacks and changes by the server may restore them.
 */
export function refuseNewDuplicates({ before, after, actor, rollback }: Mutation<Stored<'Policy'>>): readonly Fault[] {
  if (after === undefined || rollback === true || actor?.type === 'system') return [];
  const left = new Map<string, number>();
  for (const name of ruleNames(before)) left.set(name, (left.get(name) ?? 0) + 1);
  const seen = new Set<string>();
  return ruleNames(after).flatMap((name) => {
    const known = left.get(name) ?? 0;
    left.set(name, known - 1);
    const isTwin = seen.has(name) && known <= 0;
    seen.add(name);
    if (!isTwin) return [];
    const message = `two rules are named \`${name}\`, but rules are identified by their names; rename one of them`;
    // Stored rules are sorted, so their positions differ from those in the request.
    return [{ code: 'rule_name_repeated', path: '/rules', message }];
  });
}

function ruleNames(policy: Stored<'Policy'> | undefined): readonly string[] {
  const rules = policy?.spec.rules;
  return Array.isArray(rules) ? rules.map((rule) => String(isObject(rule) ? rule['name'] : '')) : [];
}

/** Refuses changes of a derived policy: only its origin changes it. */
export function refuseDerivedChange({ before }: Mutation<Stored<'Policy'>>): readonly Fault[] {
  if (before === undefined || !isDerived(before)) return [];
  const message =
    before.derived.temporary === true
      ? `the policy ${before.name} belongs to a temporary peer and is deleted with it; delete that peer instead`
      : `the policy ${before.name} is derived from a private service; change or delete that service instead`;
  return [{ code: 'managed_field', path: '', message }];
}
