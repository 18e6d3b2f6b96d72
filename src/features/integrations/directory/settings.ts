import type { Engine } from '../../../commit/engine.ts';
import { canonicalJson, type JsonObject } from '../../../lib/json.ts';
import { sha256 } from '../../../lib/node-pure.ts';
import { mapSecrets, openSecret, placeOf } from '../../../model/schema/secret-fields.ts';
import type { Stored } from '../../../model/state/stored.ts';
import type { Credentials } from './token.ts';

/** How names begin of groups that are taken over, and of groups whose members are; all of them where there is none. */
export interface Prefixes {
  readonly groups: readonly string[];
  readonly users: readonly string[];
}

/** What an integration is set to. */
export interface DirectorySettings {
  readonly host: string;
  readonly prefixes: Prefixes;
  readonly intervalMs: number;
  /** Stands for the settings on which it depends what is read. */
  readonly basis: string;
  /** Stands for the secret. */
  readonly secretBasis: string;
}

const usualSeconds = 300;

/** The settings of an integration. */
export function settingsOf({ spec }: Stored<'DirectoryIntegration'>): DirectorySettings {
  const { host = '', tenant_id: tenant, client_id: client, sync_interval: seconds = usualSeconds } = spec;
  const prefixes = { groups: spec.group_prefixes ?? [], users: spec.user_group_prefixes ?? [] };
  const basis = { host, tenant: tenant ?? '', client: client ?? '', groups: prefixes.groups, users: prefixes.users };
  return {
    ...{ host, prefixes, intervalMs: seconds * 1000, basis: sha256(canonicalJson(basis)) },
    secretBasis: sha256(canonicalJson({ secret: spec.client_secret ?? '', client: client ?? '' })),
  };
}

/** What it signs in with. Throws `Internal` when the secret does not open. */
export function credentialsOf(
  { registry, planEnvironment }: Engine,
  account: string,
  { id, kind, spec }: Stored<'DirectoryIntegration'>,
): Credentials {
  // A spec is JSON.
  const stored = { ...spec } as JsonObject;
  const opened = mapSecrets(registry.get(kind).spec, stored, (text, path, field) =>
    openSecret(field, text, placeOf(account, id, path), planEnvironment.vault),
  );
  const { tenant_id: tenant, client_id: clientId, client_secret: secret } = opened;
  return {
    ...{ tenant: String(tenant), clientId: String(clientId) },
    secret: Buffer.from(String(secret), 'base64').toString('utf8'),
  };
}

/** Whether a name begins as one of the prefixes; every name does when there is none. */
export function isSelected(name: string, prefixes: readonly string[]): boolean {
  return prefixes.length === 0 || prefixes.some((prefix) => name.startsWith(prefix));
}
