import type { Fault, Kind } from '../../model/declare/kind.ts';
import type { Registry } from '../../model/declare/registry.ts';
import type { Problem } from '../../model/problem.ts';
import type { Scope } from '../../model/sources/settings.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { type Desired, problemAt } from './desired.ts';
import type { Target } from './stated-object.ts';

/** What is asked about the scope of a source. */
export interface ScopeInput {
  /** The account as it is: with the keys that objects have now. */
  readonly account: Snapshot;
  readonly source: string;
  readonly targets: readonly Target[];
}

/** What the documents of a source state outside its scope, and what scopes of others keep from it. */
export function scopeProblems(input: ScopeInput): readonly Problem[] {
  const { account, source, targets } = input;
  const { scope } = account.settingsOf(source);
  const outside = isScoped(scope) ? targets.flatMap((target) => outsideProblems(input, scope, target)) : [];
  return [...outside, ...targets.flatMap((target) => overlapProblems(input, target))];
}

/** Whether the scope of a source lists an object of others by key or name, for it to state too. */
export function isListed(account: Snapshot, source: string, { kind, key = '', name }: StoredObject): boolean {
  const { scopedBy } = account.registry.get(kind);
  const patterns = scopedBy === undefined ? [] : (account.settingsOf(source).scope[scopedBy] ?? []);
  return patterns.some((pattern) => fits(pattern, key) || fits(pattern, name));
}

/** Which stored objects lie outside the scope of a source: it may neither state nor delete them. */
export function outsideScope(account: Snapshot, source: string): (object: StoredObject) => boolean {
  const { scope } = account.settingsOf(source);
  if (!isScoped(scope)) return () => false;
  return ({ kind: name, key = '', name: display }) => {
    const kind = account.registry.get(name);
    return !allowsKind(account.registry, scope, kind) || !allowsKey(scope, kind, key, display);
  };
}

/** Whether the scope keeps anything out. */
function isScoped(scope: Scope): boolean {
  return scope.kinds !== undefined || scope.keyPrefixes !== undefined || scope.groups !== undefined;
}

function outsideProblems({ account, source }: ScopeInput, scope: Scope, target: Target): readonly Problem[] {
  const { desired, existing, adopted } = target;
  const { kind, key } = desired;
  const stored = existing === undefined ? undefined : account.get(existing.id);
  const at = (pointer: string, message: string) => [
    exceeded(desired, pointer, `${message} (scope of the source ${source})`),
  ];
  if (!allowsKind(account.registry, scope, kind))
    return at('/kind', `this source may state ${listOf(scope.kinds)} and no ${kind.name}`);
  if (!allowsKey(scope, kind, key, stored?.name))
    return at('/metadata/name', `this source may state objects whose ${keyRule(scope, kind)}, and not \`${key}\``);
  if (stored === undefined || isOf(stored, source)) return [];
  // What is taken over or renamed has to be in the scope by the name that it had before.
  const isKnown = adopted === 'no' && stored.key === key;
  if (isKnown || kind.parent !== undefined || kind.singleton !== undefined) return [];
  if (allowsKey(scope, kind, stored.key ?? stored.name, stored.name)) return [];
  const name = stored.key ?? stored.name;
  return at(
    '/metadata',
    `this source may take over objects whose ${keyRule(scope, kind)}, and not \`${name}\` (id ${stored.id})`,
  );
}

/** A kind belongs to a scope with its children. */
function allowsKind(registry: Registry, { kinds }: Scope, kind: Kind): boolean {
  if (kinds === undefined || kinds.includes(kind.name)) return true;
  return kind.parent !== undefined && allowsKind(registry, { kinds }, registry.get(kind.parent.kind));
}

/** Objects that a scope lists by key or by the name that they have may be stated beside those with its keys; without keys, only these. */
function allowsKey(scope: Scope, kind: Kind, key: string, name = ''): boolean {
  const { keyPrefixes } = scope;
  const patterns = kind.scopedBy === undefined ? undefined : scope[kind.scopedBy];
  if (keyPrefixes === undefined && patterns === undefined) return true;
  return (
    keyPrefixes?.some((prefix) => key.startsWith(prefix)) === true ||
    patterns?.some((pattern) => fits(pattern, key) || fits(pattern, name)) === true
  );
}

function fits(pattern: string, text: string): boolean {
  return pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern;
}

function keyRule(scope: Scope, { scopedBy }: Kind): string {
  const { keyPrefixes } = scope;
  const patterns = scopedBy === undefined ? undefined : scope[scopedBy];
  const rules = [
    ...(keyPrefixes === undefined ? [] : [`keys begin with ${listOf(keyPrefixes)}`]),
    ...(patterns === undefined ? [] : [`keys or names are ${listOf(patterns)}`]),
  ];
  return rules.join(' or ');
}

function listOf(words: readonly string[] = []): string {
  return words.length === 0 ? 'nothing' : words.map((word) => `\`${word}\``).join(', ');
}

/** An object that two sources state, of which one has a scope that does not name it: the other one has it. */
function overlapProblems({ account, source }: ScopeInput, { desired, existing }: Target): readonly Problem[] {
  const stored = existing === undefined ? undefined : account.get(existing.id);
  return (stored?.declared ?? [])
    .filter((other) => other.source !== source && isApart(account, [source, other.source], desired.kind, stored))
    .map((other) => {
      const { kind, key, place } = desired;
      const message = `${kind.name} ${key} is stated by the source ${other.source} already, at ${other.file}:${other.line}, and by ${source} at ${place.file}:${place.line}; scopes keep sources apart, so state it in one of the two only`;
      return { ...problemOf(desired, '', { code: 'scope_overlap', path: '', message }), source: other.source };
    });
}

function isApart(account: Snapshot, sources: readonly string[], kind: Kind, object: StoredObject | undefined): boolean {
  const scopes = sources.map((source) => account.settingsOf(source).scope).filter(isScoped);
  return scopes.some((scope) => {
    const patterns = kind.scopedBy === undefined ? [] : (scope[kind.scopedBy] ?? []);
    return !patterns.some((pattern) => fits(pattern, object?.key ?? '') || fits(pattern, object?.name ?? ''));
  });
}

/** Which objects of a kind the scope lets documents refer to; a sentence about those that it does not. */
export type ReferenceRule = (kind: Kind, id: string) => string | undefined;

/** The rule by which references of a source are checked. What it states itself it may refer to. */
export function referenceRule({ account, source, targets }: ScopeInput): ReferenceRule {
  const { scope } = account.settingsOf(source);
  if (!isScoped(scope)) return () => undefined;
  let stated: ReadonlySet<string> | undefined;
  return ({ name, scopedBy }, id) => {
    const patterns = scopedBy === undefined ? undefined : scope[scopedBy];
    if (patterns === undefined) return undefined;
    stated ??= new Set(targets.map((target) => target.id));
    const object = account.get(id);
    if (stated.has(id) || object === undefined || isOf(object, source)) return undefined;
    const { key = '', name: display } = object;
    if (patterns.some((pattern) => fits(pattern, key) || fits(pattern, display))) return undefined;
    return `this source may refer to its own objects of kind ${name} and to ${listOf(patterns)}, and not to \`${key === '' ? display : key}\` (scope of the source ${source})`;
  };
}

function isOf({ owner, declared }: StoredObject, source: string): boolean {
  return owner === source || declared.some((declaration) => declaration.source === source);
}

function exceeded(desired: Desired, pointer: string, message: string): Problem {
  return problemOf(desired, pointer, { code: 'scope_exceeded', path: '', message });
}

/** What is about the document as a whole stands at its envelope; of an inline child, where that stands. */
function problemOf({ kind, key, place, pointer }: Desired, envelope: string, fault: Fault): Problem {
  // The key of a child is its parent's.
  const own = envelope === '/metadata/name' && kind.parent !== undefined ? `/spec/${kind.parent.field}` : envelope;
  return problemAt(place, pointer === '/spec' ? own : pointer, { kind: kind.name, metadata: { name: key } }, fault);
}
