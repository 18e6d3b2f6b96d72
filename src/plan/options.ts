import type { JsonObject } from '../lib/json.ts';
import type { AdoptMode, GuardLimits, MembershipMode, SourceSettings } from '../model/sources/settings.ts';
import type { DocumentFilter } from './documents/filter.ts';

/** Options of a request for applying documents. The settings of the source provide the rest. */
export type RequestedOptions = {
  /**
   * `false`: nothing is deleted or released. `true` does not turn on pruning for a source whose settings turn it off.
   */
  readonly prune?: boolean;
  /** Whether a source that owns objects may become empty, without any document. */
  readonly allowEmpty?: boolean;
  readonly adopt?: AdoptMode;
  /** Whether groups keep members that no source put there. The annotation of a document takes precedence. */
  readonly membership?: MembershipMode;
  /** Whether an object is re-created when a field changes that can be set only at creation. */
  readonly allowReplace?: boolean;
  /** Whether units that other sources state with other values are taken from these sources. */
  readonly force?: boolean;
  /** Applies only the matching documents. Turns pruning off. */
  readonly filter?: DocumentFilter;
};

/** Effective options for the documents of one plan. */
export type PlanOptions = {
  readonly prune: boolean;
  readonly allowEmpty: boolean;
  readonly adopt: AdoptMode;
  readonly membership: MembershipMode;
  readonly allowReplace: boolean;
  readonly force: boolean;
  readonly limits: GuardLimits;
  readonly filter?: DocumentFilter;
};

/** Combines the options of a request with the settings of the source. */
export function effectiveOptions(requested: RequestedOptions, settings: SourceSettings): PlanOptions {
  const { filter } = requested;
  return {
    prune: settings.prune && requested.prune !== false && filter === undefined,
    allowEmpty: settings.allowEmpty || requested.allowEmpty === true,
    adopt: requested.adopt ?? settings.adopt,
    membership: requested.membership ?? settings.membership,
    allowReplace: requested.allowReplace === true,
    force: requested.force === true,
    limits: settings.limits,
    ...(filter === undefined ? {} : { filter }),
  };
}

/** Returns only the options of an object that also has other members. */
export function pickRequestedOptions(given: RequestedOptions): RequestedOptions {
  const { prune, allowEmpty, adopt, membership, allowReplace, force, filter } = given;
  return {
    ...(prune === undefined ? {} : { prune }),
    ...(allowEmpty === undefined ? {} : { allowEmpty }),
    ...(adopt === undefined ? {} : { adopt }),
    ...(membership === undefined ? {} : { membership }),
    ...(allowReplace === undefined ? {} : { allowReplace }),
    ...(force === undefined ? {} : { force }),
    ...(filter === undefined ? {} : { filter }),
  };
}

/** Returns the options in the form that the digest of a plan covers. */
export function optionsAsJson(options: PlanOptions): JsonObject {
  return { ...options };
}
