import type { JsonObject } from '../../lib/json.ts';
import { actorTypes } from '../../model/declare/actor.ts';
import { claimActions, planActions, planGuards, planStates } from '../../model/declare/plan-words.ts';
import { count, nullable, optional, time } from '../../model/operation/fields.ts';
import { problem } from '../../model/operation/problem-field.ts';
import { boolean, integer, json, list, object, oneOf, string, type ValueOf } from '../../model/schema/field.ts';
import { runningOverride } from './overrides.ts';
import { impact } from './plan-access.ts';

const textList = (doc: string) => list(string({ doc: '' }), { doc });

/** Actor on whose behalf a change was made. */
export const actor = object(
  {
    type: oneOf(actorTypes, { doc: 'Type of the actor.' }),
    id: string({ doc: 'Its id.' }),
    name: string({ doc: 'Its name.' }),
    email: optional(string({ doc: 'Its e-mail address.' })),
  },
  { doc: 'The user, source or server that did it.' },
);

const objectFields = {
  kind: string({ doc: 'The kind of the object.' }),
  key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
  name: string({ doc: 'Its display name.' }),
  id: optional(string({ doc: 'Its id; absent for an object that does not exist yet.' })),
  file: optional(string({ doc: 'File that declares it.' })),
  line: optional(count({ doc: 'Line in the file, from 1.' })),
};

/** Unit before and after a change. */
export const unit = object(
  {
    path: string({ doc: 'Path of the unit, such as `enabled`, `peers[ana-laptop]` or `rules[web]`.' }),
    before: optional(json({}, { doc: '' })),
    after: optional(json({}, { doc: '' })),
    reset: optional(
      boolean({ doc: 'Whether the unit falls back to its default, because no document states it any more.' }),
    ),
    setBy: optional(
      object(
        { name: string({ doc: 'The name of the actor.' }), at: time({ doc: 'When.' }) },
        { doc: 'Who set a value that no document stated until now, and when.' },
      ),
    ),
  },
  {
    doc: 'The smallest part of a spec that has one owner, before and after. A side is absent when the unit does not exist there.',
    schema: 'Unit',
  },
);

const change = object(
  {
    action: oneOf(planActions, { doc: 'Action on the object.' }),
    ...objectFields,
    units: list(unit, { doc: '' }),
    replaces: optional(string({ doc: 'Id of the object that this new object replaces.' })),
    renamedFrom: optional(string({ doc: 'Former key of the object; absent when the key does not change.' })),
    usedBy: optional(textList('Objects that used a deleted object until now.')),
    risks: textList('Warnings about the change.'),
  },
  { doc: 'Changes of a plan to one object.', schema: 'PlanChange' },
);

const claim = object(
  { action: oneOf(claimActions, { doc: 'Action on the object.' }), ...objectFields },
  {
    doc: 'A change of which sources state or own an object, or of its overrides, without a change of value.',
    schema: 'PlanClaim',
  },
);

const guard = object(
  {
    guard: oneOf(planGuards, { doc: 'Which guard.' }),
    message: string({ doc: 'Why the plan needs an approval, and how to approve it.' }),
    kind: optional(string({ doc: 'Kind that the message names; absent when the guard is about the whole plan.' })),
    key: optional(string({ doc: 'Key or name of the object that the message names.' })),
  },
  { doc: 'A guard that requires an approval of the plan.', schema: 'PlanGuard' },
);

/** Revision that a plan rolls back to, and the scope of the rollback. */
export const rollback = object(
  {
    revision: count({ doc: 'Revision to which the plan returns.' }),
    scope: string({ doc: 'Scope of the rollback: `sources`, `source:NAME` or `all`.' }),
    suspends: textList('Sources that the rollback suspends, until they are resumed.'),
  },
  { doc: 'Revision and scope of a rollback.', schema: 'Rollback' },
);

const counts = object(
  {
    create: count({ doc: 'Objects made.' }),
    update: count({ doc: 'Objects changed.' }),
    delete: count({ doc: 'Objects deleted.' }),
    claims: count({ doc: 'Objects of which only the owner, claims or overrides change.' }),
  },
  { doc: 'Number of objects that a plan changes, by action.', schema: 'PlanCounts' },
);

const formatVersion = json<'1.0'>(
  { type: 'string' },
  { doc: 'Version of the format. Within `1`, members are only added.' },
);

const outcome = {
  approvedAt: optional(time({ doc: 'When it was approved.' })),
  approvedBy: optional(actor),
  appliedRevision: optional(count({ doc: 'Revision that it made when it was applied.' })),
  failure: optional(string({ doc: 'Why applying it failed.' })),
};

const storedPlanFields = {
  id: string({ doc: 'Of a stored plan.' }),
  state: oneOf(planStates, { doc: 'State of a stored plan.' }),
  createdAt: time({ doc: 'When a stored plan was made.' }),
  createdBy: actor,
  expiresAt: time({ doc: 'When a stored plan can no longer be applied.' }),
  source: string({ doc: 'Source of the documents.' }),
};

const content = {
  digest: string({ doc: 'SHA-256 over what the plan does; equal for equal plans.' }),
  baseRevision: count({ doc: 'The revision that it was computed on.' }),
  counts,
};

/** Stored plan without its changes. */
export const planSummary = object(
  { formatVersion, ...storedPlanFields, ...outcome, ...content },
  { doc: 'A stored plan without its changes.', schema: 'PlanSummary' },
);

/** Plan: the changes that lead from the state of the account to what the documents state. */
export const plan = object(
  {
    formatVersion,
    id: optional(storedPlanFields.id),
    state: optional(storedPlanFields.state),
    createdAt: optional(storedPlanFields.createdAt),
    createdBy: optional(actor),
    expiresAt: optional(storedPlanFields.expiresAt),
    source: optional(storedPlanFields.source),
    ...outcome,
    ...content,
    changes: list(change, { doc: '' }),
    claims: list(claim, { doc: '' }),
    guards: list(guard, { doc: '' }),
    warnings: list(problem, { doc: '' }),
    overrides: optional(
      list(runningOverride, {
        doc: "The running overrides of the source's objects when the plan was made; absent when there are none.",
      }),
    ),
    rollback: optional(rollback),
    access: optional(impact),
  },
  { doc: 'Changes that turn the state of the account into the state that the documents declare.', schema: 'Plan' },
);

const output = object(
  {
    kind: string({ doc: 'The kind of the new object.' }),
    key: string({ doc: 'Its key, or its name.' }),
    field: string({ doc: 'Name of the field.' }),
    value: string({ doc: 'The value.' }),
  },
  { doc: 'A value that is shown once.', schema: 'Output' },
);

/** Values that are shown only once. */
export const outputs = list(output, {
  doc: 'Values that the server generated for new objects. They are shown here and never again.',
});

/** Result of applying a plan. */
export const applied = object(
  {
    revision: nullable(integer({ doc: 'The revision that it made; `null` when there was nothing to write.' })),
    plan,
    outputs: optional(outputs),
  },
  { doc: 'Result of applying a plan.', schema: 'Applied' },
);

/** JSON Patch operation (RFC 6902). */
const patchOperation: JsonObject = {
  type: 'object',
  required: ['op', 'path'],
  properties: {
    op: { type: 'string', enum: ['add', 'remove', 'replace', 'move', 'copy', 'test'] },
    path: { type: 'string' },
    from: { type: 'string' },
    value: {},
  },
};

/** Changes of a plan to the specs of objects, as JSON patches. */
export const patches = list(
  object(
    {
      kind: objectFields.kind,
      key: objectFields.key,
      id: string({ doc: 'Its id, or `@Kind/key` for an object that does not exist yet.' }),
      action: oneOf(planActions, { doc: 'Action on the object.' }),
      patch: list(json<JsonObject>(patchOperation, { doc: '' }), {
        doc: 'JSON Patch operations (RFC 6902), with references as ids.',
      }),
    },
    { doc: 'Changes of a plan to the spec of one object.', schema: 'ObjectPatch' },
  ),
  { doc: '' },
);

/** Stored plan without its changes. */
export type PlanSummary = ValueOf<typeof planSummary>;

/** Plan for people and programs, with keys and names instead of ids. Members are only ever added (`formatVersion`). */
export type PlanView = ValueOf<typeof plan>;

/** State of a stored plan. */
export type PlanState = PlanSummary['state'];

/** Changes of a plan to one object. */
export type ChangeView = ValueOf<typeof change>;

/** Change of the claims on an object, without a change of value. */
export type ClaimView = ValueOf<typeof claim>;

/** One unit. Its `path` has names in the brackets. */
export type UnitView = ValueOf<typeof unit>;
