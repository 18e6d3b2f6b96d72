import type { JsonObject } from '../../lib/json.ts';
import type { Registry } from '../../model/declare/registry.ts';
import { Internal } from '../../model/errors.ts';
import { boundPrefix, type SealContext, type SealForm, sealContexts, type Vault } from '../../model/schema/sealing.ts';
import {
  isSealedIn,
  mapSecrets,
  mapUnitSecrets,
  type SecretField,
  sealContextOf,
  toStoredSecret,
} from '../../model/schema/secret-fields.ts';
import type { ObjectImage } from '../../model/state/members.ts';
import type { Declaration } from '../../model/state/object.ts';
import { mapSides, type UnitChange } from '../../model/state/units.ts';
import type { SectionName } from '../archive/format.ts';
import type { ChangeImage } from '../commit/history.ts';
import { describeSecret, type UnreadableSecret, unreadableAt } from './unreadable.ts';

/** The keys and settings for sealing stored secrets again, under the current key and in a given form. */
export interface Resealer {
  readonly registry: Registry;
  readonly vault: Vault;
  /** Form in which texts are sealed. */
  readonly form: SealForm;
  /** Whether texts in the form of an earlier release are accepted. */
  readonly acceptUnbound: boolean;
  /**
   * Called for a text that no key opens; the text is then left unchanged. Absent: the functions throw for such a text.
   */
  readonly onUnreadable?: ((secret: UnreadableSecret) => void) | undefined;
}

/** Returns a row of an archive with its secrets sealed again. */
export function resealArchivedRow(
  sealer: Resealer,
  account: string,
  section: SectionName,
  row: JsonObject,
): JsonObject {
  switch (section) {
    case 'objects':
      return resealStoredObject(sealer, account, row);
    case 'base_objects':
      return { ...row, ...resealBaseObject(sealer, row, account) };
    case 'changes':
      return { ...row, ...resealChange(sealer, row, account) };
    case 'credentials':
      return { ...row, ...resealCredentials(sealer, row, account) };
    default:
      return row;
  }
}

function resealStoredObject(sealer: Resealer, account: string, row: JsonObject): JsonObject {
  // The reader of the archive checks whether the row is an object at all.
  const { id, kind, spec, declared } = row;
  const owner: Owner = [account, String(id)];
  return {
    ...row,
    ...(isPlain(spec) ? { spec: resealSpec(sealer, String(kind), owner, spec) } : {}),
    ...(Array.isArray(declared) ? { declared: resealDeclarations(sealer, String(kind), owner, declared) } : {}),
  };
}

function isPlain(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the columns of a row of `changes` that contain secrets, sealed again. */
export function resealChange(sealer: Resealer, row: JsonObject, account: string): JsonObject {
  const { kind, object_id: id, units, image } = row;
  const owner: Owner = [account, String(id)];
  return {
    // The store wrote the columns from values of these types.
    units: resealUnits(sealer, String(kind), owner, units as readonly UnitChange[]),
    image:
      image === null || image === undefined ? null : resealImage(sealer, String(kind), owner, image as ChangeImage),
  };
}

/** Returns the column of a row of `base_objects` that contains secrets, sealed again. */
export function resealBaseObject(sealer: Resealer, { object_id: id, image }: JsonObject, account: string): JsonObject {
  // The store wrote the column from a value of this type.
  const object = image as ObjectImage;
  return { image: resealObject(sealer, object.kind, [account, String(id)], object) };
}

/** Returns the secret of the second factor in a row of `credentials`, sealed again. */
export function resealCredentials(
  sealer: Resealer,
  { email, totp_secret: text }: JsonObject,
  account: string,
): JsonObject {
  const context = sealContexts.secondFactor(account, String(email));
  return { totp_secret: typeof text === 'string' ? resealText(sealer, text, context) : null };
}

/** The object that a secret belongs to. */
type Owner = readonly [account: string, object: string];

/** Returns a spec with its secrets sealed again. */
export function resealSpec(sealer: Resealer, kind: string, [account, id]: Owner, spec: JsonObject): JsonObject {
  const fields = sealer.registry.find(kind)?.spec;
  if (fields === undefined) return spec;
  return mapSecrets(fields, spec, (text, path, field) =>
    resealSecret(sealer, field, text, sealContextOf(account, id, path)),
  );
}

function resealDeclarations(
  sealer: Resealer,
  kind: string,
  owner: Owner,
  declared: readonly Declaration[],
): readonly Declaration[] {
  return declared.map((one) => ({ ...one, stated: resealSpec(sealer, kind, owner, one.stated) }));
}

/** Returns an object with its secrets sealed again. */
function resealObject(sealer: Resealer, kind: string, owner: Owner, object: ObjectImage): ObjectImage {
  return {
    ...object,
    spec: resealSpec(sealer, kind, owner, object.spec),
    // Objects that the first releases stored may have no `declared`.
    ...(object.declared === undefined ? {} : { declared: resealDeclarations(sealer, kind, owner, object.declared) }),
  };
}

function resealImage(sealer: Resealer, kind: string, owner: Owner, image: ChangeImage): ChangeImage {
  const { object, declared } = image;
  return {
    ...image,
    ...(object === undefined ? {} : { object: resealObject(sealer, kind, owner, object) }),
    ...(declared === undefined
      ? {}
      : { declared: { ...declared, put: resealDeclarations(sealer, kind, owner, declared.put) } }),
  };
}

function resealUnits(
  sealer: Resealer,
  kind: string,
  [account, id]: Owner,
  units: readonly UnitChange[],
): readonly UnitChange[] {
  const fields = sealer.registry.find(kind)?.spec;
  if (fields === undefined) return units;
  return units.map((unit) =>
    mapSides(unit, (value) =>
      mapUnitSecrets(fields, unit.path, value, (text, path, field) =>
        resealSecret(sealer, field, text, sealContextOf(account, id, path)),
      ),
    ),
  );
}

/**
 * Like `resealText`, but returns a text that no key opens unchanged and does not report it: it counts as deleted, and
 * people sign in again.
 */
export function resealRecord(sealer: Resealer, text: string, context: SealContext): string {
  try {
    return resealText({ ...sealer, onUnreadable: undefined }, text, context);
  } catch (error) {
    if (error instanceof Internal) return text;
    throw error;
  }
}

/**
 * Seals a secret of an object again. A secret that answers show is kept in plain text in the `unbound` form, because
 * servers of that form read it so. In the other forms it is sealed.
 */
function resealSecret(sealer: Resealer, field: SecretField, stored: string, context: SealContext): string {
  const { vault, form } = sealer;
  if (field.read !== 'shown') return resealText(sealer, stored, context);
  if (!isSealedIn(field, stored)) return toStoredSecret(field, stored, context, { vault, form });
  if (form !== 'unbound') return resealText(sealer, stored, context);
  return openText(sealer, stored, context) ?? stored;
}

/** Returns a sealed text, sealed again under the current key and form. */
export function resealText(sealer: Resealer, text: string, context: SealContext): string {
  const { vault, form } = sealer;
  if (vault.isCurrent(text, form)) return text;
  const opened = openText(sealer, text, context);
  if (opened === undefined) return text;
  requireForm(sealer, text, context);
  return vault.seal(opened, context, form);
}

/** Opens a text in any form. Returns `undefined` when the text does not open and `onUnreadable` is given. */
function openText({ vault, onUnreadable }: Resealer, text: string, context: SealContext): string | undefined {
  try {
    return isBound(text) ? vault.open(text, context) : vault.openUnbound(text);
  } catch (error) {
    if (onUnreadable === undefined || !(error instanceof Internal)) throw error;
    onUnreadable(unreadableAt(context, error.message));
    return undefined;
  }
}

/**
 * Throws for a text in the form of an earlier release when that form is no longer accepted, except with
 * `acceptUnbound`.
 */
function requireForm({ vault, acceptUnbound }: Resealer, text: string, context: SealContext): void {
  if (acceptUnbound || isBound(text)) return;
  try {
    vault.open(text, context);
  } catch (cause) {
    if (!(cause instanceof Internal)) throw cause;
    throw new Internal(describeSecret(unreadableAt(context, cause.message)), { cause });
  }
}

function isBound(text: string): boolean {
  return text.startsWith(boundPrefix);
}
