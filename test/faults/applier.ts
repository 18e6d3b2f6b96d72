import { readFileSync } from 'node:fs';
import { createEngine } from '../../src/app.ts';
import { statement } from '../../src/db/builder.ts';
import { type DatabaseOptions, openDatabase } from '../../src/db/database.ts';
import type { ApplyRequest } from '../../src/features/config/plans/apply-request.ts';
import { applyDocuments, planApply } from '../../src/features/config/plans/documents.ts';
import type { Document } from '../../src/model/document.ts';

// A process that applies one of two sets of documents on a signal, and may be killed at any moment of that.

/** What the process is started with: the one argument, as JSON. */
export interface ApplierOptions {
  readonly where: DatabaseOptions;
  readonly account: string;
  /** Files of documents as JSON. */
  readonly sets: readonly [first: string, second: string];
}

/** Which set to apply, by somebody who has seen this revision: others may have written since the process began. */
export interface ApplierOrder {
  readonly set: number;
  readonly seen: number;
}

/** The process says who serves it in Postgres when everything but the apply itself is done, and `done` after the apply. */
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
  // Rewriting everything needs an approval.
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
