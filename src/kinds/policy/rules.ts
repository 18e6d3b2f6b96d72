import { isObject } from '../../lib/json.ts';
import type { Fault, Mutation } from '../../model/declare/kind.ts';
import { originOf } from '../../model/state/object.ts';
import type { Stored } from '../../model/state/stored.ts';

interface Range {
  readonly start: number;
  readonly end: number;
}

interface Rule {
  readonly name: string;
  readonly protocol: string;
  readonly ports: readonly string[];
  readonly port_ranges: readonly Range[];
  readonly sources: readonly string[];
  readonly sourceResource: unknown;
  readonly destinations: readonly string[];
  readonly destinationResource: unknown;
}

const withoutPorts = ['all', 'icmp'];

/** Ports in numeric order and ranges in rising order: the set is the same however it was written. */
export function sortPorts<S extends { readonly rules?: readonly Rule[] }>(spec: S): S {
  if (spec.rules === undefined) return spec;
  const rules = spec.rules.map((rule) => ({
    ...rule,
    ports: [...rule.ports].sort((a, b) => Number(a) - Number(b)),
    port_ranges: [...rule.port_ranges].sort((a, b) => a.start - b.start || a.end - b.end),
  }));
  return { ...spec, rules };
}

/** What the rules of a policy must not contradict. */
export function checkRules(spec: { readonly rules: readonly Rule[] }): readonly Fault[] {
  return spec.rules.flatMap((rule, at) => [
    ...checkPorts(rule, `/rules/${at}`),
    ...checkSide(rule, `/rules/${at}`, 'sources', 'sourceResource'),
    ...checkSide(rule, `/rules/${at}`, 'destinations', 'destinationResource'),
  ]);
}

function checkPorts(rule: Rule, path: string): readonly Fault[] {
  const faults: Fault[] = [];
  const member = rule.ports.length > 0 ? 'ports' : 'port_ranges';
  const given = rule.ports.length + rule.port_ranges.length > 0;
  if (rule.ports.length > 0 && rule.port_ranges.length > 0) {
    const message = `rule \`${rule.name}\` has both \`ports\` and \`port_ranges\`; write single ports as ranges of one`;
    faults.push({ code: 'policy_ports_exclusive', path: `${path}/port_ranges`, message });
  }
  if (given && withoutPorts.includes(rule.protocol)) {
    const message = `rule \`${rule.name}\` names ports, but the protocol \`${rule.protocol}\` has none; remove them or choose tcp, udp or ssh`;
    faults.push({ code: 'policy_ports_unused', path: `${path}/${member}`, message });
  }
  for (const [at, { start, end }] of rule.port_ranges.entries()) {
    if (start <= end) continue;
    const message = `rule \`${rule.name}\` has a range from ${start} to ${end}; write the lower port first`;
    faults.push({ code: 'policy_range_reversed', path: `${path}/port_ranges/${at}`, message });
  }
  return faults;
}

function checkSide(
  rule: Rule,
  path: string,
  groups: 'sources' | 'destinations',
  resource: 'sourceResource' | 'destinationResource',
): readonly Fault[] {
  const byGroups = rule[groups].length > 0;
  const byResource = rule[resource] !== undefined;
  if (byGroups !== byResource) return [];
  const what = byGroups
    ? `both \`${groups}\` and \`${resource}\`; keep`
    : `neither \`${groups}\` nor \`${resource}\`; give`;
  return [
    {
      code: `policy_${groups}_exclusive`,
      path: `${path}/${groups}`,
      message: `rule \`${rule.name}\` has ${what} one of them`,
    },
  ];
}

/** A policy that starts to have an effect deserves a second look. */
export function warnOfEnabling(
  before: Stored<'Policy'> | undefined,
  after: Stored<'Policy'> | undefined,
): readonly string[] {
  const enabled = before?.spec.enabled === false && after?.spec.enabled === true;
  return enabled ? [`the policy ${after.name} was disabled and becomes enabled`] : [];
}

/** Whether a policy follows from another object, and lives as long as that. */
export function isDerived(policy: Stored<'Policy'>): boolean {
  return originOf(policy) !== undefined;
}

/**
 * Rules are known by their names, so two of one name are no longer made. Those that are there stay writable, and what goes
 * back to a former state, or ends by itself, brings back what was.
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
    const message = `two rules are named \`${name}\`; rules are known by their names, so give one of them another`;
    // Stored rules are sorted: their places are not those of the input.
    return [{ code: 'rule_name_repeated', path: '/rules', message }];
  });
}

function ruleNames(policy: Stored<'Policy'> | undefined): readonly string[] {
  const rules = policy?.spec.rules;
  return Array.isArray(rules) ? rules.map((rule) => String(isObject(rule) ? rule['name'] : '')) : [];
}

/** What follows from another object changes with it alone. */
export function keepDerived({ before }: Mutation<Stored<'Policy'>>): readonly Fault[] {
  if (before === undefined || !isDerived(before)) return [];
  const message =
    before.derived.temporary === true
      ? `the policy ${before.name} belongs to a temporary peer, and goes with it; delete that peer instead`
      : `the policy ${before.name} follows from a private service; change or delete that service instead`;
  return [{ code: 'managed_field', path: '', message }];
}
