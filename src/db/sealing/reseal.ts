import type { JsonObject } from '../../lib/json.ts';
import type { Registry } from '../../model/declare/registry.ts';
import { Internal } from '../../model/errors.ts';
import { boundPrefix, type SealForm, type SealPlace, sealPlaces, type Vault } from '../../model/schema/sealing.ts';
import {
  isSealedIn,
  keepSecret,
  mapSecrets,
  mapUnitSecrets,
  placeOf,
  type SecretField,
} from '../../model/schema/secret-fields.ts';
import type { ObjectImage } from '../../model/state/members.ts';
import type { Declaration } from '../../model/state/object.ts';
import { mapSides, type UnitChange } from '../../model/state/units.ts';
import type { SectionName } from '../archive/format.ts';
import type { Image } from '../commit/history.ts';
import { describeSecret, type UnreadableSecret, unreadableAt } from './unreadable.ts';

/** The keys and settings for sealing stored secrets again, under the current key and in a given form. */
export interface Sealer {
  readonly registry: Registry;
  readonly vault: Vault;
  /** Form in which texts are sealed. */
  readonly form: SealForm;
  /** Whether texts in the form of an earlier release are accepted. */
  readonly acceptUnbound: boolean;
  /**
   * Called for a text that no key opens; the text is then left unchanged. Absent: the functions throw for such a text.
   */
  readonly leave?: ((secret: UnreadableSecret) => void) | undefined;
}

/** Returns a row of an archive with its secrets sealed again. */
export function sealArchived(sealer: Sealer, account: string, section: SectionName, row: JsonObject): JsonObject {
  switch (section) {
    case 'objects':
      return sealStored(sealer, account, row);
    case 'base_objects':
      return { ...row, ...sealBase(sealer, row, account) };
    case 'changes':
      return { ...row, ...sealChange(sealer, row, account) };
    case 'credentials':
      return { ...row, ...sealCredentials(sealer, row, account) };
    default:
      return row;
  }
}

function sealStored(sealer: Sealer, account: string, row: JsonObject): JsonObject {
  // The reader of the archive checks whether the row is an object at all.
  const { id, kind, spec, declared } = row;
  const owner: Owner = [account, String(id)];
  return {
    ...row,
    ...(isPlain(spec) ? { spec: sealSpec(sealer, String(kind), owner, spec) } : {}),
    ...(Array.isArray(declared) ? { declared: sealDeclarations(sealer, String(kind), owner, declared) } : {}),
  };
}

function isPlain(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the columns of a row of `changes` that contain secrets, sealed again. */
export function sealChange(sealer: Sealer, row: JsonObject, account: string): JsonObject {
  const { kind, object_id: id, units, image } = row;
  const owner: Owner = [account, String(id)];
  return {
    // The store wrote the columns from values of these types.
    units: sealUnits(sealer, String(kind), owner, units as readonly UnitChange[]),
    image: image === null || image === undefined ? null : sealImage(sealer, String(kind), owner, image as Image),
  };
}

/** Returns the column of a row of `base_objects` that contains secrets, sealed again. */
export function sealBase(sealer: Sealer, { object_id: id, image }: JsonObject, account: string): JsonObject {
  // The store wrote the column from a value of this type.
  const object = image as ObjectImage;
  return { image: sealObject(sealer, object.kind, [account, String(id)], object) };
}

/** Returns the secret of the second factor in a row of `credentials`, sealed again. */
export function sealCredentials(sealer: Sealer, { email, totp_secret: text }: JsonObject, account: string): JsonObject {
  const place = sealPlaces.secondFactor(account, String(email));
  return { totp_secret: typeof text === 'string' ? sealText(sealer, text, place) : null };
}

/** The object that a secret belongs to. */
type Owner = readonly [account: string, object: string];

/** Returns a spec with its secrets sealed again. */
export function sealSpec(sealer: Sealer, kind: string, [account, id]: Owner, spec: JsonObject): JsonObject {
  const fields = sealer.registry.find(kind)?.spec;
  if (fields === undefined) return spec;
  return mapSecrets(fields, spec, (text, path, field) => sealSecret(sealer, field, text, placeOf(account, id, path)));
}

function sealDeclarations(
  sealer: Sealer,
  kind: string,
  owner: Owner,
  declared: readonly Declaration[],
): readonly Declaration[] {
  return declared.map((one) => ({ ...one, stated: sealSpec(sealer, kind, owner, one.stated) }));
}

/** Returns an object with its secrets sealed again. */
function sealObject(sealer: Sealer, kind: string, owner: Owner, object: ObjectImage): ObjectImage {
  return {
    ...object,
    spec: sealSpec(sealer, kind, owner, object.spec),
    // Objects that the first releases stored may have no `declared`.
    ...(object.declared === undefined ? {} : { declared: sealDeclarations(sealer, kind, owner, object.declared) }),
  };
}

function sealImage(sealer: Sealer, kind: string, owner: Owner, image: Image): Image {
  const { object, declared } = image;
  return {
    ...image,
    ...(object === undefined ? {} : { object: sealObject(sealer, kind, owner, object) }),
    ...(declared === undefined
      ? {}
      : { declared: { ...declared, put: sealDeclarations(sealer, kind, owner, declared.put) } }),
  };
}

function sealUnits(
  sealer: Sealer,
  kind: string,
  [account, id]: Owner,
  units: readonly UnitChange[],
): readonly UnitChange[] {
  const fields = sealer.registry.find(kind)?.spec;
  if (fields === undefined) return units;
  return units.map((unit) =>
    mapSides(unit, (value) =>
      mapUnitSecrets(fields, unit.path, value, (text, path, field) =>
        sealSecret(sealer, field, text, placeOf(account, id, path)),
      ),
    ),
  );
}

/**
 * Like `sealText`, but returns a text that no key opens unchanged and does not report it: it counts as deleted, and
 * people sign in again.
 */
export function sealRecord(sealer: Sealer, text: string, place: SealPlace): string {
  try {
    return sealText({ ...sealer, leave: undefined }, text, place);
  } catch (error) {
    if (error instanceof Internal) return text;
    throw error;
  }
}

/**
 * Seals a secret of an object again. A secret that answers show is kept in plain text in the `unbound` form, because
 * servers of that form read it so. In the other forms it is sealed.
 */
function sealSecret(sealer: Sealer, field: SecretField, stored: string, place: SealPlace): string {
  const { vault, form } = sealer;
  if (field.read !== 'shown') return sealText(sealer, stored, place);
  if (!isSealedIn(field, stored)) return keepSecret(field, stored, place, { vault, form });
  if (form !== 'unbound') return sealText(sealer, stored, place);
  return openText(sealer, stored, place) ?? stored;
}

/** Returns a sealed text, sealed again under the current key and form. */
export function sealText(sealer: Sealer, text: string, place: SealPlace): string {
  const { vault, form } = sealer;
  if (vault.isCurrent(text, form)) return text;
  const opened = openText(sealer, text, place);
  if (opened === undefined) return text;
  requireForm(sealer, text, place);
  return vault.seal(opened, place, form);
}

/** Opens a text in any form. Returns `undefined` when the text does not open and `leave` is given. */
function openText({ vault, leave }: Sealer, text: string, place: SealPlace): string | undefined {
  try {
    return isBound(text) ? vault.open(text, place) : vault.openUnbound(text);
  } catch (error) {
    if (leave === undefined || !(error instanceof Internal)) throw error;
    leave(unreadableAt(place, error.message));
    return undefined;
  }
}

/**
 * Throws for a text in the form of an earlier release when that form is no longer accepted, except with
 * `acceptUnbound`.
 */
function requireForm({ vault, acceptUnbound }: Sealer, text: string, place: SealPlace): void {
  if (acceptUnbound || isBound(text)) return;
  try {
    vault.open(text, place);
  } catch (cause) {
    if (!(cause instanceof Internal)) throw cause;
    throw new Internal(describeSecret(unreadableAt(place, cause.message)), { cause });
  }
}

function isBound(text: string): boolean {
  return text.startsWith(boundPrefix);
}
