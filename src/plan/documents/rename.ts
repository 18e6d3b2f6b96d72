import { pointerTo } from '../../lib/json.ts';
import { isTurn } from '../../lib/steps.ts';
import { type Kind, statesOnly } from '../../model/declare/kind.ts';
import { type Document, previousNamesAnnotation } from '../../model/document.ts';
import type { Problem } from '../../model/problem.ts';
import type { ProblemCode } from '../../model/problem-codes.ts';
import { aliasIndex } from '../../model/state/facets.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { problemAt } from './desired.ts';

/** Which stored objects the documents know by another key than the account does. */
export interface Renames {
  /** New keys by id. */
  readonly keys: ReadonlyMap<string, string>;
  /** Documents that go on using a former key of an object which another source renamed: `Kind/name` to its id. */
  readonly former: ReadonlyMap<string, string>;
  /** Previous names, as `Kind/name`, that still are the key of another object: nothing is moved. */
  readonly blocked: ReadonlySet<string>;
  /** Ids of objects that stay for now, because documents say that they became another one. */
  readonly held: ReadonlySet<string>;
  /** `Kind/key` of objects that the source would rename and another one owns. */
  readonly claimed: readonly string[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** What is looked at: all documents of the source, and those of them that are planned. */
export interface RenameInput {
  readonly snapshot: Snapshot;
  readonly source: string;
  readonly documents: readonly Document[];
  readonly all: readonly Document[];
}

/**
 * Finds the objects that changed their key. A previous name is done with once the object has it among its former keys, and
 * so is one that nothing has: it may stay in its document for ever. Yields now and then.
 */
export function* planRenames(input: RenameInput): Generator<undefined, Renames> {
  const search = createSearch(input);
  for (const [at, document] of input.documents.entries()) {
    if (isTurn(at)) yield undefined;
    if (document.metadata.previousNames !== undefined) renameOne(search, document);
    else findFormer(search, document);
  }
  return search;
}

interface Search {
  readonly snapshot: Snapshot;
  readonly source: string;
  /** Documents by `Kind/name`, and by `Kind/name` of what they were called. */
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

/** Most documents have no previous names, so both indexes are made when they are asked for. */
function createSearch({ snapshot, source, all }: RenameInput): Search {
  let byName: Map<string, Document> | undefined;
  let byFormer: Map<string, Document[]> | undefined;
  return {
    ...{ snapshot, source },
    stated(kind, name) {
      byName ??= new Map(all.map((document) => [`${document.kind}/${document.metadata.name}`, document]));
      return byName.get(`${kind}/${name}`);
    },
    claimants(kind, name) {
      byFormer ??= claimsOf(all);
      return byFormer.get(`${kind}/${name}`) ?? [];
    },
    ...{ keys: new Map(), former: new Map(), blocked: new Set(), held: new Set(), claimed: [] },
    ...{ problems: [], warnings: [] },
  };
}

function claimsOf(documents: readonly Document[]): Map<string, Document[]> {
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

/** Without repeats and without the name that the document has. */
function previousNames({ metadata }: Document): readonly string[] {
  return [...new Set(metadata.previousNames)].filter((name) => name !== metadata.name);
}

function renameOne(search: Search, document: Document): void {
  const kind = search.snapshot.registry.find(document.kind);
  // Unknown kinds are reported where documents are checked.
  if (kind === undefined) return;
  if (hasFixedKey(kind)) {
    const message = `the key of a ${kind.name} is not its document's to choose; remove \`previousNames\``;
    search.problems.push(faultOf(document, 'rename_needless', message));
    return;
  }
  const present = search.snapshot.findByKey(kind.name, document.metadata.name);
  const found = previousNames(document).flatMap((name) => oneNamed(search, document, present, name) ?? []);
  const movable = [...new Map(found.map((object) => [object.id, object])).values()];
  const [object, ...others] = movable;
  if (object === undefined) {
    if (present === undefined) findFormer(search, document);
    return;
  }
  if (others.length === 0) {
    moveTo(search, document, object);
    return;
  }
  const names = movable.map(({ key }) => `\`${key}\``).join(' and ');
  const message = `${names} are objects of their own, and both are previous names of \`${document.metadata.name}\`; leave the one in \`previousNames\` that it shall be`;
  search.problems.push(faultOf(document, 'rename_ambiguous', message));
}

/** Keys of children follow from their parents, some others are given by what they are about. */
function hasFixedKey(kind: Kind): boolean {
  return kind.parent !== undefined || kind.singleton !== undefined || statesOnly(kind);
}

/** The object that one previous name stands for, if it is still to be moved. */
function oneNamed(
  search: Search,
  document: Document,
  present: StoredObject | undefined,
  name: string,
): StoredObject | undefined {
  const { kind, metadata } = document;
  const other = search.claimants(kind, name).find((claimant) => claimant.metadata.name !== metadata.name);
  if (other !== undefined) {
    const message = `\`${name}\` is a previous name of \`${other.metadata.name}\` too (${placeOf(other)}); leave it in one of the two`;
    search.problems.push(faultOf(document, 'rename_claimed_twice', message));
    return undefined;
  }
  if (present?.aliases?.includes(name) === true) return undefined;
  const object = search.snapshot.findByKey(kind, name) ?? formerly(search, kind, name);
  if (object === present) return undefined;
  const still = search.stated(kind, name);
  if (still === undefined && object !== undefined)
    return present === undefined ? object : block(search, document, object, name);
  // Where there is neither object nor document by the name it is done with; nor do new documents rename each other.
  if (still === undefined || (object === undefined && present === undefined)) return undefined;
  // Two documents that state each other swap their objects.
  if (present !== undefined && previousNames(still).includes(metadata.name)) return object;
  const message = `\`${name}\` is a previous name here and still has a document of its own (${placeOf(still)}); remove that document or the previous name`;
  search.problems.push(faultOf(document, 'rename_still_stated', message));
  return undefined;
}

/** The one object that had a key, unless a document states it by the key that it has. */
function formerly(search: Search, kind: string, name: string): StoredObject | undefined {
  const [object, ...others] = search.snapshot.lookUp(kind, aliasIndex, name);
  // What has no key any more belongs to no documents: it is adopted like anything else.
  if (object?.key === undefined || others.length > 0) return undefined;
  return search.stated(kind, object.key) === undefined ? object : undefined;
}

/** Both keys are taken: which of the two objects the document means is undecided, so both stay as they are. */
function block(search: Search, document: Document, object: StoredObject, name: string): undefined {
  const { kind, metadata } = document;
  search.blocked.add(`${kind}/${name}`);
  search.held.add(object.id);
  const message = `${kind} \`${metadata.name}\` was called \`${name}\`, and both exist (${metadata.name} and id ${object.id}): nothing is moved, and \`${name}\` is kept; remove it from \`previousNames\` when they are two`;
  search.warnings.push(faultOf(document, 'rename_blocked', message));
}

function moveTo(search: Search, document: Document, object: StoredObject): void {
  const { kind, metadata } = document;
  const keeper = keeperOf(object);
  if (keeper === undefined || keeper === search.source) {
    search.keys.set(object.id, metadata.name);
    return;
  }
  search.claimed.push(`${kind}/${object.key}`);
  const message = `${kind} \`${object.key}\` belongs to the source ${keeper}, and only that can rename it; rename it there, or remove its document there first`;
  search.problems.push(faultOf(document, 'rename_foreign', message));
}

/** Whose word about the key counts: that of the owner, else of the first source that states the object. */
function keeperOf({ owner, declared }: StoredObject): string | undefined {
  return owner ?? declared.map(({ source }) => source).sort()[0];
}

/**
 * A document whose key nothing has, but something had: its source gave the object another key and took that back, or
 * another source did.
 */
function findFormer(search: Search, { kind, metadata: { name } }: Document): void {
  const { snapshot, source } = search;
  if (snapshot.findByKey(kind, name) !== undefined) return;
  const object = formerly(search, kind, name);
  if (object === undefined || object.parent !== undefined) return;
  if (!object.declared.some((declaration) => declaration.source === source)) return;
  if (keeperOf(object) === source) search.keys.set(object.id, name);
  else search.former.set(`${kind}/${name}`, object.id);
}

function faultOf(document: Document, code: ProblemCode, message: string): Problem {
  const isAnnotated = document.metadata.annotations?.[previousNamesAnnotation] !== undefined;
  const pointer = isAnnotated ? pointerTo('/metadata/annotations', previousNamesAnnotation) : '/metadata/previousNames';
  return problemAt(document.place, pointer, document, { code, path: '', message });
}

function placeOf({ place }: Document): string {
  return `${place.file}:${place.line}`;
}
