import { readFileSync } from 'node:fs';
import { createEngine } from '../../src/app.ts';
import { statement } from '../../src/db/builder.ts';
import { type DatabaseOptions, openDatabase } from '../../src/db/database.ts';
import type { ApplyRequest } from '../../src/features/config/plans/apply-request.ts';
import { applyDocuments, planApply } from '../../src/features/config/plans/documents.ts';
import type { Document } from '../../src/model/document.ts';

// A process that applies one of two sets of documents when it gets an order. It may be killed at any moment of that.

/** The only argument of the process, as JSON. */
export interface ApplierOptions {
  readonly where: DatabaseOptions;
  readonly account: string;
  /** Paths of two files with documents as JSON. */
  readonly sets: readonly [first: string, second: string];
}

/**
 * Which set to apply, and the revision that the client has seen. Other processes may have written since this one
 * started.
 */
export interface ApplierOrder {
  readonly set: number;
  readonly seen: number;
}

/**
 * Message of the process: the pid of its Postgres session when only the apply itself remains to be done, and `done`
 * after the apply.
 */
export type ApplierSays = { readonly backend: number } | 'done';

const { where, account, sets } = JSON.parse(process.argv[2] ?? '') as ApplierOptions;
const database = await openDatabase({ ...where, poolSize: 1 });
const engine = createEngine({ database });
const documents = sets.map((file) => JSON.parse(readFileSync(file, 'utf8')) as readonly Document[]);
await engine.snapshots.current(account);

process.on('message', ({ set, seen }: ApplierOrder) => void apply(documents[set] ?? [], seen));
process.on('disconnect', () => process.exit());
const [session] = await database.lookUp(
  statement<{ readonly backend: number }>('select pg_backend_pid() as backend', []),
);
say({ backend: session?.backend ?? 0 });

async function apply(expected: readonly Document[], revision: number): Promise<void> {
  const call = { account, actor: { type: 'source', id: 'kill', name: 'kill' }, revision } as const;
  const applyRequest: ApplyRequest = {
    source: 'kill',
    documents: expected,
    problems: [],
    locate: (same) => same,
    prune: true,
    allowEmpty: false,
  };
  const { outcome } = await planApply(engine, call, applyRequest);
  if (outcome.ok && outcome.plan.access === undefined) throw new Error('nobody looked at who gains and loses access');
  // Rewriting all objects needs an approval.
  const result = await applyDocuments(
    engine,
    call,
    outcome.ok ? { ...applyRequest, approve: outcome.plan.digest } : applyRequest,
  );
  if (result.state !== 'applied') throw new Error(`the documents were not applied: ${result.state}`);
  say('done');
}

function say(what: ApplierSays): void {
  process.send?.(what);
}
