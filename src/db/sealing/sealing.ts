import type { JsonObject } from '../../lib/json.ts';
import type { Registry } from '../../model/declare/registry.ts';
import { Internal } from '../../model/errors.ts';
import type { Fields } from '../../model/schema/field.ts';
import { boundPrefix, type SealContext, type SealForm, sealContexts, type Vault } from '../../model/schema/sealing.ts';
import { hasSecrets, mapSecrets, sealContextOf } from '../../model/schema/secret-fields.ts';
import { statement } from '../builder.ts';
import type { Database, RunSql } from '../database.ts';
import { migrations } from '../migrations/index.ts';
import { WrongKey } from './wrong-key.ts';

/** A known text. A server that can open its sealed form has a key of the installation. */
const probe = 'heddle';
const probeContext: SealContext = { purpose: 'probe', path: [] };

interface Sealing {
  readonly form: SealForm;
  readonly probe: string | null;
}

/**
 * Checks that the server has the key of the installation, and sets the vault to the form in which the installation
 * seals. The first server with the right key stores a known text, sealed. Throws `WrongKey`.
 */
export async function checkKey(database: Database, registry: Registry, vault: Vault): Promise<void> {
  if (await verifyKey(database, registry, vault)) return;
  await leaveProbe(database, vault);
  await recheckKey(database, vault);
}

/**
 * Like `checkKey`, for commands that run in parallel to the servers: stores nothing. Returns whether the known text is
 * stored. Throws `WrongKey`.
 */
export async function verifyKey(database: Database, registry: Registry, vault: Vault): Promise<boolean> {
  const isKnown = (await readSealing(database))?.probe != null;
  if (!isKnown) await checkSamples(database, registry, vault);
  await recheckKey(database, vault);
  return isKnown;
}

/**
 * Like `checkKey`, for a running server: another server may have changed the key or the form since. Throws `WrongKey`.
 */
export async function recheckKey(database: Database, vault: Vault): Promise<void> {
  const found = await readSealing(database);
  vault.advance(found?.form ?? 'bound');
  if (found?.probe === undefined || found.probe === null) return;
  if (!canOpen(vault, found.probe, probeContext)) throw wrongKeyError(vault, found.probe);
}

async function readSealing(database: Database): Promise<Sealing | undefined> {
  const [row] = await database.lookUp(statement<Sealing>('select form, probe from sealing', []));
  return row;
}

async function leaveProbe(database: Database, vault: Vault): Promise<void> {
  const sealed = vault.seal(probe, probeContext, 'bound');
  const text = `insert into sealing (form, probe) values ('bound', $1)
    on conflict (one) do update set probe = coalesce(sealing.probe, excluded.probe)`;
  await database.lookUp(statement(text, [sealed]));
}

/** Number of objects that are read at once. */
const objectsPerPage = 500;

/** A sealed text and its context. */
type Sample = readonly [sealed: string, context: SealContext];

/**
 * Tries to open stored sealed texts when no known text is stored. One text that opens is enough: texts that users
 * wrote, or that a key sealed which was lost long ago, prove nothing about this key. Throws `WrongKey` when there are
 * sealed texts and none opens.
 */
async function checkSamples(database: Database, registry: Registry, vault: Vault): Promise<void> {
  let closed: string | undefined;
  for await (const samples of readSamples(database, registry))
    for (const [sealed, context] of samples) {
      if (keyIdIn(sealed) === undefined) continue;
      if (canOpen(vault, sealed, context)) return;
      closed ??= sealed;
    }
  if (closed !== undefined) throw wrongKeyError(vault, closed);
}

/** Yields sealed texts of the store page by page, beginning with those that only servers can write. */
async function* readSamples(database: Database, registry: Registry): AsyncGenerator<readonly Sample[]> {
  yield await readServerSamples(database);
  const kinds = registry.kinds.filter(({ spec }) => hasSecrets(spec)).map(({ name }) => name);
  let last: readonly [string, string] = ['', ''];
  for (;;) {
    const objects = await database.lookUp(
      statement<{ readonly account: string; readonly id: string; readonly kind: string; readonly spec: JsonObject }>(
        `select account_id as account, id, kind, spec from objects
         where kind = any($1::text[]) and (account_id, id) > ($2, $3) order by account_id, id limit ${objectsPerPage}`,
        [kinds, ...last],
      ),
    );
    yield objects.flatMap(({ account, id, kind, spec }) => samplesOf(registry.get(kind).spec, account, id, spec));
    const end = objects.at(-1);
    if (end === undefined || objects.length < objectsPerPage) return;
    last = [end.account, end.id];
  }
}

async function readServerSamples(database: Database): Promise<readonly Sample[]> {
  const keys = await database.lookUp(
    statement<{ readonly id: string; readonly sealed: string }>(
      'select id, sealed from idp_keys order by created_at desc',
      [],
    ),
  );
  return keys.map(({ id, sealed }) => [sealed, sealContexts.providerKey(id)]);
}

function samplesOf(fields: Fields, account: string, id: string, spec: JsonObject): readonly Sample[] {
  const samples: Sample[] = [];
  mapSecrets(fields, spec, (text, path) => {
    samples.push([text, sealContextOf(account, id, path)]);
    return text;
  });
  return samples;
}

function canOpen(vault: Vault, sealed: string, context: SealContext): boolean {
  try {
    // Whether this form is still accepted is not checked here.
    if (sealed.startsWith(boundPrefix)) vault.open(sealed, context);
    else vault.openUnbound(sealed);
    return true;
  } catch (error) {
    if (error instanceof Internal) return false;
    throw error;
  }
}

function wrongKeyError(vault: Vault, sealed: string): WrongKey {
  return new WrongKey(
    `the secret key of this server (its id is ${vault.keyId}) does not match the key that sealed the secrets of this installation (${keyIdIn(sealed)}); start the server with the matching key in HEDDLE_SECRET_KEY or HEDDLE_SECRET_KEY_FILE, or put the file secret.key back into its data directory. Nothing was written`,
  );
}

/** Returns the id of the key that sealed a text; `undefined` when the text is not in a form that servers write. */
function keyIdIn(sealed: string): string | undefined {
  return /^sealed:(?:2:)?([0-9a-f]{12}):[\w+/=-]+$/.exec(sealed)?.[1];
}

/**
 * Makes servers seal texts bound to their contexts, while unbound texts can still be opened. From then on, programs
 * that do not know the bound form no longer start, even if the steps after this one fail: they could not open what
 * servers write.
 */
export async function beginSealing(database: Database): Promise<void> {
  const work = async (run: RunSql) => {
    const moved = await run("update sealing set form = 'binding' where form = 'unbound' returning form");
    if (moved.length > 0) await raiseOldestProgram(run);
  };
  await database.asOwner(work, { write: 'short' });
}

/**
 * Makes the bound form the only one, and seals the known text under the current key. Runs within the transaction that
 * seals everything again. Returns whether another form was in use before.
 */
export async function finishSealing(run: RunSql, vault: Vault): Promise<boolean> {
  const [row] = await run('select form from sealing for update');
  const moves = row !== undefined && row['form'] !== 'bound';
  await run(
    `insert into sealing (form, probe) values ('bound', $1)
     on conflict (one) do update set form = excluded.form, probe = excluded.probe`,
    [vault.seal(probe, probeContext, 'bound')],
  );
  if (moves) await raiseOldestProgram(run);
  return moves;
}

/** Prevents programs that do not know the bound form from starting. */
async function raiseOldestProgram(run: RunSql): Promise<void> {
  await run(
    `insert into heddle_schema (migration, oldest_program, applied_at) values ('sealed to their places', $1, now())
     on conflict (migration) do nothing`,
    [migrations.length],
  );
}
