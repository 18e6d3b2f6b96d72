import { appendPointer } from '../../lib/json.ts';
import { shouldYield } from '../../lib/steps.ts';
import { canOnlyStateExisting, type Kind } from '../../model/declare/kind.ts';
import { type Document, previousNamesAnnotation } from '../../model/document.ts';
import type { Problem } from '../../model/problem.ts';
import type { ProblemCode } from '../../model/problem-codes.ts';
import { aliasIndex } from '../../model/state/facets.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { problemAt } from './desired.ts';

/** Stored objects whose key in the documents differs from their key in the account. */
export interface Renames {
  /** New keys, by id of the object. */
  readonly keys: ReadonlyMap<string, string>;
  /**
   * Documents that still use a former key of an object that another source renamed: `Kind/name` to the id of the
   * object.
   */
  readonly former: ReadonlyMap<string, string>;
  /** Previous names, as `Kind/name`, that are still the key of another object. Nothing is renamed for them. */
  readonly blocked: ReadonlySet<string>;
  /** Ids of objects that are not deleted for now, because their key is a blocked previous name. */
  readonly held: ReadonlySet<string>;
  /** `Kind/key` of objects that the source tries to rename although another source owns them. */
  readonly claimed: readonly string[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** Input of `planRenames`: all documents of the source, and those of them that are planned. */
export interface RenameInput {
  readonly snapshot: Snapshot;
  readonly source: string;
  readonly documents: readonly Document[];
  readonly allDocuments: readonly Document[];
}

/**
 * Finds the objects whose key changed. A previous name has no effect when it is already among the former keys of the
 * object, or when no object has it, so it may stay in its document for ever. Yields now and then.
 */
export function* planRenames(input: RenameInput): Generator<undefined, Renames> {
  const search = createRenameSearch(input);
  for (const [at, document] of input.documents.entries()) {
    if (shouldYield(at)) yield undefined;
    if (document.metadata.previousNames !== undefined) renameOne(search, document);
    else followFormerKey(search, document);
  }
  return search;
}

interface RenameSearch {
  readonly snapshot: Snapshot;
  readonly source: string;
  /**
   * Returns the document named `Kind/name`, or undefined. `claimants` returns the documents that list `Kind/name` as a
   * previous name.
   */
  stated(kind: string, name: string): Document | undefined;
  claimants(kind: string, name: string): readonly Document[];
  readonly keys: Map<string, string>;
  readonly former: Map<string, string>;
  readonly blocked: Set<string>;
  readonly held: Set<string>;
  readonly claimed: string[];
  readonly problems: Problem[];
  readonly warnings: Problem[];
}

/** Builds both indexes on first use, because most documents have no previous names. */
function createRenameSearch({ snapshot, source, allDocuments }: RenameInput): RenameSearch {
  let byName: Map<string, Document> | undefined;
  let byFormer: Map<string, Document[]> | undefined;
  return {
    ...{ snapshot, source },
    stated(kind, name) {
      byName ??= new Map(allDocuments.map((document) => [`${document.kind}/${document.metadata.name}`, document]));
      return byName.get(`${kind}/${name}`);
    },
    claimants(kind, name) {
      byFormer ??= documentsByPreviousName(allDocuments);
      return byFormer.get(`${kind}/${name}`) ?? [];
    },
    ...{ keys: new Map(), former: new Map(), blocked: new Set(), held: new Set(), claimed: [] },
    ...{ problems: [], warnings: [] },
  };
}

function documentsByPreviousName(documents: readonly Document[]): Map<string, Document[]> {
  const claims = new Map<string, Document[]>();
  for (const document of documents) {
    for (const name of previousNames(document)) {
      const claim = `${document.kind}/${name}`;
      const others = claims.get(claim);
      if (others === undefined) claims.set(claim, [document]);
      else others.push(document);
    }
  }
  return claims;
}

/** Returns the previous names without duplicates and without the current name of the document. */
function previousNames({ metadata }: Document): readonly string[] {
  return [...new Set(metadata.previousNames)].filter((name) => name !== metadata.name);
}

function renameOne(search: RenameSearch, document: Document): void {
  const kind = search.snapshot.registry.find(document.kind);
  // Unknown kinds are reported by the check of the documents.
  if (kind === undefined) return;
  if (hasFixedKey(kind)) {
    const message = `documents cannot choose the key of a ${kind.name}; remove \`previousNames\``;
    search.problems.push(previousNameProblem(document, 'rename_needless', message));
    return;
  }
  const present = search.snapshot.findByKey(kind.name, document.metadata.name);
  const found = previousNames(document).flatMap((name) => findObjectToRename(search, document, present, name) ?? []);
  const movable = [...new Map(found.map((object) => [object.id, object])).values()];
  const [object, ...others] = movable;
  if (object === undefined) {
    if (present === undefined) followFormerKey(search, document);
    return;
  }
  if (others.length === 0) {
    moveTo(search, document, object);
    return;
  }
  const names = movable.map(({ key }) => `\`${key}\``).join(' and ');
  const message = `${names} are different objects, and both are previous names of \`${document.metadata.name}\`; keep only the right one in \`previousNames\``;
  search.problems.push(previousNameProblem(document, 'rename_ambiguous', message));
}

/**
 * Whether documents cannot choose the key: keys of children follow from their parents, and some other kinds have a
 * fixed key.
 */
function hasFixedKey(kind: Kind): boolean {
  return kind.parent !== undefined || kind.singleton !== undefined || canOnlyStateExisting(kind);
}

/** Returns the object that a previous name refers to, if it still has to be renamed. */
function findObjectToRename(
  search: RenameSearch,
  document: Document,
  present: StoredObject | undefined,
  name: string,
): StoredObject | undefined {
  const { kind, metadata } = document;
  const other = search.claimants(kind, name).find((claimant) => claimant.metadata.name !== metadata.name);
  if (other !== undefined) {
    const message = `\`${name}\` is also a previous name of \`${other.metadata.name}\` (${positionTextOf(other)}); keep it in only one of the two`;
    search.problems.push(previousNameProblem(document, 'rename_claimed_twice', message));
    return undefined;
  }
  if (present?.aliases?.includes(name) === true) return undefined;
  const object = search.snapshot.findByKey(kind, name) ?? findByFormerKey(search, kind, name);
  if (object === present) return undefined;
  const still = search.stated(kind, name);
  if (still === undefined && object !== undefined)
    return present === undefined ? object : block(search, document, object, name);
  // With neither an object nor a document of that name, the rename is finished. New documents do not rename each other
  // either.
  if (still === undefined || (object === undefined && present === undefined)) return undefined;
  // Two documents that list each other's name as a previous name swap their objects.
  if (present !== undefined && previousNames(still).includes(metadata.name)) return object;
  const message = `\`${name}\` is a previous name here and also has its own document (${positionTextOf(still)}); remove that document or the previous name`;
  search.problems.push(previousNameProblem(document, 'rename_still_stated', message));
  return undefined;
}

/** Returns the only object that had the key, unless a document states that object by its current key. */
function findByFormerKey(search: RenameSearch, kind: string, name: string): StoredObject | undefined {
  const [object, ...others] = search.snapshot.lookUp(kind, aliasIndex, name);
  // An object without a key belongs to no document: it is adopted like any other object.
  if (object?.key === undefined || others.length > 0) return undefined;
  return search.stated(kind, object.key) === undefined ? object : undefined;
}

/**
 * Blocks the rename when both keys exist: it is undecided which of the two objects the document means, so both stay
 * unchanged.
 */
function block(search: RenameSearch, document: Document, object: StoredObject, name: string): undefined {
  const { kind, metadata } = document;
  search.blocked.add(`${kind}/${name}`);
  search.held.add(object.id);
  const message = `${kind} \`${metadata.name}\` has the previous name \`${name}\`, and both objects exist (${metadata.name} and id ${object.id}): nothing is renamed, and \`${name}\` is kept; if they are different objects, remove it from \`previousNames\``;
  search.warnings.push(previousNameProblem(document, 'rename_blocked', message));
}

function moveTo(search: RenameSearch, document: Document, object: StoredObject): void {
  const { kind, metadata } = document;
  const keeper = keyOwnerOf(object);
  if (keeper === undefined || keeper === search.source) {
    search.keys.set(object.id, metadata.name);
    return;
  }
  search.claimed.push(`${kind}/${object.key}`);
  const message = `${kind} \`${object.key}\` belongs to the source ${keeper}, and only that source can rename it; rename it there, or remove its document there first`;
  search.problems.push(previousNameProblem(document, 'rename_foreign', message));
}

/** Returns the source that decides about the key: the owner, else the first source by name that states the object. */
function keyOwnerOf({ owner, declared }: StoredObject): string | undefined {
  return owner ?? declared.map(({ source }) => source).sort()[0];
}

/**
 * Handles a document whose key no object has now but an object had before: its own source changed the key and changed
 * it back, or another source renamed the object.
 */
function followFormerKey(search: RenameSearch, { kind, metadata: { name } }: Document): void {
  const { snapshot, source } = search;
  if (snapshot.findByKey(kind, name) !== undefined) return;
  const object = findByFormerKey(search, kind, name);
  if (object === undefined || object.parent !== undefined) return;
  if (!object.declared.some((declaration) => declaration.source === source)) return;
  if (keyOwnerOf(object) === source) search.keys.set(object.id, name);
  else search.former.set(`${kind}/${name}`, object.id);
}

function previousNameProblem(document: Document, code: ProblemCode, message: string): Problem {
  const isAnnotated = document.metadata.annotations?.[previousNamesAnnotation] !== undefined;
  const pointer = isAnnotated
    ? appendPointer('/metadata/annotations', previousNamesAnnotation)
    : '/metadata/previousNames';
  return problemAt(document.position, pointer, document, { code, path: '', message });
}

function positionTextOf({ position }: Document): string {
  return `${position.file}:${position.line}`;
}
