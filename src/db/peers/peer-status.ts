import type { JsonObject } from '../../lib/json.ts';
import { statement } from '../builder.ts';
import type { AccountAccess } from '../database.ts';

/**
 * Time after which a disconnected peer counts as offline, in seconds: agents that lost their connection are back within
 * seconds.
 */
export const offlineAfterSeconds = 30;

/** Observed status of a peer, as it is stored. */
export interface PeerStatusRow {
  readonly peer_id: string;
  readonly connected: boolean | null;
  readonly stream: string | null;
  /** Time since which the peer is not connected. */
  readonly offline_since: Date | null;
  /** Time since which the peer is connected again, after it was offline for longer than `offlineAfterSeconds`. */
  readonly online_since: Date | null;
  /** Whether an audit event reports the peer as offline. */
  readonly offline_reported: boolean;
  readonly last_seen: Date | null;
  readonly last_login: Date | null;
  readonly facts: JsonObject | null;
  /** Location of the peer. */
  readonly place: JsonObject | null;
  /** Verdicts of endpoint security products about the peer, by id of the integration. */
  readonly verdicts: Readonly<Record<string, string>> | null;
}

/** Rows that were written since a mark, the next mark, and the time of the database. */
export interface PeerStatusPage {
  readonly rows: readonly PeerStatusRow[];
  readonly mark: string;
  readonly now: Date;
  /**
   * All integrations whose products decide about peers: by id, the reason why none of its verdicts counts (empty: they
   * count).
   */
  readonly deciding: Readonly<Record<string, string>>;
}

/**
 * Reads the rows that were written since a mark; `0` reads all rows. The mark is the oldest transaction that was still
 * running: rows written by it or by later transactions are read the next time, in whatever order the transactions end.
 */
export async function readPeerStatuses(
  database: AccountAccess,
  account: string,
  since: string,
): Promise<PeerStatusPage> {
  const [[head], rows] = await database.inAccount(
    account,
    [
      statement<Pick<PeerStatusPage, 'mark' | 'now'> & { readonly deciding: PeerStatusPage['deciding'] | null }>(
        headText,
        [account],
      ),
      statement<PeerStatusRow>(readText, [account, since]),
    ],
    { snapshot: true },
  );
  return { rows, mark: head?.mark ?? since, now: head?.now ?? new Date(0), deciding: head?.deciding ?? {} };
}

const headText = `select pg_snapshot_xmin(pg_current_snapshot())::text as mark, clock_timestamp() as now,
  (select json_object_agg(e.integration_id, coalesce(e.untrusted, '')) from endpoint_security e
    where e.account_id = $1 and e.decides) as deciding`;

const readText = `select peer_id, connected, stream, offline_since, online_since, offline_reported, last_seen, last_login, facts, place,
  verdicts
from peer_status where account_id = $1 and written >= $2::xid8`;

/** New observations of a peer. Values of absent members are kept. */
export interface PeerStatusUpdate {
  readonly peer: string;
  /**
   * With `stream`: whether the peer is connected by that stream. `false` is ignored when another stream connects the
   * peer.
   */
  readonly connected?: boolean;
  readonly stream?: string;
  readonly server?: string;
  /** Set when the user of the peer signed in just now. */
  readonly signedIn?: true;
  readonly facts?: JsonObject;
  readonly location?: JsonObject;
}

/**
 * Writes new observations of many peers in one statement. Leaves out peers that are deleted. Each peer may occur once.
 */
export async function writePeerStatuses(
  database: AccountAccess,
  account: string,
  updates: readonly PeerStatusUpdate[],
): Promise<void> {
  await database.inAccount(account, [statement(writeText, [account, JSON.stringify(updates.map(peerStatusRow))])]);
  database.countWrittenRows(updates.length);
}

/** Returns an update in the form in which SQL statements read it. */
export function peerStatusRow({ peer, signedIn, location, ...update }: PeerStatusUpdate): JsonObject {
  return {
    peer_id: peer,
    ...(signedIn === undefined ? {} : { signed_in: signedIn }),
    ...(location === undefined ? {} : { place: location }),
    ...update,
  };
}

const writeText = `insert into peer_status as s
  (account_id, peer_id, connected, stream, server, offline_since, last_seen, last_login, facts, place)
select $1, x.peer_id, x.connected, x.stream, x.server, case when not x.connected then clock_timestamp() end, clock_timestamp(),
  case when x.signed_in then clock_timestamp() end, x.facts, x.place
from json_to_recordset($2::json) as x(peer_id text, connected boolean, stream text, server text, signed_in boolean, facts jsonb, place jsonb)
where exists (select from objects o where o.account_id = $1 and o.id = x.peer_id)
order by x.peer_id
on conflict (account_id, peer_id) do update set
  connected = case when excluded.connected or s.stream is not distinct from excluded.stream
    then coalesce(excluded.connected, s.connected) else s.connected end,
  stream = case when excluded.connected then excluded.stream else s.stream end,
  server = case when excluded.connected then excluded.server else s.server end,
  offline_since = case when excluded.connected then null
    when excluded.connected is false and s.connected and s.stream is not distinct from excluded.stream then clock_timestamp()
    else s.offline_since end,
  online_since = case when excluded.connected and s.connected is not true
      and coalesce(s.offline_since, s.last_seen) < clock_timestamp() - interval '${offlineAfterSeconds} seconds'
    then clock_timestamp() else s.online_since end,
  last_seen = case when excluded.connected is false and s.stream is distinct from excluded.stream
    then s.last_seen else excluded.last_seen end,
  last_login = coalesce(excluded.last_login, s.last_login),
  facts = coalesce(excluded.facts, s.facts),
  place = coalesce(excluded.place, s.place),
  written = pg_current_xact_id()`;

/**
 * Marks peers as disconnected whose server no longer holds its lease because it died. Nothing newer is known about
 * these peers, so they count as seen until now. Returns the number of peers.
 */
export async function disconnectPeersOfDeadServers(database: AccountAccess, account: string): Promise<number> {
  const [rows] = await database.inAccount(account, [
    statement(disconnectText, [account]),
    statement(deleteOldLeasesText, [account]),
  ]);
  return rows.length;
}

// A server never restarts under the same name, so nothing can use its expired lease any more.
const deleteOldLeasesText = `delete from leases
where account_id = $1 and name like 'peers/%' and until < clock_timestamp() - interval '1 hour'`;

// Locks rows in the same order as `writeText`, so that the two statements never deadlock.
const disconnectText = `with dead as (
  select s.peer_id from peer_status s
  where s.account_id = $1 and s.connected and not exists (
    select from leases l where l.account_id = $1 and l.name = 'peers/' || s.server and l.until > clock_timestamp()
  ) order by s.peer_id for update
)
update peer_status s set connected = false, offline_since = clock_timestamp(), last_seen = clock_timestamp(), written = pg_current_xact_id()
from dead where s.account_id = $1 and s.peer_id = dead.peer_id returning s.peer_id`;
