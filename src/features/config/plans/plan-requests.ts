import type { Engine } from '../../../commit/engine.ts';
import type { SavedPlan } from '../../../db/config/plans.ts';
import { isObject, type JsonObject } from '../../../lib/json.ts';
import { mapInSteps, splitIntoParts } from '../../../lib/steps.ts';
import type { Document, DocumentPosition } from '../../../model/document.ts';
import { Conflict } from '../../../model/errors.ts';
import { sealContexts } from '../../../model/schema/sealing.ts';
import type { PushedValues } from '../../../model/schema/values.ts';
import type { FileRules } from '../../../model/sources/file-rules.ts';
import { engineVersionOf } from '../../../plan/digest.ts';
import { pickRequestedOptions, type RequestedOptions } from '../../../plan/options.ts';
import type { ApplyRequest } from './apply-request.ts';
import type { RollbackRequest } from './rolled-back.ts';

/**
 * The parts of a request that are needed to plan it again and may contain secrets. They are stored sealed: as one line
 * of JSON, followed by one line for each document, so that many documents need not be parsed at once.
 */
interface SealedRequest {
  readonly values?: PushedValues;
  readonly rollback?: RollbackRequest;
  readonly rules?: readonly FileRules[];
  readonly ofProvider?: true;
}

/** Number of documents that are sealed at once: about 100 kB. */
const linesPerPart = 256;

/** A document as saved plans store it, with its position as `place`. */
interface SavedDocument extends Omit<Document, 'position'> {
  readonly place: DocumentPosition;
}

/**
 * Returns the parts of an apply request that a saved plan stores, sealed for the plan's id and account. Yields now and
 * then.
 */
export function* sealApplyRequest(
  { planEnvironment, registry }: Engine,
  { account, id }: { readonly account: string; readonly id: string },
  request: ApplyRequest,
): Generator<undefined, JsonObject> {
  const { documents, values, rollback, rules = [], expectBase, ofProvider } = request;
  const kept: SealedRequest = {
    ...(values === undefined ? {} : { values }),
    ...(rollback === undefined ? {} : { rollback }),
    ...(rules.length === 0 ? {} : { rules }),
    ...(ofProvider === undefined ? {} : { ofProvider }),
  };
  const lines = yield* mapInSteps(documents, (document) => `\n${JSON.stringify(toSaved(document))}`);
  const parts = yield* mapInSteps(splitIntoParts(lines, linesPerPart), (some) => some.join(''));
  const context = sealContexts.plan(account, id);
  return {
    engine: engineVersionOf(registry),
    sealed: yield* planEnvironment.vault.sealInSteps([JSON.stringify(kept), ...parts], context),
    options: pickRequestedOptions(request),
    strictBase: expectBase !== undefined,
  };
}

/**
 * Returns the apply request of a saved plan. It accepts only the plan that was shown. Throws `Conflict` (`stale`) for a
 * plan that another version of the program made. Yields now and then.
 */
export function* unsealApplyRequest(
  { planEnvironment, registry }: Engine,
  account: string,
  saved: SavedPlan,
): Generator<undefined, ApplyRequest> {
  const { engine, sealed, options, strictBase } = saved.request;
  if (engine !== engineVersionOf(registry) || typeof sealed !== 'string' || !isObject(options))
    throw new Conflict(
      'stale',
      `plan ${saved.id} was made by another version of the program, which may plan differently; make a new plan`,
    );
  // Only `sealApplyRequest` writes this text.
  const text = planEnvironment.vault.open(sealed, sealContexts.plan(account, saved.id));
  const [head = '', ...lines] = text.split('\n');
  const kept: SealedRequest = JSON.parse(head);
  const documents = yield* mapInSteps(lines, (line) => fromSaved(JSON.parse(line)));
  return {
    ...kept,
    documents,
    source: saved.source,
    problems: [],
    locate: (problems) => problems,
    ...pickRequestedOptions(options as RequestedOptions),
    expectDigest: saved.digest,
    ...(strictBase === true ? { expectBase: saved.baseRevision } : {}),
    planId: saved.id,
    plannedBy: saved.actor,
  };
}

function toSaved({ position, ...document }: Document): SavedDocument {
  return { ...document, place: position };
}

function fromSaved({ place, ...document }: SavedDocument): Document {
  return { ...document, position: place };
}
