import { onTestFinished } from 'vitest';
import { createEngine } from '../../../src/app.ts';
import type { Engine } from '../../../src/commit/engine.ts';
import { approvePlan } from '../../../src/features/config/plans/approvals.ts';
import {
  createDirectorySyncs,
  type DirectoryOptions,
  type DirectorySyncs,
} from '../../../src/features/integrations/directory/dispatcher.ts';
import { readSyncLogs } from '../../../src/features/logs/sync-logs.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import { emptyAllowList } from '../../../src/lib/net/public-address.ts';
import type { Stored } from '../../../src/model/state/stored.ts';
import { createObject, deleteObject, readObject, replaceObject } from '../../../src/objects/objects.ts';
import { createOutbound } from '../../../src/outbound/outbound.ts';
import { newOffice, rowsOf } from '../../commit/office.ts';
import { present } from '../../setup/present.ts';
import { application, type Counterpart, startCounterpart, tenant } from './counterpart.ts';

/** A server that syncs directories. */
interface Reading extends Pick<DirectorySyncs, 'requestSync'> {
  readonly reports: string[];
  /** Starts the loop that looks for syncs that are due. */
  run(): void;
  stop(): Promise<void>;
}

/** Name under which the operator's configuration lists the counterpart. */
const host = 'directory.example.com';

/** Returns the spec of an integration that syncs from a counterpart. */
export function integrationSpec({ secret }: Pick<Counterpart, 'secret'>, more: JsonObject = {}): JsonObject {
  const clientSecret = Buffer.from(secret).toString('base64');
  return { host, tenant_id: tenant, client_id: application, client_secret: clientSecret, ...more };
}

/** Creates an office with an integration that syncs from a counterpart, and a server that runs the syncs. */
export async function openReading(settings: JsonObject = {}, { secure = false } = {}) {
  const counterpart = await startCounterpart({ secure });
  const office = await newOffice('postgres');
  const { account, call } = office;
  const clock = { offsetMs: 0 };
  const engine: Engine = { ...office.engine, now: () => new Date(Date.now() + clock.offsetMs).toISOString() };
  const readings: Reading[] = [];
  onTestFinished(async () => {
    for (const reading of readings) await reading.stop();
    await office[Symbol.asyncDispose]();
  });
  const kind = engine.registry.get('DirectoryIntegration');
  const create = async (body: JsonObject): Promise<string> =>
    (await createObject(engine, call, kind, body, { strict: true })).object.id;
  const integration = await create(integrationSpec(counterpart, settings));
  const open = (own: Engine = engine, options: ReadingOptions = {}): Reading => {
    const reading = openOne(own, counterpart, options);
    readings.push(reading);
    return reading;
  };
  const reading = open();
  const stored = async () => (await readObject(engine, call, kind, integration)).object;
  const state = () => engine.snapshots.fresh(account);
  return {
    ...{ ...office, engine, clock, counterpart, directory: counterpart.directory, integration, create, open, reading },
    state,
    sync: async (by: Reading = reading) => (await by.requestSync(call, await stored(), { dryRun: false })).result,
    preview: async () => reading.requestSync(call, await stored(), { dryRun: true }),
    change: (body: JsonObject) => replaceObject(engine, call, kind, integration, body, { strict: false }),
    remove: () => deleteObject(engine, call, kind, integration, { strict: false }),
    approve: (plan: { readonly id: string; readonly digest: string }) =>
      approvePlan(engine, call, plan.id, plan.digest),
    logs: async () =>
      (await readSyncLogs(engine, call, kind, integration)).map(({ level, message }) => `${level}: ${message}`),
    rows: (sql: string) => rowsOf(office.database, sql),
    /** Makes every sync due now. */
    due: () => rowsOf(office.database, 'update directory_syncs set next_at = now() returning 1'),
    status: async () => (await rowsOf(office.database, 'select * from directory_syncs'))[0],
    /** Creates the engine of a second server with the same secret key. */
    async another(): Promise<Engine> {
      const { database } = await office.another();
      return createEngine({ database, planEnvironment: engine.planEnvironment });
    },
    async user(email: string): Promise<Stored<'User'>> {
      return present((await state()).findByUnique('User', 'email', email));
    },
    /** Returns the e-mail addresses of the imported users who are not blocked. */
    async users(): Promise<readonly string[]> {
      const all = (await state()).ofKind('User');
      return all
        .filter(({ spec, derived }) => derived.provided?.by === integration && spec.is_blocked !== true)
        .map(({ spec }) => String(spec.email))
        .sort();
    },
    /** Returns the imported groups by name, with the e-mail addresses of their users. */
    async groups(): Promise<Readonly<Record<string, readonly string[]>>> {
      const now = await state();
      const all = now.ofKind('Group').filter(({ derived }) => derived.provided?.by === integration);
      const entries = all.map(({ id, name: group }) => {
        const members = now.referrersBy('User', 'auto_groups', id).map(({ spec }) => String(spec['email']));
        return [group, members.sort()] as const;
      });
      return Object.fromEntries(entries);
    },
  };
}

/** Options of a test server. `authorities`: PEM of the certificate authorities that the server trusts. */
type ReadingOptions = Partial<DirectoryOptions> & { readonly authorities?: string };

function openOne(engine: Engine, { signIn, api }: Counterpart, { authorities, ...options }: ReadingOptions): Reading {
  const reports: string[] = [];
  const outbound = createOutbound({
    ...{ allow: emptyAllowList, userAgent: 'Heddle/test', connectMs: 2000, authorities },
  });
  const syncs = createDirectorySyncs({
    ...{ engine, outbound, hosts: { [host]: { signIn, api } }, random: () => 0 },
    ...{ leaseSeconds: 30, pollMs: 50, gatherMs: 5, report: (_, message) => reports.push(message) },
    ...options,
  });
  let end: (() => Promise<void>) | undefined;
  let ended: Promise<void> | undefined;
  return {
    ...{ reports, requestSync: syncs.requestSync },
    run() {
      end ??= syncs.run();
    },
    stop() {
      ended ??= Promise.resolve(end?.()).then(() => outbound.close());
      return ended;
    },
  };
}
