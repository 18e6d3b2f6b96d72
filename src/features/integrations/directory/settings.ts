import type { Engine } from '../../../commit/engine.ts';
import { canonicalJson, type JsonObject } from '../../../lib/json.ts';
import { sha256 } from '../../../lib/node-pure.ts';
import { mapSecrets, openSecret, sealContextOf } from '../../../model/schema/secret-fields.ts';
import type { Stored } from '../../../model/state/stored.ts';
import type { Credentials } from './token.ts';

/**
 * Prefixes of the names of groups that are imported, and of groups whose members are imported. An empty list selects
 * all.
 */
export interface Prefixes {
  readonly groups: readonly string[];
  readonly users: readonly string[];
}

/** Settings of a directory integration. */
export interface DirectorySettings {
  readonly host: string;
  readonly prefixes: Prefixes;
  readonly intervalMs: number;
  /** Hash of the settings that decide what is read. */
  readonly basis: string;
  /** Hash that identifies the secret. */
  readonly secretBasis: string;
}

const defaultIntervalSeconds = 300;

/** Returns the settings of an integration. */
export function settingsOf({ spec }: Stored<'DirectoryIntegration'>): DirectorySettings {
  const { host = '', tenant_id: tenant, client_id: client, sync_interval: seconds = defaultIntervalSeconds } = spec;
  const prefixes = { groups: spec.group_prefixes ?? [], users: spec.user_group_prefixes ?? [] };
  const basis = { host, tenant: tenant ?? '', client: client ?? '', groups: prefixes.groups, users: prefixes.users };
  return {
    ...{ host, prefixes, intervalMs: seconds * 1000, basis: sha256(canonicalJson(basis)) },
    secretBasis: sha256(canonicalJson({ secret: spec.client_secret ?? '', client: client ?? '' })),
  };
}

/** Returns the credentials with which an integration signs in. Throws `Internal` when the secret does not open. */
export function credentialsOf(
  { registry, planEnvironment }: Engine,
  account: string,
  { id, kind, spec }: Stored<'DirectoryIntegration'>,
): Credentials {
  // The cast is safe: a spec is JSON.
  const stored = { ...spec } as JsonObject;
  const opened = mapSecrets(registry.get(kind).spec, stored, (text, path, field) =>
    openSecret(field, text, sealContextOf(account, id, path), planEnvironment.vault),
  );
  const { tenant_id: tenant, client_id: clientId, client_secret: secret } = opened;
  return {
    ...{ tenant: String(tenant), clientId: String(clientId) },
    secret: Buffer.from(String(secret), 'base64').toString('utf8'),
  };
}

/** Whether a name begins with one of the prefixes. True when there are no prefixes. */
export function isSelected(name: string, prefixes: readonly string[]): boolean {
  return prefixes.length === 0 || prefixes.some((prefix) => name.startsWith(prefix));
}
