import type { Engine } from '../../../commit/engine.ts';
import { runInSlices } from '../../../commit/slices.ts';
import {
  type ArchiveHeader,
  damagedArchiveError,
  type SectionName,
  sealedTextPattern,
} from '../../../db/archive/format.ts';
import { createObjectMeter, type OnExcess, refuseExcess } from '../../../db/archive/limits.ts';
import type { PackedArchive } from '../../../db/archive/packed.ts';
import { archiveRows } from '../../../db/archive/rows.ts';
import type { ArchiveStructure } from '../../../db/archive/structure.ts';
import { verifyArchive } from '../../../db/archive/verify.ts';
import { resealArchivedRow } from '../../../db/sealing/reseal.ts';
import { isObject, type JsonObject } from '../../../lib/json.ts';
import { forEachInSteps } from '../../../lib/steps.ts';
import type { Registry } from '../../../model/declare/registry.ts';
import { InvalidInput } from '../../../model/errors.ts';
import type { Problem } from '../../../model/problem.ts';
import type { ProblemCode } from '../../../model/problem-codes.ts';
import { facetsOf } from '../../../model/state/facets.ts';
import { type ObjectImage, objectFromImage } from '../../../model/state/members.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import { emptySnapshot, type Snapshot } from '../../../model/state/snapshot.ts';

/** Result of a complete check of an archive. */
export interface CheckedArchive {
  readonly structure: ArchiveStructure;
  readonly header: ArchiveHeader;
  readonly account: JsonObject;
  readonly state: Snapshot;
}

/** Options of reading an archive. */
export interface ArchiveReadOptions {
  /** Whether archives that no key of this server signed are accepted too. The operator vouches for their origin. */
  readonly acceptUnsigned?: boolean;
  /** The structure that `verifyArchive` returned for the archive. Absent: the archive is verified first. */
  readonly structure?: ArchiveStructure;
}

/** Options of checking an archive. */
export interface ArchiveCheckOptions extends ArchiveReadOptions {
  /** What happens when the archive exceeds a limit. Default: it is refused. */
  readonly onExcess?: OnExcess;
}

/**
 * Reads the whole archive and checks its checksums, its signature, its secrets, and whether its objects form a valid
 * account. Throws `InvalidInput` when a check fails. Rows are parsed only after the signature was verified: until then
 * anyone may have written them, and they may be built to exhaust the memory.
 */
export async function checkArchive(
  engine: Engine,
  archive: PackedArchive,
  options: ArchiveCheckOptions = {},
): Promise<CheckedArchive> {
  const { onExcess = refuseExcess } = options;
  const structure = options.structure ?? (await verifyArchive(archive, onExcess));
  requireSignature(engine, structure, options);
  const { header } = structure;
  const { account, objects } = await readContent(engine, structure, archive, onExcess);
  const state = await runInSlices(
    emptySnapshot(engine.registry, header.account, header.revision, numbersOf(account)).withInSteps({
      put: objects,
      remove: [],
    }),
  );
  const problems = await runInSlices(faultsOfState(state, objects));
  if (problems.length > 0)
    throw new InvalidInput('the objects in the archive do not form a valid account; nothing was written', { problems });
  return { structure, header, account, state };
}

/** Reads the account row and the objects. Opens the secrets of all rows. */
async function readContent(
  engine: Engine,
  structure: ArchiveStructure,
  archive: PackedArchive,
  onExcess: OnExcess,
): Promise<{ readonly account: JsonObject; readonly objects: readonly StoredObject[] }> {
  let account: JsonObject | undefined;
  const objects: StoredObject[] = [];
  const countValues = createObjectMeter(onExcess);
  for await (const { values, ...item } of archiveRows(archive, structure, onExcess)) {
    countValues(item.section, values);
    const row = resealRow(engine, structure.header.account, item);
    if (item.section === 'account') account = row;
    if (item.section === 'objects') objects.push(storedObject(engine.registry, row));
  }
  if (account === undefined) throw damagedArchiveError('its account is missing');
  return { account, objects };
}

/** Throws `InvalidInput` for an archive without a valid signature, because anyone may have written it. */
function requireSignature(
  { planEnvironment: { archiveSigner: signer } }: Engine,
  { signed }: Pick<ArchiveStructure, 'signed'>,
  { acceptUnsigned = false }: ArchiveReadOptions,
): void {
  const isGenuine = signed === undefined ? undefined : signer.verify(signed.text, signed);
  if (isGenuine === false)
    throw new InvalidInput(
      'the archive was changed after it was written: its signature does not match. Nothing was written; use another copy of the archive',
    );
  if (isGenuine === true || acceptUnsigned) return;
  if (signed === undefined)
    throw new InvalidInput(
      'the archive is not signed, like archives of the first releases: its author is unknown. The operator can restore it on the server with `heddle operator restore FILE --accept-unsigned`',
    );
  throw new InvalidInput(
    `the archive is signed with the key ${signed.key.slice(0, 50)}, which this server does not have (its own is ${signer.keyId}); start the server with that key too, after its own key in HEDDLE_SECRET_KEY or its file, or have the operator restore the archive with \`heddle operator restore FILE --accept-unsigned\``,
  );
}

/** A row of an archive, and the section that contains it. */
export interface SectionRow {
  readonly section: SectionName;
  readonly row: JsonObject;
}

/**
 * Returns the archive row with its secrets sealed again under this server's key. A secret opens only in the context for
 * which it was sealed, except secrets that earlier releases sealed without a context. Throws `InvalidInput` when a
 * secret does not open.
 */
export function resealRow(
  { registry, planEnvironment: { vault } }: Engine,
  account: string,
  { section, row }: SectionRow,
): JsonObject {
  try {
    return resealArchivedRow({ registry, vault, form: vault.form, acceptUnbound: true }, account, section, row);
  } catch (cause) {
    const keys = new Set([...JSON.stringify(row).matchAll(sealedTextPattern)].map(([, key = '']) => key));
    throw new InvalidInput(
      `the archive contains secrets that are sealed with the key ${[...keys].join(', ')}, and this server cannot open them (its own key is ${vault.keyId}); start the server with that key too, after its own key in HEDDLE_SECRET_KEY or its file; it then seals the secrets again with its own key`,
      { cause },
    );
  }
}

function storedObject(registry: Registry, row: JsonObject): StoredObject {
  const { id, kind, name, spec, derived, declared, createdRevision, updatedRevision } = row;
  const texts = [id, kind, name].every((text) => typeof text === 'string');
  const numbers = [createdRevision, updatedRevision].every((number) => typeof number === 'number');
  if (!texts || !numbers || !isObject(spec) || !isObject(derived) || !Array.isArray(declared))
    throw damagedArchiveError('an object in it is incomplete');
  if (registry.find(String(kind)) === undefined)
    throw new InvalidInput(
      `the archive contains objects of the kind ${String(kind).slice(0, 50)}, which this version of Heddle does not know; restore it with the version that wrote it, or a newer one`,
    );
  // The cast is safe: the members that the code relies on were checked above, and this program wrote the rest.
  return objectFromImage(registry, row as ObjectImage);
}

function numbersOf({ sequences }: JsonObject): Readonly<Record<string, number>> {
  const numbers = isObject(sequences) ? Object.entries(sequences) : [];
  return Object.fromEntries(numbers.map(([kind, number]) => [kind, Number(number)]));
}

/** Maximum number of problems that are reported. */
const maxProblems = 20;

/**
 * Returns the reasons why objects do not form a valid account: duplicate ids, references to missing objects, and unique
 * values that two objects share.
 */
function* faultsOfState(state: Snapshot, objects: readonly StoredObject[]): Generator<undefined, readonly Problem[]> {
  const problems: Problem[] = [];
  const ids = new Set<string>();
  yield* forEachInSteps(objects, (object) => {
    if (problems.length >= maxProblems) return;
    const add = (code: ProblemCode, message: string): void => {
      problems.push({ code, kind: object.kind, key: object.key ?? object.name, message });
    };
    if (ids.has(object.id)) add('object_duplicate', `the id ${object.id} occurs twice`);
    ids.add(object.id);
    const { keys, references } = facetsOf(state.registry, object);
    for (const { field, to } of references)
      if (state.get(to) === undefined)
        add('reference_unknown', `${field} refers to ${to}, which is not in the archive`);
    for (const { rule, value } of keys) {
      const holder = state.findByUnique(object.kind, rule, value);
      if (holder !== undefined && holder.id !== object.id)
        add('value_taken', `${rule} ${value} is taken by another ${object.kind} of the archive`);
    }
  });
  return problems;
}
