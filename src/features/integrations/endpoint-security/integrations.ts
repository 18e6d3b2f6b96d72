import type { Engine } from '../../../commit/engine.ts';
import { canonicalJson } from '../../../lib/json.ts';
import { sha256 } from '../../../lib/node-pure.ts';
import { mapSecrets, openSecret, sealContextOf } from '../../../model/schema/secret-fields.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import type { KindName, StoredSpec } from '../../../model/state/stored.ts';
import type { AskVendor } from './http.ts';
import type { Integration, Vendor } from './vendor.ts';
import { openVendorA } from './vendors/a.ts';
import { openVendorB } from './vendors/b.ts';
import { openVendorC } from './vendors/c.ts';
import { openVendorD } from './vendors/d.ts';

type Settings = Integration['settings'];

interface Product {
  readonly name: string;
  open(settings: Settings, ask: AskVendor, now: () => number): Vendor;
}

function product<K extends KindName>(
  name: string,
  open: (settings: StoredSpec<K>, ask: AskVendor, now: () => number) => Vendor,
): Product {
  // The cast is safe: stored settings were checked against the fields of their kind.
  return { name, open: (settings, ask, now) => open(settings as StoredSpec<K>, ask, now) };
}

/** Products by the kind of the integration, one line each. */
const products: Readonly<Record<string, Product>> = {
  EdrVendorA: product('vendor A', openVendorA),
  EdrVendorB: product('vendor B', openVendorB),
  EdrVendorC: product('vendor C', openVendorC),
  EdrVendorD: product('vendor D', openVendorD),
};

/** Kinds of integrations with endpoint security products. */
export const integrationKinds: readonly string[] = Object.keys(products);

/** Value of `trustedHours` for products whose integration does not set it, in hours. */
const defaultTrustedHours = 24;

function productOf(kind: string): string {
  return products[kind]?.name ?? kind;
}

/** Returns the name of a product in paths and events. */
export function platformOf(kind: string): string {
  return productOf(kind).toLowerCase().replace(' ', '-');
}

/** Opens the product of an integration. Throws `Error` for a kind without a product. */
export function openVendor(kind: string, { settings }: Integration, ask: AskVendor, now: () => number): Vendor {
  const found = products[kind];
  if (found === undefined) throw new Error(`${kind} is not an integration with an endpoint-security product`);
  return found.open(settings, ask, now);
}

/** Returns the properties of an integration that are not secret. */
export function describeIntegration({ kind, spec }: StoredObject): Described {
  const { last_synced_interval: hours, api_token: token, secret, client_id: client } = spec;
  return {
    product: productOf(kind),
    platform: platformOf(kind),
    trustedHours: typeof hours === 'number' ? hours : defaultTrustedHours,
    credentialBasis: sha256(canonicalJson({ token: token ?? '', secret: secret ?? '', client: client ?? '' })),
  };
}

type Described = Pick<Integration, 'product' | 'platform' | 'trustedHours' | 'credentialBasis'>;

/** Returns the integration with its secrets opened. Throws `Internal` when a secret does not open. */
export function openIntegration(
  { registry, planEnvironment }: Pick<Engine, 'registry' | 'planEnvironment'>,
  account: string,
  object: StoredObject,
): Integration {
  const { id, kind, spec } = object;
  const settings = mapSecrets(registry.get(kind).spec, spec, (text, path, field) =>
    openSecret(field, text, sealContextOf(account, id, path), planEnvironment.vault),
  );
  return { account, id, ...describeIntegration(object), settings };
}
