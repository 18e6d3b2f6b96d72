import { entriesOf } from '../schema/field-search.ts';
import type { SealContext } from '../schema/sealing.ts';
import { defaultInstallation, type Installation } from './installation.ts';
import type { Kind, Parent } from './kind.ts';

/** All kinds of the program, by name. */
export interface Registry {
  readonly kinds: readonly Kind[];
  readonly names: readonly string[];
  /** The installation as answers describe it. */
  readonly installation: Installation;
  /** Opens a sealed secret of which answers show the first characters. Absent when there is no key. */
  openSecret?(sealed: string, context: SealContext): string;
  find(name: string): Kind | undefined;
  /** Returns the kind with this name. Throws when it is not declared. */
  get(name: string): Kind;
  childrenOf(name: string): readonly Kind[];
  /** Returns the child kinds that documents and answers of a kind contain, each with the member that contains them. */
  inlineChildrenOf(name: string): readonly { readonly child: Kind; readonly member: string }[];
}

/** Creates the registry. Throws when a declaration contradicts itself. */
export function createRegistry(declared: readonly Kind[], installation: Installation = defaultInstallation): Registry {
  const kinds = [...declared].sort((a, b) => (a.name < b.name ? -1 : 1));
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  for (const kind of kinds) checkDeclaration(kind, byName);
  const get = (name: string): Kind => {
    const kind = byName.get(name);
    if (kind === undefined) throw new Error(`the kind ${name} is not declared`);
    return kind;
  };
  const children = groupByParent(kinds, (child) => child);
  const inline = groupByParent(kinds, (child, parent) =>
    parent.inline === undefined ? undefined : { child, member: parent.inline },
  );
  return {
    kinds,
    names: kinds.map((kind) => kind.name),
    installation,
    find: (name) => byName.get(name),
    get,
    childrenOf: (name) => children.get(name) ?? [],
    inlineChildrenOf: (name) => inline.get(name) ?? [],
  };
}

/**
 * Maps each parent kind to the items made for its child kinds. Computed once, because the result is read for every
 * object of a list.
 */
function groupByParent<Item>(
  kinds: readonly Kind[],
  item: (child: Kind, parent: Parent) => Item | undefined,
): ReadonlyMap<string, readonly Item[]> {
  const found = new Map<string, Item[]>();
  for (const child of kinds) {
    const made = child.parent === undefined ? undefined : item(child, child.parent);
    if (child.parent === undefined || made === undefined) continue;
    found.set(child.parent.kind, [...(found.get(child.parent.kind) ?? []), made]);
  }
  return found;
}

function checkDeclaration(kind: Kind, byName: ReadonlyMap<string, Kind>): void {
  const fail = (message: string): never => {
    throw new Error(`the declaration of ${kind.name} is wrong: ${message}`);
  };
  if (byName.get(kind.name) !== kind) fail('another kind has this name');
  if (kind.parent !== undefined && !byName.has(kind.parent.kind))
    fail(`its parent ${kind.parent.kind} is not declared`);
  if (kind.parent !== undefined && kind.naturalKey === undefined) fail('a child needs a natural key');
  for (const [name, field] of entriesOf(kind.spec)) {
    if (/[.[\]]/.test(name)) fail(`the field name ${name} cannot be part of a unit path`);
    if (name in kind.computed) fail(`${name} is both a field and computed`);
    if (
      field.default !== undefined &&
      field.required === true &&
      !['list', 'refs', 'members', 'keyed', 'map', 'refMap'].includes(field.type)
    ) {
      fail(`${name} is required and has a default; use documentDefault`);
    }
  }
}
