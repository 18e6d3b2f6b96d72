import type { Engine } from '../../../commit/engine.ts';
import {
  type DirectorySyncRow,
  type HeldSync,
  recordSecretExpiry,
  type SecretExpiry,
  warnOfSecretExpiry,
} from '../../../db/directory-sync/progress.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import { expiryOfSecret } from '../application-secrets.ts';
import { dueWarning } from '../secret-warnings.ts';
import type { DirectoryClient } from './client.ts';
import { DirectoryFailure } from './failure.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** Input of checking the secret of an integration. */
export interface SecretCheck {
  readonly held: HeldSync;
  readonly client: Pick<DirectoryClient, 'secrets'>;
  readonly row: DirectorySyncRow | undefined;
  readonly actor: Actor;
  /** Hash that identifies the secret. */
  readonly basis: string;
  readonly secret: string;
}

/**
 * Asks the directory once a day when the secret ends, and writes an event 30 and 7 days before that. Returns the reason
 * why nothing can warn of the end, unless that reason is recorded already.
 */
export async function checkSecret(engine: Engine, check: SecretCheck): Promise<string | undefined> {
  const { held, row, basis } = check;
  const isKnown = row?.secret_basis === basis && row.secret_age_ms !== null && row.secret_age_ms < dayMs;
  const life = isKnown ? { ends: row.secret_ends_at?.toISOString() } : await querySecretExpiry(check);
  if (life === undefined) return undefined;
  if (!isKnown && !(await recordSecretExpiry(engine.database, held, { ...life, basis }))) return undefined;
  const { ends, note } = { note: undefined, ...life };
  if (ends !== undefined) await warnOfExpiry(engine, check, ends);
  return note === row?.secret_note ? undefined : note;
}

async function warnOfExpiry(engine: Engine, { held, row, basis, actor }: SecretCheck, ends: string): Promise<void> {
  const now = engine.now();
  const days = dueWarning(ends, now, row?.secret_basis === basis ? row.secret_warned : null);
  if (days === undefined) return;
  const event = {
    code: 'idp.sync.token.expire',
    target: held.integration,
    meta: { ends, platform: 'directory' },
  } as const;
  await warnOfSecretExpiry(engine.database, held, days, { actor, event, at: now });
}

/** Returns `undefined` when the directory could not be queried now. */
async function querySecretExpiry({ client, secret }: SecretCheck): Promise<Omit<SecretExpiry, 'basis'> | undefined> {
  try {
    const secrets = await client.secrets();
    if (secrets !== undefined) {
      const ends = expiryOfSecret(secrets, secret);
      return ends === undefined
        ? { note: 'the directory lists no secret of the application that begins like this one' }
        : { ends };
    }
    const note =
      'the application may not read itself, so there is no warning before the secret ends; grant it Application.Read.All for that';
    return { note };
  } catch (error) {
    if (error instanceof DirectoryFailure) return undefined;
    throw error;
  }
}
