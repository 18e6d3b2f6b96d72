import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { createAccessImages } from '../commit/access-images.ts';
import { createCommitter } from '../commit/commit.ts';
import type { CommittedRevision, Engine } from '../commit/engine.ts';
import { createNoticeBoard, type NoticeBoard } from '../commit/notices.ts';
import { createObserver } from '../commit/observe.ts';
import { createPastStates } from '../commit/past-states.ts';
import { createPresence } from '../commit/presence.ts';
import { createSnapshots } from '../commit/snapshots.ts';
import type { TurnTimeouts } from '../commit/turns.ts';
import { databaseTime } from '../db/clock.ts';
import type { Database } from '../db/database.ts';
import { keyBytes } from '../db/sealing/derive-key.ts';
import { createSigner } from '../db/sealing/signer.ts';
import type { UnreadableSecret } from '../db/sealing/unreadable.ts';
import { createVault } from '../db/sealing/vault.ts';
import { createObservedPeers } from '../features/peers/observed-peers.ts';
import * as kinds from '../kinds/index.ts';
import { buildAccountObjects } from '../kinds/new-account.ts';
import { createIdSource } from '../lib/ids.ts';
import type { DnsLookups } from '../lib/net/dns-lookups.ts';
import type { Log } from '../log.ts';
import type { Installation } from '../model/declare/installation.ts';
import type { PlanEnvironment } from '../model/declare/plan-environment.ts';
import { createRegistry, type Registry } from '../model/declare/registry.ts';
import { defaultPasswordCost, type PasswordCost } from '../model/password-cost.ts';
import type { SealForm } from '../model/schema/sealing.ts';
import { createValidator } from '../model/schema/validation/validate.ts';
import type { Validator } from '../model/schema/validation/validator.ts';
import { createDnsLookups } from '../outbound/dns.ts';
import { subjectOf } from '../plan/plan.ts';
import { describeChange, labelOf } from '../plan/view/describe.ts';
import { viewPlan } from '../plan/view/view.ts';
import { type Tracer, tracedSync } from '../telemetry/span.ts';

const declared = createRegistry(Object.values(kinds));

/** Returns the registry of all kinds. */
export function productRegistry(installation: Installation = declared.installation): Registry {
  return { ...declared, installation };
}

/** Default for `claimLapse`, in seconds. */
const defaultClaimLapseSeconds = 3600;

/** Parts that an engine consists of. */
interface EngineParts {
  /** Database with all migrations applied. */
  readonly database: Database;
  /** Absent: nothing is logged. */
  readonly log?: Log;
  /** Registry of kinds. Absent: the kinds of the program. */
  readonly kinds?: Registry;
  /** Absent: an environment with a key that lives as long as the process. */
  readonly planEnvironment?: PlanEnvironment;
  /** Absent: look-ups with the name servers of this machine. */
  readonly dns?: DnsLookups | undefined;
  /** Absent: notices reach this process only. */
  readonly notices?: NoticeBoard;
  /** Time after which the claims of a refused push lapse, in seconds. */
  readonly claimLapse?: number;
  readonly turnTimes?: TurnTimeouts;
  readonly passwordCost?: PasswordCost | undefined;
  readonly tracer?: Tracer | undefined;
}

/** Creates the engine on a database. */
export function createEngine({
  database,
  log = () => {},
  kinds: known = productRegistry(),
  planEnvironment = ephemeralEnvironment(),
  dns = createDnsLookups(),
  notices = createNoticeBoard(),
  claimLapse = defaultClaimLapseSeconds,
  turnTimes,
  passwordCost = defaultPasswordCost,
  tracer,
}: EngineParts): Engine {
  const registry: Registry = { ...known, openSecret: (sealed, context) => planEnvironment.vault.open(sealed, context) };
  const snapshots = createSnapshots(database, registry);
  const past = createPastStates(database, registry, snapshots);
  notices.on((notice) => {
    if (notice.what !== 'gone') return;
    const { account } = notice;
    snapshots.drop(account);
    past.drop(account);
    log({ level: 'warn', message: `the account ${account} was deleted` });
  });
  const listeners: Engine['listeners'] = new Set([
    (revision) => logRevision(revision, log),
    ({ account, revision }) => notices.publish({ what: 'revision', account, revision }),
  ]);
  const preparers: Engine['preparers'] = new Set();
  const now = () => new Date().toISOString();
  const observer = createObserver();
  observer.on((observation) => {
    if (observation.what === 'unreadable') logUnreadable(observation.secret, log);
  });
  const presence = createPresence(database);
  const committer = createCommitter({
    database,
    snapshots,
    notices,
    turnTimeouts: turnTimes,
    now,
    newRequestId: randomUUID,
    deletesIdpUsers: planEnvironment.deletesIdpUsers,
    onWaited: (seconds) => observer.report({ what: 'lock_wait', seconds }),
    onSent: (base, next) => {
      for (const prepare of preparers) prepare(base, next);
    },
    onCommitted: (revision) => {
      for (const listener of listeners) listener(revision);
    },
    onDefect: (what, error) => log({ level: 'error', message: `defect: ${what}: ${describeError(error)}` }),
  });
  const newId = createIdSource({ now: Date.now, random: createRandomPool() });
  return {
    planEnvironment,
    registry,
    validator: tracer === undefined ? createValidator(registry) : tracedValidator(createValidator(registry)),
    database,
    snapshots,
    pastStates: past,
    committer,
    access: createAccessImages(createObservedPeers(presence)),
    now,
    databaseTime,
    newId,
    firstObjects: firstObjects({ now, newId }),
    ...dns,
    listeners,
    preparers,
    claimRefreshers: new Set(),
    notices,
    passwordCost,
    claimLapseSeconds: claimLapse,
    observer,
    tracer,
    presence,
    reportFailure: (what, error) => log({ level: 'warn', message: `${what}: ${describeError(error)}` }),
  };
}

/** Adds a span to each validation of a request body. The documents of a source share one span. */
function tracedValidator({ check }: Validator): Validator {
  return {
    check(kind, surface, ...more) {
      const work = () => check(kind, surface, ...more);
      return surface === 'document' ? work() : tracedSync('validate', { 'heddle.kind': kind }, work);
    },
  };
}

/**
 * Creates the objects of a new account. Its network has a random range of the shared address space and a random unique
 * local range.
 */
export function firstObjects(engine: Pick<Engine, 'now' | 'newId'>): Engine['firstObjects'] {
  return (accountId, owner) =>
    buildAccountObjects({
      accountId,
      owner,
      now: engine.now(),
      newId: engine.newId,
      networkRange: `100.${64 + randomInt(64)}.0.0/16`,
      networkRangeV6: `fd${randomBytes(7)
        .toString('hex')
        .replace(/^(..)(....)(....)(....)$/, '$1:$2:$3:$4')}::/64`,
      domain: owner.domain ?? '',
    });
}

/** Returns the part of the environment that is derived from the keys of the server. */
export function environmentOfKeys(
  keys: readonly Uint8Array[],
  form: SealForm = 'bound',
): Pick<PlanEnvironment, 'vault' | 'archiveSigner' | 'mailSigner'> {
  return {
    vault: createVault(keys, form),
    archiveSigner: createSigner(keys, 'archives'),
    mailSigner: createSigner(keys, 'mailed links'),
  };
}

/** Returns an environment with a random key that lives as long as the process. */
function ephemeralEnvironment(): PlanEnvironment {
  return {
    ...environmentOfKeys([randomBytes(keyBytes)]),
    edition: 'self-hosted',
    random: (bytes) => randomBytes(bytes),
    valueFrom: () => undefined,
    mayUse: ({ isPushed }) => !isPushed,
    literalSecrets: false,
    deletesIdpUsers: false,
  };
}

function logUnreadable({ reason, ...where }: UnreadableSecret, log: Log): void {
  log({ level: 'warn', message: `a stored secret cannot be decrypted and stays unchanged: ${reason}`, ...where });
}

/** Maximum number of changes that are logged for one revision. */
const maxLinesPerRevision = 200;

function logRevision({ revision, actor, plan, before, after }: CommittedRevision, log: Log): void {
  const shown = { ...plan, changes: plan.changes.slice(0, maxLinesPerRevision) };
  const ids = shown.changes.map((change) => subjectOf(change).id);
  for (const [at, change] of viewPlan(shown, before, after).changes.entries()) {
    const id = ids[at] ?? '';
    log({ level: 'info', message: describeChange(change, id), revision, by: actor.name });
    for (const risk of change.risks) log({ level: 'warn', message: `${labelOf(change, id)}: ${risk}`, revision });
  }
  const more = plan.changes.length - maxLinesPerRevision;
  if (more > 0) log({ level: 'info', message: `and ${more} more changes`, revision, by: actor.name });
}

/** Returns the stack of an error, with all of its causes. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : ` (cause: ${describeError(error.cause)})`;
  return `${error.stack ?? error.message}${cause}`;
}

/** Number of bytes that are drawn at once. A draw for each id would cost a busy server as much as a look-up. */
const poolBytes = 4096;

/** Creates a source of random bytes for values that are not secret, such as ids. No byte is returned twice. */
export function createRandomPool(): (length: number) => Uint8Array {
  let pool = randomBytes(0);
  return (length) => {
    if (pool.length < length) pool = randomBytes(Math.max(poolBytes, length));
    const bytes = pool.subarray(0, length);
    pool = pool.subarray(length);
    return bytes;
  };
}
