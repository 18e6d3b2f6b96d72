import { isObject, type JsonObject } from '../lib/json.ts';
import type { Document } from '../model/document.ts';
import { InvalidInput } from '../model/errors.ts';
import type { PushedValues } from '../model/values.ts';
import { type RequestedOptions, requestedOptions } from '../plan/options.ts';
import type { SavedPlan } from '../store/plans.ts';
import type { Desire } from './documents.ts';
import type { Engine } from './engine.ts';

/** What has to be planned again, and may hold secrets: it is kept sealed. */
interface Kept {
  readonly documents: readonly Document[];
  readonly values?: PushedValues;
}

/** What a saved plan keeps of a desire. */
export function keepDesire({ means }: Engine, desire: Desire): JsonObject {
  const { documents, values } = desire;
  const kept: Kept = { documents, ...(values === undefined ? {} : { values }) };
  // Options are plain data.
  const options = requestedOptions(desire) as unknown as JsonObject;
  return { sealed: means.vault.seal(JSON.stringify(kept)), options };
}

/** The desire of a saved plan; it lets through the plan that was shown, and no other. Throws for a plan of another version. */
export function desireOf({ means }: Engine, saved: SavedPlan, approve: string | undefined): Desire {
  const { sealed, options } = saved.request;
  if (typeof sealed !== 'string' || !isObject(options))
    throw new InvalidInput(`plan ${saved.id} was saved by another version; make a new one`);
  // Written by `keepDesire` alone.
  const kept: Kept = JSON.parse(means.vault.open(sealed));
  return {
    ...kept,
    source: saved.source,
    problems: [],
    place: (problems) => problems,
    ...requestedOptions(options as RequestedOptions),
    expectDigest: saved.digest,
    planId: saved.id,
    ...(approve === undefined ? {} : { approve }),
  };
}
