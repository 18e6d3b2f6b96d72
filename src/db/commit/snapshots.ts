import type { Selectable } from 'kysely';
import type { JsonObject } from '../../lib/json.ts';
import type { Registry } from '../../model/declare/registry.ts';
import { NotFound } from '../../model/errors.ts';
import { sortMaps } from '../../model/schema/map-order.ts';
import type { SealForm } from '../../model/schema/sealing.ts';
import { readSettings, type SourceSettings } from '../../model/sources/settings.ts';
import { contentFromSpec, membershipFields } from '../../model/state/members.ts';
import type { Declaration, SortKeys, StoredObject } from '../../model/state/object.ts';
import { emptySnapshot, type Snapshot } from '../../model/state/snapshot.ts';
import { queryBuilder, statement } from '../builder.ts';
import type { AccountAccess } from '../database.ts';
import type { ObjectsTable } from '../schema.ts';
import { type ChangeRow, replay } from './history.ts';

/** Reads all objects of an account in one snapshot. Returns `undefined` when the account does not exist. */
export async function loadSnapshot(
  database: AccountAccess,
  registry: Registry,
  account: string,
): Promise<Snapshot | undefined> {
  const fields = [...new Set(registry.kinds.flatMap(({ spec }) => membershipFields(spec)))];
  const [heads, objects, members, declared, sources] = await database.inAccount(
    account,
    [
      statement<Head>(headText, [account]),
      queryBuilder
        .selectFrom('objects')
        .select([
          'id',
          'kind',
          'parent_id',
          'key',
          'name',
          'spec',
          'derived',
          'owner',
          'protected',
          'overrides',
          'aliases',
          'created_revision',
          'updated_revision',
          'created_at',
          'updated_at',
        ])
        .where('account_id', '=', account)
        .compile(),
      queryBuilder
        .selectFrom('object_refs')
        .select(['from_id', 'field', 'to_id', 'origin', 'sort_key'])
        .where('account_id', '=', account)
        .where('origin', '!=', '')
        .where('field', 'in', fields.length === 0 ? [''] : fields)
        .compile(),
      queryBuilder
        .selectFrom('declared')
        .select(['object_id', 'source_id', 'stated', 'file', 'line', 'exclusive'])
        .where('account_id', '=', account)
        .compile(),
      settingsQuery(account),
    ],
    { snapshot: true },
  );
  const head = heads[0];
  if (head === undefined) return undefined;
  const membership = gatherMembers(members);
  const sortKeys = gatherSortKeys(members);
  const declarations = gatherDeclarations(declared);
  const put = objects.map((row) => {
    const loaded = storedObject(registry, row, membership.get(row.id), declarations.get(row.id) ?? []);
    const object = sortMaps(registry.find(row.kind)?.spec ?? {}, loaded);
    const keys = sortKeys.get(row.id);
    return keys === undefined ? object : { ...object, sortKeys: keys };
  });
  return emptySnapshot(registry, account, head.revision, head.sequences)
    .with({ put, remove: [] }, head.revision)
    .withSealForm(head.form)
    .withNoClaimsSequence(head.unclaimed ?? undefined)
    .withSettings(gatherSettings(sources));
}

type ObjectRow = Omit<Selectable<ObjectsTable>, 'account_id'>;

function storedObject(
  registry: Registry,
  row: ObjectRow,
  members: Memberships | undefined,
  declared: readonly Declaration[],
): StoredObject {
  return {
    id: row.id,
    kind: row.kind,
    ...(row.parent_id === null ? {} : { parent: row.parent_id }),
    ...(row.key === null ? {} : { key: row.key }),
    name: row.name,
    ...contentFromSpec(registry.find(row.kind)?.spec ?? {}, { ...row.spec, ...members }),
    derived: row.derived,
    ...(row.owner === null ? {} : { owner: row.owner }),
    protected: row.protected,
    ...(row.overrides.length === 0 ? {} : { overrides: row.overrides }),
    ...(row.aliases.length === 0 ? {} : { aliases: row.aliases }),
    createdRevision: row.created_revision,
    updatedRevision: row.updated_revision,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    declared,
  };
}

/**
 * Updates a snapshot to the account's current revision with the changes that it lacks. Loads the account again when the
 * snapshot is older than the stored history. Throws `NotFound` when the account was deleted.
 */
export async function catchUp(database: AccountAccess, snapshot: Snapshot): Promise<Snapshot> {
  const { account, revision } = snapshot;
  const [rows, heads, sources] = await database.inAccount(
    account,
    [
      queryBuilder
        .selectFrom('changes')
        .select(['revision', 'action', 'object_id', 'units', 'image'])
        .where('account_id', '=', account)
        .where('revision', '>', revision)
        .orderBy('revision')
        .orderBy('seq')
        .compile(),
      // Read after the changes, so that at any isolation level it shows every fold that happened before the changes
      // were read.
      statement<Head>(headText, [account]),
      settingsQuery(account),
    ],
    { snapshot: true },
  );
  const [head] = heads;
  if (head === undefined) throw new NotFound(`account ${account} not found`);
  if (head.revision === revision) return snapshot.withNoClaimsSequence(head.unclaimed ?? undefined);
  if (revision < head.oldest) return (await loadSnapshot(database, snapshot.registry, account)) ?? snapshot;
  const missed: readonly ChangeRow[] = rows;
  return replay(snapshot, missed, head.revision, head.sequences)
    .withSealForm(head.form)
    .withNoClaimsSequence(head.unclaimed ?? undefined)
    .withSettings(gatherSettings(sources));
}

/**
 * The account's current revision, the oldest revision from which a snapshot can catch up, the form in which secrets are
 * sealed, and the claim sequence number if nothing is claimed.
 */
interface Head {
  readonly revision: number;
  readonly sequences: Readonly<Record<string, number>>;
  readonly oldest: number;
  readonly form: SealForm;
  readonly unclaimed: number | null;
}

const headText = `select a.revision, a.sequences, coalesce(greatest(b.revision, b.valid_from), 0) as oldest,
  coalesce((select form from sealing), 'bound') as form,
  case when exists (select from sources s where s.account_id = $1 and s.wanted <> '{}') then null else a.claim_sequence end as unclaimed
from accounts a left join history_base b using (account_id) where a.account_id = $1`;

/** Settings of sources change with a revision, so they are read together with the head row. */
function settingsQuery(account: string) {
  return queryBuilder
    .selectFrom('sources')
    .select(['id', 'type', 'spec', 'suspended', 'rolled_back'])
    .where('account_id', '=', account)
    .compile();
}

function gatherSettings(
  rows: readonly {
    readonly id: string;
    readonly type: string;
    readonly spec: JsonObject;
    readonly suspended: boolean;
    readonly rolled_back: number | null;
  }[],
): ReadonlyMap<string, SourceSettings> {
  return new Map(
    rows.map(({ id, type, spec, suspended, rolled_back: rolledBack }) => [
      id,
      readSettings(spec, { type, suspended, rolledBack }),
    ]),
  );
}

/** Origins of members, by membership field and member id, as in complete specs. */
type Memberships = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

function gatherMembers(
  rows: readonly {
    readonly from_id: string;
    readonly field: string;
    readonly to_id: string;
    readonly origin: string;
  }[],
): ReadonlyMap<string, Memberships> {
  const byObject = new Map<string, Record<string, Record<string, string[]>>>();
  for (const { from_id: from, field, to_id: to, origin } of rows) {
    const fields = byObject.get(from) ?? {};
    const elements = fields[field] ?? {};
    elements[to] = [...(elements[to] ?? []), origin].sort();
    fields[field] = elements;
    byObject.set(from, fields);
  }
  return byObject;
}

/** Returns the sort keys of members whose position differs from the order of ids, by object. */
function gatherSortKeys(
  rows: readonly {
    readonly from_id: string;
    readonly field: string;
    readonly to_id: string;
    readonly sort_key: string | null;
  }[],
): ReadonlyMap<string, SortKeys> {
  const byObject = new Map<string, Record<string, Record<string, string>>>();
  for (const { from_id: from, field, to_id: to, sort_key: key } of rows) {
    if (key === null) continue;
    const fields = byObject.get(from) ?? {};
    const keys = fields[field] ?? {};
    keys[to] = key;
    fields[field] = keys;
    byObject.set(from, fields);
  }
  return byObject;
}

function gatherDeclarations(
  rows: readonly {
    readonly object_id: string;
    readonly source_id: string;
    readonly stated: JsonObject;
    readonly file: string | null;
    readonly line: number | null;
    readonly exclusive: boolean;
  }[],
): ReadonlyMap<string, readonly Declaration[]> {
  const byObject = new Map<string, Declaration[]>();
  for (const row of rows) {
    const list = byObject.get(row.object_id) ?? [];
    list.push({
      source: row.source_id,
      stated: row.stated,
      file: row.file ?? '',
      line: row.line ?? 0,
      ...(row.exclusive ? { exclusive: true } : {}),
    });
    byObject.set(row.object_id, list);
  }
  for (const list of byObject.values()) list.sort((a, b) => (a.source < b.source ? -1 : 1));
  return byObject;
}
