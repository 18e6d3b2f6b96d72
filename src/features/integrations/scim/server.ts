import type { Engine } from '../../../commit/engine.ts';
import { asObjectOrEmpty, type JsonObject } from '../../../lib/json.ts';
import { HeddleError, Unavailable } from '../../../model/errors.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { FindingCode, ProvisioningChange } from '../provisioning/change.ts';
import { type ProvisioningResult, provision } from '../provisioning/provision.ts';
import { syncLogsOf } from '../provisioning/report.ts';
import { type ListQuery, listResources, showResource } from './list.ts';
import { readPatch } from './patch.ts';
import type { Projection } from './project.ts';
import { notFound, ScimRefusal, type ScimType } from './refusal.ts';
import type { SyncRecorder } from './sync-recorder.ts';
import { everything, type ResourceMapping, type View, versionOf } from './view.ts';

/** A request of an identity provider whose token identified an integration. */
export interface ScimCall {
  readonly account: string;
  readonly integration: string;
  /** Revision of the account when the token was looked up. */
  readonly revision: number;
  /** Base URL of the SCIM interface, without a slash at the end. */
  readonly base: string;
}

/** Versions of an `If-Match` header, one of which the resource must have. `*` accepts any version. */
export type IfMatch = readonly string[] | undefined;

/** A resource as an answer shows it, with its ETag. */
export interface ShownResource {
  readonly id: string;
  readonly resource: JsonObject;
  readonly version?: string;
}

/** Operations of providers on resources of one type. */
export interface ScimEndpoint {
  list(call: ScimCall, query: ListQuery): Promise<JsonObject>;
  read(call: ScimCall, id: string, projection: Projection): Promise<ShownResource>;
  create(call: ScimCall, body: JsonObject, projection: Projection): Promise<ShownResource>;
  replace(call: ScimCall, id: string, body: JsonObject, options: WriteOptions): Promise<ShownResource>;
  /**
   * Returns `undefined` when the resource may be too large to be returned without an explicit selection of attributes.
   */
  patch(call: ScimCall, id: string, body: JsonObject, options: WriteOptions): Promise<ShownResource | undefined>;
  remove(call: ScimCall, id: string, ifMatch: IfMatch): Promise<void>;
}

/** Condition of a change, and the attributes of its result to show. */
export interface WriteOptions {
  readonly ifMatch: IfMatch;
  readonly projection: Projection;
}

/** Creates the operations by which providers read and change resources of one type. */
export function createEndpoint<O extends StoredObject>(
  engine: Engine,
  resources: ResourceMapping<O>,
  recorder: SyncRecorder,
): ScimEndpoint {
  const viewNow = async (call: ScimCall) => viewOf(call, await engine.snapshots.atLeast(call.account, call.revision));
  const required = (view: View, id: string): O => {
    const object = resources.find(view, id);
    if (object === undefined) throw notFound(resources.type.name, id);
    return object;
  };
  const show = (view: View, object: O, projection: Projection): ShownResource => {
    const resource = showResource(resources, view, object, projection);
    const { version } = asObjectOrEmpty(resource['meta']);
    return { id: object.id, resource, ...(typeof version === 'string' ? { version } : {}) };
  };
  const write = createWriter(engine, recorder);
  /** Changes one resource, which must have one of the versions of `ifMatch` at the time of the change. */
  const alter = async (
    call: ScimCall,
    id: string,
    ifMatch: IfMatch,
    change: (view: View, object: O) => ProvisioningChange,
  ): Promise<View> => {
    const made = await write(call, (view) => {
      const object = required(view, id);
      requireVersion(view, resources, object, ifMatch);
      return change(view, object);
    });
    return viewOf(call, made.after);
  };
  return {
    list: async (call, query) => listResources(resources, await viewNow(call), query),
    async read(call, id, projection) {
      const view = await viewNow(call);
      return show(view, required(view, id), projection);
    },
    async create(call, body, projection) {
      const key = engine.newId();
      const made = await write(call, (view) => resources.create(view, key, body));
      const view = viewOf(call, made.after);
      return show(view, required(view, made.ids.get(key) ?? key), projection);
    },
    async replace(call, id, body, { ifMatch, projection }) {
      const view = await alter(call, id, ifMatch, (now, object) => resources.replace(now, object, body));
      return show(view, required(view, id), projection);
    },
    async patch(call, id, body, { ifMatch, projection }) {
      const steps = readPatch(resources.type, body);
      const view = await alter(call, id, ifMatch, (now, object) => resources.patch(now, object, steps));
      const isAsked = projection.attributes !== undefined || projection.excluded !== undefined;
      if (resources.isLarge && !isAsked) return undefined;
      return show(view, required(view, id), projection);
    },
    async remove(call, id, ifMatch) {
      await alter(call, id, ifMatch, (_, object) => resources.remove(object));
    },
  };
}

function viewOf({ integration, base }: ScimCall, state: Snapshot): View {
  return { state, integration, base };
}

type Write = (call: ScimCall, change: (view: View) => ProvisioningChange) => Promise<ProvisioningResult>;

/**
 * Creates the function that commits changes. Refusals are also written to the log of the integration, for users who
 * cannot see the log of the provider.
 */
function createWriter(engine: Engine, recorder: SyncRecorder): Write {
  return async (call, change) => {
    const { account, integration, revision } = call;
    const made = await provision(engine, {
      ...{ account, integration, revision, change: (state) => change(viewOf(call, state)) },
      check: (provisioned, state) => refuseFindings(provisioned, prefixesOf(state, integration)),
    }).catch((error: unknown) => {
      const isRefused = error instanceof ScimRefusal || error instanceof HeddleError;
      if (isRefused && !(error instanceof Unavailable)) recorder.noteRefused(account, integration, error.message);
      throw error;
    });
    recorder.note(account, integration, syncLogsOf(made, engine.now()));
    const { waiting } = made;
    if (waiting !== undefined) throw approvalRefusal(waiting.id, waiting.guards);
    return made;
  };
}

function requireVersion<O extends StoredObject>(
  view: View,
  resources: ResourceMapping<O>,
  object: O,
  ifMatch: IfMatch,
): void {
  if (ifMatch === undefined || ifMatch.includes('*')) return;
  const version = versionOf(resources.render(view, object, everything));
  if (ifMatch.some((one) => one.replace(/^W\//, '') === version.replace(/^W\//, ''))) return;
  throw new ScimRefusal(
    412,
    `${resources.type.name} ${object.id} has the version ${version} now; read it again and repeat the change`,
  );
}

/**
 * Refusals by finding. A finding without an entry does not refuse the request: the rest is applied, and the log names
 * the finding.
 */
const refusals: Partial<Record<FindingCode, { readonly status: number; readonly scimType?: ScimType }>> = {
  email_invalid: { status: 400, scimType: 'invalidValue' },
  email_taken: { status: 409, scimType: 'uniqueness' },
  external_id_taken: { status: 409, scimType: 'uniqueness' },
  login_taken: { status: 409, scimType: 'uniqueness' },
  managed_field: { status: 409 },
  member_unknown: { status: 400, scimType: 'invalidValue' },
  name_unusable: { status: 400, scimType: 'invalidValue' },
  owner_kept: { status: 403 },
};

/** Throws when a finding refuses the request. A request is carried out completely or not at all. */
function refuseFindings(
  { findings, outside }: Pick<ProvisioningResult, 'findings' | 'outside'>,
  prefixes: string,
): void {
  const refused = findings.flatMap(({ code, message }) => {
    const how = refusals[code];
    return how === undefined ? [] : [{ ...how, message }];
  });
  const [first] = refused;
  if (first !== undefined) {
    const { status, scimType } = first;
    const text = refused
      .slice(0, 10)
      .map(({ message }) => message)
      .join('; ');
    throw new ScimRefusal(status, text, scimType === undefined ? {} : { scimType });
  }
  if (outside.groups.length === 0) return;
  throw new ScimRefusal(
    403,
    `the group is not imported: its name begins with none of the prefixes that the integration requires: ${prefixes}`,
  );
}

function prefixesOf(state: Snapshot, integration: string): string {
  return (state.find('ScimIntegration', integration)?.spec.group_prefixes ?? []).join(', ');
}

/** Value of `Retry-After` for a change that waits for an approval, in seconds. */
const approvalRetrySeconds = 300;

function approvalRefusal(plan: string, guards: readonly { readonly message: string }[]): ScimRefusal {
  return new ScimRefusal(
    503,
    `nothing was changed, because the change ${guards.map(({ message }) => message).join('; ')}. It needs an approval of the plan ${plan}; send the request again after the approval to carry it out`,
    { retryAfter: approvalRetrySeconds },
  );
}
