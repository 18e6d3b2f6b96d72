import type { JsonObject } from '../../lib/json.ts';
import { actorTypes } from '../../model/declare/actor.ts';
import { claimActions, planActions, planGuards, planStates } from '../../model/declare/plan-words.ts';
import { count, nullable, optional, time } from '../../model/operation/fields.ts';
import { problem } from '../../model/operation/problem-field.ts';
import { boolean, integer, json, list, object, oneOf, string, type ValueOf } from '../../model/schema/field.ts';
import { runningOverride } from './overrides.ts';
import { impact } from './plan-access.ts';

const texts = (doc: string) => list(string({ doc: '' }), { doc });

/** Actor on whose behalf a change was made. */
export const actor = object(
  {
    type: oneOf(actorTypes, { doc: 'What the actor is.' }),
    id: string({ doc: 'Its id.' }),
    name: string({ doc: 'Its name.' }),
    email: optional(string({ doc: 'Its e-mail address.' })),
  },
  { doc: 'On whose behalf.' },
);

const subject = {
  kind: string({ doc: 'The kind of the object.' }),
  key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
  name: string({ doc: 'Its display name.' }),
  id: optional(string({ doc: 'Its id; absent for an object that is yet to be made.' })),
  file: optional(string({ doc: 'Where it is declared.' })),
  line: optional(count({ doc: 'Where in the file, from 1.' })),
};

/** Unit before and after a change. */
export const unit = object(
  {
    path: string({ doc: 'Such as `enabled`, `peers[ana-laptop]` or `rules[web]`.' }),
    before: optional(json({}, { doc: '' })),
    after: optional(json({}, { doc: '' })),
    reset: optional(boolean({ doc: 'It falls back to its default, because nobody states it any more.' })),
    setBy: optional(
      object(
        { name: string({ doc: 'The name of the actor.' }), at: time({ doc: 'When.' }) },
        { doc: 'Of a value that no document stated until now: who gave it.' },
      ),
    ),
  },
  {
    doc: 'The smallest owned piece of a spec, before and after. An absent side means that it is not there.',
    schema: 'Unit',
  },
);

const change = object(
  {
    action: oneOf(planActions, { doc: 'What is done.' }),
    ...subject,
    units: list(unit, { doc: '' }),
    replaces: optional(string({ doc: 'The id of the object that goes, because this one is made anew in its place.' })),
    renamedFrom: optional(string({ doc: 'The key that the object had until now, when it gets another one.' })),
    usedBy: optional(texts('Who used a deleted object until now.')),
    risks: texts('What deserves a second look.'),
  },
  { doc: 'What a plan does to one object.', schema: 'PlanChange' },
);

const claim = object(
  { action: oneOf(claimActions, { doc: 'What is done.' }), ...subject },
  { doc: 'A change of who states what or holds what for a while, without a change of value.', schema: 'PlanClaim' },
);

const guard = object(
  {
    guard: oneOf(planGuards, { doc: 'Which guard.' }),
    message: string({ doc: 'Why, and how to approve.' }),
  },
  { doc: 'A guard that wants the plan approved.', schema: 'PlanGuard' },
);

/** Revision that a plan rolls back to, and the scope of the rollback. */
export const rollback = object(
  {
    revision: count({ doc: 'The revision whose state comes back.' }),
    scope: string({ doc: 'What goes back: `sources`, `source:NAME` or `all`.' }),
    suspends: texts('Sources that are suspended with it, until they are resumed.'),
  },
  { doc: 'What a plan goes back to.', schema: 'Rollback' },
);

const counts = object(
  {
    create: count({ doc: 'Objects made.' }),
    update: count({ doc: 'Objects changed.' }),
    delete: count({ doc: 'Objects deleted.' }),
    claims: count({ doc: 'Objects whose owner changes and nothing else.' }),
  },
  { doc: 'How much a plan does.', schema: 'PlanCounts' },
);

const formatVersion = json<'1.0'>({ type: 'string' }, { doc: 'Members are only ever added within `1`.' });

const outcome = {
  approvedAt: optional(time({ doc: 'When it was approved.' })),
  approvedBy: optional(actor),
  appliedRevision: optional(count({ doc: 'The revision that applying it made.' })),
  failure: optional(string({ doc: 'Why applying it failed.' })),
};

const standing = {
  id: string({ doc: 'Of a stored plan.' }),
  state: oneOf(planStates, { doc: 'How a stored plan stands.' }),
  createdAt: time({ doc: 'When a stored plan was made.' }),
  createdBy: actor,
  expiresAt: time({ doc: 'When a stored plan can no longer be applied.' }),
  source: string({ doc: 'The source whose documents these are.' }),
};

const content = {
  digest: string({ doc: 'SHA-256 over what the plan does; equal for equal plans.' }),
  baseRevision: count({ doc: 'The revision that it was computed on.' }),
  counts,
};

/** Stored plan without its changes. */
export const planSummary = object(
  { formatVersion, ...standing, ...outcome, ...content },
  { doc: 'A stored plan without its changes.', schema: 'PlanSummary' },
);

/** Plan: the changes that lead from the state of the account to what the documents state. */
export const plan = object(
  {
    formatVersion,
    id: optional(standing.id),
    state: optional(standing.state),
    createdAt: optional(standing.createdAt),
    createdBy: optional(actor),
    expiresAt: optional(standing.expiresAt),
    source: optional(standing.source),
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
  { doc: 'The changes that lead from the account to what the documents state.', schema: 'Plan' },
);

const output = object(
  {
    kind: string({ doc: 'The kind of the new object.' }),
    key: string({ doc: 'Its key, or its name.' }),
    field: string({ doc: 'The member of which this is the value.' }),
    value: string({ doc: 'The value.' }),
  },
  { doc: 'A value that is shown once.', schema: 'Output' },
);

/** Values that are shown only once. */
export const outputs = list(output, {
  doc: 'Values that the server made up for new objects: shown here and never again.',
});

/** Result of applying a plan. */
export const applied = object(
  {
    revision: nullable(integer({ doc: 'The revision that it made; `null` when there was nothing to write.' })),
    plan,
    outputs: optional(outputs),
  },
  { doc: 'What became of a plan.', schema: 'Applied' },
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
      kind: subject.kind,
      key: subject.key,
      id: string({ doc: 'Its id; `@Kind/key` of an object yet to be made.' }),
      action: oneOf(planActions, { doc: 'What is done.' }),
      patch: list(json<JsonObject>(patchOperation, { doc: '' }), {
        doc: 'Operations of RFC 6902, references as ids.',
      }),
    },
    { doc: 'What a plan does to the spec of one object.', schema: 'ObjectPatch' },
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
