import type { JsonObject } from '../lib/json.ts';
import { boundPrefix, isSealed, type SealForm, type SealPlace, sealPlaces, type Vault } from '../model/means.ts';
import type { Registry } from '../model/registry.ts';
import { hasSecrets, mapSecrets, placeOf } from '../model/secret-fields.ts';
import { statement } from './builder.ts';
import type { Database, Run } from './database.ts';
import { migrations } from './migrations/index.ts';
import { WrongKey } from './wrong-key.ts';

/** A known text: whoever opens it has a key of the installation. */
const probe = 'heddle';
const probePlace: SealPlace = { purpose: 'probe', path: [] };

interface Sealing {
  readonly form: SealForm;
  readonly probe: string | null;
}

/**
 * Checks that the server has the key of the installation, and takes on the form in which it seals. The first server with the
 * right key leaves a known text behind. Throws `WrongKey`.
 */
export async function checkKey(database: Database, registry: Registry, vault: Vault): Promise<void> {
  const found = await readSealing(database);
  if (found?.probe === undefined || found.probe === null) {
    await checkSamples(database, registry, vault);
    await leaveProbe(database, vault);
  }
  await watchKey(database, vault);
}

/** The same for a server that runs: another one may have changed the key since. Throws `WrongKey`. */
export async function watchKey(database: Database, vault: Vault): Promise<void> {
  const found = await readSealing(database);
  vault.advance(found?.form ?? 'bound');
  if (found?.probe === undefined || found.probe === null) return;
  openSample(vault, found.probe, probePlace);
}

async function readSealing(database: Database): Promise<Sealing | undefined> {
  const [row] = await database.lookUp(statement<Sealing>('select form, probe from sealing', []));
  return row;
}

async function leaveProbe(database: Database, vault: Vault): Promise<void> {
  const sealed = vault.seal(probe, probePlace, 'bound');
  const text = `insert into sealing (form, probe) values ('bound', $1)
    on conflict (one) do update set probe = coalesce(sealing.probe, excluded.probe)`;
  await database.lookUp(statement(text, [sealed]));
}

/** How many objects are tried. */
const mostObjects = 20;

/** Tries what servers sealed that left no known text. */
async function checkSamples(database: Database, registry: Registry, vault: Vault): Promise<void> {
  const keys = await database.lookUp(
    statement<{ readonly id: string; readonly sealed: string }>(
      'select id, sealed from idp_keys order by created_at desc limit 1',
      [],
    ),
  );
  for (const { id, sealed } of keys) openSample(vault, sealed, sealPlaces.providerKey(id));
  const kinds = registry.kinds.filter(({ spec }) => hasSecrets(spec)).map(({ name }) => name);
  const objects = await database.lookUp(
    statement<{ readonly account: string; readonly id: string; readonly kind: string; readonly spec: JsonObject }>(
      `select account_id as account, id, kind, spec from objects where kind = any($1::text[]) limit ${mostObjects}`,
      [kinds],
    ),
  );
  for (const { account, id, kind, spec } of objects)
    mapSecrets(registry.get(kind).spec, spec, (text, path) => {
      if (isSealed(text)) openSample(vault, text, placeOf(account, id, path));
      return text;
    });
}

function openSample(vault: Vault, sealed: string, place: SealPlace): void {
  try {
    // Whether it is in a form that is still accepted is another question.
    if (sealed.startsWith(boundPrefix)) vault.open(sealed, place);
    else vault.openUnbound(sealed);
  } catch (cause) {
    throw new WrongKey(
      `this server has another secret key (its id is ${vault.keyId}) than the one with which the secrets of this installation are sealed (${keyIdIn(sealed)}); start it with that key in HEDDLE_SECRET_KEY or HEDDLE_SECRET_KEY_FILE, or put the file secret.key back into its data directory. Nothing was written`,
      { cause },
    );
  }
}

function keyIdIn(sealed: string): string {
  return sealed.split(':').at(-2) ?? '';
}

/** Makes servers seal texts to their places while what is unbound is still opened. */
export async function beginSealing(database: Database): Promise<void> {
  await database.lookUp(statement("update sealing set form = 'binding' where form = 'unbound'", []));
}

/**
 * Makes the bound form the only one, and the known text one of the current key; within the transaction that seals everything.
 * Answers whether another form was in use. Programs that know no bound form do not start any more from then on.
 */
export async function finishSealing(run: Run, vault: Vault): Promise<boolean> {
  const [row] = await run('select form from sealing for update');
  const moves = row !== undefined && row['form'] !== 'bound';
  await run(
    `insert into sealing (form, probe) values ('bound', $1)
     on conflict (one) do update set form = excluded.form, probe = excluded.probe`,
    [vault.seal(probe, probePlace, 'bound')],
  );
  if (moves)
    await run(
      `insert into heddle_schema (migration, oldest_program, applied_at) values ('sealed to their places', $1, now())
       on conflict (migration) do nothing`,
      [migrations.length],
    );
  return moves;
}
