import { nearest } from '../../lib/nearest.ts';
import { canOnlyStateExisting } from '../../model/declare/kind.ts';
import type { Registry } from '../../model/declare/registry.ts';
import type { DocumentPosition } from '../../model/document.ts';
import type { Problem } from '../../model/problem.ts';
import { type Mention, mentionsOf } from '../../model/schema/references.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { type ReferenceTargets, resolveName } from '../../plan/checks/resolve.ts';
import { type DesiredObject, type Expanded, problemAt } from '../../plan/documents/desired.ts';
import { neverCommittedMembers } from './account.ts';

/** References to objects that the documents do not declare. */
export interface ExternalReferences {
  readonly names: readonly ExternalName[];
  readonly warnings: readonly Problem[];
  /** Number of references to kinds that documents cannot create. */
  readonly unchecked: number;
  /** Positions of documents whose parent is not declared. Rules cannot be checked for them. */
  readonly orphans: ReadonlySet<DocumentPosition>;
}

type ExternalName = Pick<Mention, 'kind' | 'text'>;

/** Returns the references to objects that neither the documents nor `base` contain. */
export function findExternalReferences(base: Snapshot, expanded: Expanded): ExternalReferences {
  const names = namesOf(base, expanded);
  const found = new Map<string, ExternalName>();
  const warnings: Problem[] = [];
  const orphans = new Set<DocumentPosition>();
  let unchecked = 0;
  for (const desired of expanded.desired) {
    for (const mention of mentionsFrom(desired)) {
      const result = checkMention(base.registry, names, mention);
      if (result === 'stated') continue;
      if (result === 'unchecked') unchecked += 1;
      if (mention.field === desired.kind.parent?.field) orphans.add(desired.position);
      if (result === 'broken') continue;
      found.set(`${mention.kind}/${mention.text}`, mention);
      if (result === 'outside')
        warnings.push(warningOf(desired, mention, nearest(mention.text, names.desiredKeys(mention.kind))));
    }
  }
  return { names: [...found.values()], warnings, unchecked, orphans };
}

/** Returns placeholder objects for the references. They belong to another source, so that no document adopts them. */
export function createPlaceholders(names: readonly ExternalName[]): readonly StoredObject[] {
  return names.map(({ kind, text }): StoredObject => {
    const [, prefix, rest = ''] = /^(id|name):(.*)$/s.exec(text) ?? [];
    const id = prefix === 'id' ? rest : `outside-${kind}-${text}`;
    const key = prefix === undefined ? { key: text } : {};
    return {
      ...neverCommittedMembers,
      ...key,
      id,
      kind,
      name: prefix === 'name' ? rest : '',
      spec: {},
      derived: {},
      owner: 'server',
    };
  });
}

function mentionsFrom(desired: DesiredObject): readonly Mention[] {
  const { kind, parent, spec } = desired;
  const field = kind.parent?.field ?? '';
  const up =
    parent === undefined
      ? []
      : [{ kind: kind.parent?.kind ?? '', text: parent, pointer: `/${field}`, field, single: true }];
  return [...up, ...mentionsOf(kind.spec, spec)];
}

type MentionResult = 'stated' | 'broken' | 'unchecked' | 'outside';

function checkMention(registry: Registry, names: ReferenceTargets, { kind, text }: Mention): MentionResult {
  const declared = registry.find(kind);
  // The plan reports a kind that this program does not know.
  if (declared === undefined) return 'stated';
  const result = resolveName(names, kind, text);
  if (!('code' in result)) return 'stated';
  if (result.code === 'broken') return 'broken';
  if (result.code !== 'reference_unknown') return 'stated';
  return declared.document.allowed && !canOnlyStateExisting(declared) ? 'outside' : 'unchecked';
}

function warningOf(desired: DesiredObject, mention: Mention, guess: string | undefined): Problem {
  const subject = { kind: desired.kind.name, metadata: { name: desired.key } };
  const hint =
    guess === undefined ? '; it must exist on the server' : `: did you mean \`${guess}\`, or is it on the server?`;
  return problemAt(desired.position, desired.pointer, subject, {
    code: 'reference_unknown',
    path: mention.pointer,
    message: `no document here states the ${mention.kind} \`${mention.text}\`${hint}`,
  });
}

function namesOf(snapshot: Snapshot, { desired, broken }: Expanded): ReferenceTargets {
  const keys = new Map<string, Set<string>>();
  for (const { kind, key } of desired) keys.set(kind.name, (keys.get(kind.name) ?? new Set()).add(key));
  return {
    snapshot,
    hints: { remaining: 200_000 },
    desiredId: (kind, key) => (keys.get(kind)?.has(key) === true ? key : undefined),
    desiredKeys: (kind) => keys.get(kind) ?? [],
    isBroken: (kind, key) => broken.has(`${kind}/${key}`),
    isOnlyStated: () => false,
    isFilteredOut: () => false,
    findByFormerKey: () => undefined,
    renamedTo: () => undefined,
    isBeingDeleted: () => false,
    refusal: () => undefined,
    label: () => undefined,
  };
}
