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
  sealContextOf,
  secretPointer,
} from '../../model/schema/secret-fields.ts';
import type { StoredObject } from '../../model/state/object.ts';

type Vault = PlanEnvironment['vault'];

/** An object before and after a change. The ids differ when the object is created again. */
export interface AddressChange {
  readonly account: string;
  readonly before: StoredObject;
  readonly after: StoredObject;
  readonly givenSecrets: GivenSecrets;
}

/** The secrets whose value a change itself gives. */
export interface GivenSecrets {
  /** JSON pointers of the secrets. */
  readonly pointers: readonly string[];
  /** Source and spec of the document that gives the secrets. Absent: a request gives them. */
  readonly document?: { readonly source: string; readonly spec: JsonObject };
}

export const noSecrets: GivenSecrets = { pointers: [] };

/** Secrets with the addresses that they were given for, in forms that are equal for equal values. */
interface Credentials {
  /** In the order of the kind's `secretAddresses`. Empty text: no address. `undefined`: any address. */
  readonly origins: readonly (string | undefined)[];
  /** By JSON pointer. */
  readonly secrets: ReadonlyMap<string, string>;
}

/**
 * Returns a fault for each secret that a change would send to an address for which it was not given. Who may change an
 * address, or end an override of one, need not know the secrets, and would otherwise receive them there. A secret and
 * its address must both be the present ones, both be those of one declaration, or come together with the change.
 * Declarations are checked like the values in effect, because they take effect when an override ends.
 */
export function secretAddressFaults(kind: Kind, change: AddressChange, vault: Vault): readonly Fault[] {
  if (kind.secretAddresses === undefined) return [];
  const { account, before, after, givenSecrets } = change;
  const readBefore = (spec: JsonObject) => readCredentials(kind, account, before.id, spec, vault);
  const readAfter = (spec: JsonObject) => readCredentials(kind, account, after.id, spec, vault);
  const present = readBefore(before.spec);
  const stated = statedSpecs(before).map(readBefore);
  const { document } = givenSecrets;
  const own = before.declared.find(({ source }) => source === document?.source);
  const given =
    document === undefined
      ? givenByRequest(givenSecrets, readAfter(after.spec))
      : givenByDocument(givenSecrets, readBefore(document.spec), present, own && readBefore(own.stated));
  const approved = [present, ...stated, ...given];
  const declared = statedSpecs(after).map(readAfter);
  const refused = [readAfter(after.spec), ...declared].flatMap((sent) => unapproved(sent, approved));
  const isKept = (pointer: string) =>
    !givenSecrets.pointers.includes(pointer) &&
    stated.some(({ secrets }) => secrets.has(pointer) && secrets.get(pointer) !== present.secrets.get(pointer));
  return [...new Set(refused)].map((pointer) => {
    const name = `the secret \`${pointer.slice(1)}\``;
    const hint =
      document !== undefined && isKept(pointer)
        ? ' (`valueFrom: {stored: true}` keeps the stated secret, not the present one)'
        : '';
    const message =
      document !== undefined && lacksAddress(pointer, declared)
        ? `no document states ${name} together with the address to which it would be sent; state its value and the address in one document`
        : `${name} is stored for another address than the new one; give its value again together with the address${hint}`;
    return { code: 'secret_address_changed', path: pointer, message };
  });
}

/** Whether declarations contain a secret, but none of them an address. */
function lacksAddress(pointer: string, declared: readonly Credentials[]): boolean {
  const containing = declared.filter(({ secrets }) => secrets.has(pointer));
  return containing.length > 0 && containing.every(({ origins }) => origins.every((origin) => origin === ''));
}

function statedSpecs({ declared }: StoredObject): readonly JsonObject[] {
  return declared.map(({ stated }) => stated);
}

/** The author of a request sees the whole object, and gives its secrets for the addresses that it then has. */
function givenByRequest({ pointers }: GivenSecrets, { origins, secrets }: Credentials): readonly Credentials[] {
  return [{ origins: origins.map(() => undefined), secrets: pickSecrets(secrets, pointers) }];
}

/**
 * A document gives its secrets for the addresses that it states. An address that it does not state is accepted as it
 * is, if the present secret is the one that the same source states: who chose the address then knew that secret.
 * Otherwise a user or another source may have chosen the address together with another secret, and may even have taken
 * the secret from the declaration of this source: the new secret must not be sent there.
 */
function givenByDocument(
  { pointers }: GivenSecrets,
  { origins, secrets }: Credentials,
  present: Credentials,
  own: Credentials | undefined,
): readonly Credentials[] {
  const given = pickSecrets(secrets, pointers);
  const isPresentAsStated = (pointer: string) => {
    const text = own?.secrets.get(pointer);
    return text !== undefined && text === present.secrets.get(pointer);
  };
  return [
    { origins, secrets: given },
    {
      origins: origins.map((origin, at) => (origin === '' ? present.origins[at] : origin)),
      secrets: new Map([...given].filter(([pointer]) => isPresentAsStated(pointer))),
    },
  ];
}

function pickSecrets(secrets: Credentials['secrets'], pointers: readonly string[]): Credentials['secrets'] {
  return new Map([...secrets].filter(([pointer]) => pointers.includes(pointer)));
}

/** Returns the secrets that no approved credentials contain with the same addresses. */
function unapproved({ origins, secrets }: Credentials, approved: readonly Credentials[]): readonly string[] {
  // Without an address, secrets are sent to that of the product itself.
  const isFor = (item: Credentials) =>
    origins.every((origin, at) => origin === '' || item.origins[at] === undefined || origin === item.origins[at]);
  const fitting = approved.filter(isFor);
  return [...secrets].flatMap(([pointer, text]) =>
    fitting.some((item) => item.secrets.get(pointer) === text) ? [] : [pointer],
  );
}

function readCredentials(
  { spec: fields, secretAddresses = [] }: Kind,
  account: string,
  id: string,
  spec: JsonObject,
  vault: Vault,
): Credentials {
  return {
    origins: secretAddresses.map((path) => originAt(fields, path.split('.'), account, { id, spec }, vault)),
    secrets: secretsByPointer(fields, account, { id, spec }, vault),
  };
}

function originAt(
  fields: Fields,
  path: readonly string[],
  account: string,
  { id, spec }: Pick<StoredObject, 'id' | 'spec'>,
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
      ? openOrKeep(() => openSecret(field, value, sealContextOf(account, id, path), vault), value)
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
  { id, spec }: Pick<StoredObject, 'id' | 'spec'>,
  vault: Vault,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  if (!hasSecrets(fields)) return found;
  mapSecrets(fields, spec, (sealed, path, { read }) => {
    const context = sealContextOf(account, id, path);
    if (read !== 'shown')
      found.set(
        secretPointer(path),
        openOrKeep(() => vault.fingerprint(sealed, context), sealed),
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
