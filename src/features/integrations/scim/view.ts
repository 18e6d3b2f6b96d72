import { canonicalJson, type JsonObject } from '../../../lib/json.ts';
import { sha256 } from '../../../lib/node-pure.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { ProvisioningChange } from '../provisioning/change.ts';
import type { Filter } from './filter.ts';
import type { Step } from './patch.ts';
import type { ResourceType } from './schema.ts';

/** An account as one integration shows it to its provider. */
export interface View {
  readonly state: Snapshot;
  /** The stored id of the integration. */
  readonly integration: string;
  /** Where the interface is, without a slash at the end. */
  readonly base: string;
}

/** Whether an answer needs an attribute. */
export type Needs = (name: string) => boolean;

/** How objects of one kind are resources of SCIM. */
export interface Resources<O extends StoredObject = StoredObject> {
  readonly type: ResourceType;
  /** Resources may be so large that a change does not answer with them. */
  readonly isLarge: boolean;
  /** The object with an id, if the provider brought it and has it still. */
  find(view: View, id: string): O | undefined;
  /** All of them. */
  all(view: View): readonly O[];
  /** Those among which are all that pass a filter, where there is a shorter way than to look at all. */
  candidates(view: View, filter: Filter): readonly O[] | undefined;
  /** The resource, with the attributes that are needed; `meta` comes beside it. */
  render(view: View, object: O, needs: Needs): JsonObject;
  create(view: View, key: string, given: JsonObject): ProvisioningChange;
  replace(view: View, object: O, given: JsonObject): ProvisioningChange;
  patch(view: View, object: O, steps: readonly Step[]): ProvisioningChange;
  remove(object: O): ProvisioningChange;
}

/** Whatever is there. */
export const everything: Needs = () => true;

/** The ETag of a resource: another one whenever anything in it is another. */
export function versionOf(resource: JsonObject): string {
  return `W/"${sha256(canonicalJson(resource)).slice(0, 24)}"`;
}

/** A resource with what SCIM says about every resource. */
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
