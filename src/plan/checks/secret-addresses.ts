import { isObject, type Json, type JsonObject } from '../../lib/json.ts';
import type { Fault, Kind } from '../../model/declare/kind.ts';
import type { PlanEnvironment } from '../../model/declare/plan-environment.ts';
import { Internal } from '../../model/errors.ts';
import type { AnyField, Fields } from '../../model/schema/field.ts';
import {
  hasSecrets,
  mapSecrets,
  memberField,
  openSecret,
  sealPlaceOf,
  secretPointer,
} from '../../model/schema/secret-fields.ts';
import type { StoredObject } from '../../model/state/object.ts';

type Vault = PlanEnvironment['vault'];

/** An object before and after a change. The ids differ when the object is created again. */
export interface AddressChange {
  readonly account: string;
  readonly before: StoredObject;
  readonly after: StoredObject;
  /** JSON pointers of the secrets whose value the change itself gives. */
  readonly givenSecrets: readonly string[];
}

/**
 * Returns a fault for each secret that a change keeps although it sends it to another address. Who may change an
 * address need not know the secrets, and would otherwise receive them there.
 */
export function secretAddressFaults(kind: Kind, change: AddressChange, vault: Vault): readonly Fault[] {
  const { before, after, givenSecrets } = change;
  const { secretAddresses = [] } = kind;
  if (!secretAddresses.some((path) => isRedirected(kind.spec, path.split('.'), change, vault))) return [];
  const stored = secretsByPointer(kind.spec, change.account, before, vault);
  const kept = [...secretsByPointer(kind.spec, change.account, after, vault)].filter(
    ([pointer, text]) => !givenSecrets.includes(pointer) && stored.get(pointer) === text,
  );
  return kept.map(([pointer]) => ({
    code: 'secret_address_changed',
    path: pointer,
    message: `the secret \`${pointer.slice(1)}\` is stored for another address than the new one; give its value again together with the address`,
  }));
}

/** Whether an address gets another origin. Without an address, the secrets go to that of the product itself. */
function isRedirected(
  fields: Fields,
  path: readonly string[],
  { account, before, after }: AddressChange,
  vault: Vault,
): boolean {
  const next = originAt(fields, path, account, after, vault);
  return next !== '' && next !== originAt(fields, path, account, before, vault);
}

function originAt(
  fields: Fields,
  path: readonly string[],
  account: string,
  { id, spec }: StoredObject,
  vault: Vault,
): string {
  const value = path.reduce<Json | undefined>(
    (at, name) => (isObject(at) ? (at as JsonObject)[name] : undefined),
    spec,
  );
  const field = fieldAt(fields, path);
  if (typeof value !== 'string' || value === '') return '';
  const text =
    field?.type === 'secret'
      ? openOrKeep(() => openSecret(field, value, sealPlaceOf(account, id, path), vault), value)
      : value;
  return URL.parse(text)?.origin ?? text;
}

function fieldAt(fields: Fields, [name = '', ...rest]: readonly string[]): AnyField | undefined {
  const field = fields[name];
  const [member] = rest;
  if (field === undefined || member === undefined) return field;
  if (field.type === 'map') return memberField(field, member);
  return field.type === 'object' ? fieldAt(field.fields, rest) : undefined;
}

/** Returns the secrets that answers do not show, each in a form that is equal for equal texts. */
function secretsByPointer(
  fields: Fields,
  account: string,
  { id, spec }: StoredObject,
  vault: Vault,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  if (!hasSecrets(fields)) return found;
  mapSecrets(fields, spec, (sealed, path, { read }) => {
    const place = sealPlaceOf(account, id, path);
    if (read !== 'shown')
      found.set(
        secretPointer(path),
        openOrKeep(() => vault.fingerprint(sealed, place), sealed),
      );
    return sealed;
  });
  return found;
}

/** A secret that cannot be opened is compared in its sealed form. */
function openOrKeep(open: () => string, sealed: string): string {
  try {
    return open();
  } catch (error) {
    if (error instanceof Internal) return sealed;
    throw error;
  }
}
