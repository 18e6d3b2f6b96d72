import { isObject, type JsonObject } from '../lib/json.ts';
import type { Document } from '../model/document.ts';
import { Conflict } from '../model/errors.ts';
import type { FileRules } from '../model/file-rules.ts';
import { sealPlaces } from '../model/means.ts';
import type { PushedValues } from '../model/values.ts';
import { engineVersionOf } from '../plan/engine-version.ts';
import { type RequestedOptions, requestedOptions } from '../plan/options.ts';
import type { SavedPlan } from '../store/plans.ts';
import type { Desire } from './documents.ts';
import type { Engine } from './engine.ts';
import type { RollbackRequest } from './rolled-back.ts';

/** What has to be planned again, and may hold secrets: it is kept sealed. */
interface Kept {
  readonly documents: readonly Document[];
  readonly values?: PushedValues;
  readonly rollback?: RollbackRequest;
  readonly rules?: readonly FileRules[];
}

/** What a saved plan, with its id and account, keeps of a desire. */
export function keepDesire(
  { means, registry }: Engine,
  { account, id }: { readonly account: string; readonly id: string },
  desire: Desire,
): JsonObject {
  const { documents, values, rollback, rules = [], expectBase } = desire;
  const kept: Kept = {
    documents,
    ...(values === undefined ? {} : { values }),
    ...(rollback === undefined ? {} : { rollback }),
    ...(rules.length === 0 ? {} : { rules }),
  };
  return {
    engine: engineVersionOf(registry),
    sealed: means.vault.seal(JSON.stringify(kept), sealPlaces.plan(account, id)),
    // Options are plain data.
    options: requestedOptions(desire) as unknown as JsonObject,
    strictBase: expectBase !== undefined,
  };
}

/**
 * The desire of a saved plan; it wants the plan that was shown, and no other. Throws `Conflict` (`stale`) for a plan of
 * another version of the program.
 */
export function desireOf({ means, registry }: Engine, account: string, saved: SavedPlan): Desire {
  const { engine, sealed, options, strictBase } = saved.request;
  if (engine !== engineVersionOf(registry) || typeof sealed !== 'string' || !isObject(options))
    throw new Conflict(
      'stale',
      `plan ${saved.id} was made by another version of the program, which may plan differently; make a new plan`,
    );
  // Written by `keepDesire` alone.
  const kept: Kept = JSON.parse(means.vault.open(sealed, sealPlaces.plan(account, saved.id)));
  return {
    ...kept,
    source: saved.source,
    problems: [],
    place: (problems) => problems,
    ...requestedOptions(options as RequestedOptions),
    expectDigest: saved.digest,
    ...(strictBase === true ? { expectBase: saved.baseRevision } : {}),
    planId: saved.id,
    plannedBy: saved.actor,
  };
}
