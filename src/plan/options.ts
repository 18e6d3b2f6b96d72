import type { JsonObject } from '../lib/json.ts';
import type { AdoptMode, GuardLimits, MembershipMode, SourceSettings } from '../model/sources/settings.ts';
import type { DocumentFilter } from './documents/filter.ts';

/** What a request may say about how documents are applied; the settings of the source say the rest. */
export type RequestedOptions = {
  /** `false`: nothing is deleted or released. A source that does not prune is not made to. */
  readonly prune?: boolean;
  /** Whether a source may come to state nothing at all. */
  readonly allowEmpty?: boolean;
  readonly adopt?: AdoptMode;
  /** Whether groups keep members that others put there; a document's own annotation says more. */
  readonly membership?: MembershipMode;
  /** Whether an object is re-created when a field changes that only creation writes. */
  readonly allowReplace?: boolean;
  /** Units that other sources state otherwise are taken from them. */
  readonly force?: boolean;
  /** Only these documents; then nothing is pruned. */
  readonly filter?: DocumentFilter;
};

/** How the documents of one plan are applied. */
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

/** Puts together what was asked for and what the source is set to. */
export function optionsOf(requested: RequestedOptions, settings: SourceSettings): PlanOptions {
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

/** The options alone, out of what holds them among other things. */
export function requestedOptions(given: RequestedOptions): RequestedOptions {
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

/** The options as the digest of a plan covers them. */
export function optionsAsJson(options: PlanOptions): JsonObject {
  return { ...options };
}
