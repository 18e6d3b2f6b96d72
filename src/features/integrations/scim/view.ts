import { canonicalJson, type JsonObject } from '../../../lib/json.ts';
import { sha256 } from '../../../lib/node-pure.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { ProvisioningChange } from '../provisioning/change.ts';
import type { Filter } from './filter.ts';
import type { Step } from './patch.ts';
import type { ResourceType } from './schema.ts';

/** An account as one integration shows it to its provider: the snapshot, the integration, and the URL. */
export interface View {
  readonly state: Snapshot;
  /** Stored id of the integration. */
  readonly integration: string;
  /** Base URL of the SCIM interface, without a slash at the end. */
  readonly base: string;
}

/** Returns whether an answer needs an attribute. */
export type Needs = (name: string) => boolean;

/** Mapping between objects of one kind and SCIM resources. */
export interface ResourceMapping<O extends StoredObject = StoredObject> {
  readonly type: ResourceType;
  /** Whether resources may be so large that the answer to a change leaves them out. */
  readonly isLarge: boolean;
  /** Returns the object with an id if the provider brought it and has not removed it. */
  find(view: View, id: string): O | undefined;
  /** Returns all objects that the provider has. */
  all(view: View): readonly O[];
  /**
   * Returns the objects among which all matches of a filter are, found by an index. `undefined` when all objects must
   * be checked.
   */
  candidates(view: View, filter: Filter): readonly O[] | undefined;
  /** Returns the resource with the needed attributes. `withMeta` adds `meta`. */
  render(view: View, object: O, needs: Needs): JsonObject;
  create(view: View, key: string, given: JsonObject): ProvisioningChange;
  replace(view: View, object: O, given: JsonObject): ProvisioningChange;
  patch(view: View, object: O, steps: readonly Step[]): ProvisioningChange;
  remove(object: O): ProvisioningChange;
}

/** Selects all attributes. */
export const everything: Needs = () => true;

/** Returns the ETag of a resource. It changes whenever any attribute of the resource changes. */
export function versionOf(resource: JsonObject): string {
  return `W/"${sha256(canonicalJson(resource)).slice(0, 24)}"`;
}

/** Returns a resource with the attribute `meta`. */
export function withMeta(
  view: View,
  type: ResourceType,
  object: StoredObject,
  resource: JsonObject,
  version?: string,
): JsonObject {
  return {
    ...resource,
    meta: {
      ...{ resourceType: type.name, created: object.createdAt, lastModified: object.updatedAt },
      location: `${view.base}${type.endpoint}/${object.id}`,
      ...(version === undefined ? {} : { version }),
    },
  };
}
