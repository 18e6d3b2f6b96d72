import type { Fault, Kind } from '../../model/declare/kind.ts';
import type { Registry } from '../../model/declare/registry.ts';
import type { Problem } from '../../model/problem.ts';
import type { Scope } from '../../model/sources/settings.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { type DesiredObject, problemAt } from './desired.ts';
import type { MatchedDocument } from './stated-object.ts';

/** Input of the scope checks. */
export interface ScopeInput {
  /** The stored account, with the keys that objects have before the plan. */
  readonly account: Snapshot;
  readonly source: string;
  readonly targets: readonly MatchedDocument[];
}

/**
 * Returns the problems of documents outside the scope of their source, and of objects that the scope of another source
 * reserves.
 */
export function scopeProblems(input: ScopeInput): readonly Problem[] {
  const { account, source, targets } = input;
  const { scope } = account.settingsOf(source);
  const outside = isScoped(scope) ? targets.flatMap((target) => outsideProblems(input, scope, target)) : [];
  return [...outside, ...targets.flatMap((target) => overlapProblems(input, target))];
}

/**
 * Whether the scope of a source lists an object of other sources by key or name, so that the source may state it too.
 */
export function isListedInScope(account: Snapshot, source: string, { kind, key = '', name }: StoredObject): boolean {
  const { scopedBy } = account.registry.get(kind);
  const patterns = scopedBy === undefined ? [] : (account.settingsOf(source).scope[scopedBy] ?? []);
  return patterns.some((pattern) => matchesPattern(pattern, key) || matchesPattern(pattern, name));
}

/**
 * Returns a function that checks whether a stored object is outside the scope of a source. The source may neither state
 * nor delete such an object.
 */
export function createOutsideScopeCheck(account: Snapshot, source: string): (object: StoredObject) => boolean {
  const { scope } = account.settingsOf(source);
  if (!isScoped(scope)) return () => false;
  return ({ kind: name, key = '', name: display }) => {
    const kind = account.registry.get(name);
    return !allowsKind(account.registry, scope, kind) || !allowsKey(scope, kind, key, display);
  };
}

/** Whether the scope restricts anything. */
function isScoped(scope: Scope): boolean {
  return scope.kinds !== undefined || scope.keyPrefixes !== undefined || scope.groups !== undefined;
}

function outsideProblems({ account, source }: ScopeInput, scope: Scope, target: MatchedDocument): readonly Problem[] {
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
  if (stored === undefined || belongsTo(stored, source)) return [];
  // An object that is adopted or renamed must also be in the scope by its previous key or name.
  const isKnown = adopted === 'no' && stored.key === key;
  if (isKnown || kind.parent !== undefined || kind.singleton !== undefined) return [];
  if (allowsKey(scope, kind, stored.key ?? stored.name, stored.name)) return [];
  const name = stored.key ?? stored.name;
  return at(
    '/metadata',
    `this source may take over objects whose ${keyRule(scope, kind)}, and not \`${name}\` (id ${stored.id})`,
  );
}

/** Whether the scope allows a kind. A kind that is in the scope includes its children. */
function allowsKind(registry: Registry, { kinds }: Scope, kind: Kind): boolean {
  if (kinds === undefined || kinds.includes(kind.name)) return true;
  return kind.parent !== undefined && allowsKind(registry, { kinds }, registry.get(kind.parent.kind));
}

/**
 * Whether the scope allows a key. Objects that the scope lists by key or current name are allowed in addition to
 * objects with its key prefixes. Without key prefixes, only the listed objects are allowed.
 */
function allowsKey(scope: Scope, kind: Kind, key: string, name = ''): boolean {
  const { keyPrefixes } = scope;
  const patterns = kind.scopedBy === undefined ? undefined : scope[kind.scopedBy];
  if (keyPrefixes === undefined && patterns === undefined) return true;
  return (
    keyPrefixes?.some((prefix) => key.startsWith(prefix)) === true ||
    patterns?.some((pattern) => matchesPattern(pattern, key) || matchesPattern(pattern, name)) === true
  );
}

function matchesPattern(pattern: string, text: string): boolean {
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

/** Reports an object that two sources state while one of them has a scope that does not list the object. */
function overlapProblems({ account, source }: ScopeInput, { desired, existing }: MatchedDocument): readonly Problem[] {
  const stored = existing === undefined ? undefined : account.get(existing.id);
  return (stored?.declared ?? [])
    .filter(
      (other) => other.source !== source && isSharingForbidden(account, [source, other.source], desired.kind, stored),
    )
    .map((other) => {
      const { kind, key, position } = desired;
      const message = `${kind.name} ${key} is already stated by the source ${other.source} at ${other.file}:${other.line}, and by ${source} at ${position.file}:${position.line}; their scopes do not allow both, so state it in only one of them`;
      return { ...problemOf(desired, '', { code: 'scope_overlap', path: '', message }), source: other.source };
    });
}

function isSharingForbidden(
  account: Snapshot,
  sources: readonly string[],
  kind: Kind,
  object: StoredObject | undefined,
): boolean {
  const scopes = sources.map((source) => account.settingsOf(source).scope).filter(isScoped);
  return scopes.some((scope) => {
    const patterns = kind.scopedBy === undefined ? [] : (scope[kind.scopedBy] ?? []);
    return !patterns.some(
      (pattern) => matchesPattern(pattern, object?.key ?? '') || matchesPattern(pattern, object?.name ?? ''),
    );
  });
}

/**
 * Checks whether the scope lets documents refer to an object of a kind. Returns a sentence with the reason when it does
 * not.
 */
export type ReferenceRule = (kind: Kind, id: string) => string | undefined;

/**
 * Returns the rule that checks the references of a source. The source may always refer to objects that it states
 * itself.
 */
export function createReferenceRule({ account, source, targets }: ScopeInput): ReferenceRule {
  const { scope } = account.settingsOf(source);
  if (!isScoped(scope)) return () => undefined;
  let stated: ReadonlySet<string> | undefined;
  return ({ name, scopedBy }, id) => {
    const patterns = scopedBy === undefined ? undefined : scope[scopedBy];
    if (patterns === undefined) return undefined;
    stated ??= new Set(targets.map((target) => target.id));
    const object = account.get(id);
    if (stated.has(id) || object === undefined || belongsTo(object, source)) return undefined;
    const { key = '', name: display } = object;
    if (patterns.some((pattern) => matchesPattern(pattern, key) || matchesPattern(pattern, display))) return undefined;
    return `this source may refer to its own objects of kind ${name} and to ${listOf(patterns)}, and not to \`${key === '' ? display : key}\` (scope of the source ${source})`;
  };
}

function belongsTo({ owner, declared }: StoredObject, source: string): boolean {
  return owner === source || declared.some((declaration) => declaration.source === source);
}

function exceeded(desired: DesiredObject, pointer: string, message: string): Problem {
  return problemOf(desired, pointer, { code: 'scope_exceeded', path: '', message });
}

/**
 * Reports a problem about a whole document at its envelope (`kind` or `metadata`), and a problem about an inline child
 * at the child.
 */
function problemOf({ kind, key, position, pointer }: DesiredObject, envelope: string, fault: Fault): Problem {
  // A child has no name of its own; its key starts with the parent's key.
  const own = envelope === '/metadata/name' && kind.parent !== undefined ? `/spec/${kind.parent.field}` : envelope;
  return problemAt(position, pointer === '/spec' ? own : pointer, { kind: kind.name, metadata: { name: key } }, fault);
}
