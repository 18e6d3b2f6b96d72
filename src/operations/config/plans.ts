import { planStates } from '../../model/declare/plan-words.ts';
import { optional } from '../../model/operation/fields.ts';
import { defineOperation } from '../../model/operation/operation.ts';
import { boolean, integer, list, oneOf, string } from '../../model/schema/field.ts';
import { overrideReason } from './override-reason.ts';
import { applied, outputs, patches, plan, planSummary } from './plan.ts';
import { pairs } from './plan-access.ts';
import { planExamples } from './plan-examples.ts';

const path = '/api/config/plans';
const itemPath = `${path}/{id}` as const;
const params = { id: string({ doc: 'The id of the stored plan.' }) };
const read = { module: 'config', operation: 'read' } as const;
const update = { module: 'config', operation: 'update' } as const;

/** Operations on stored plans. */
export const plans = {
  list: defineOperation({
    id: 'listPlans',
    method: 'GET',
    path,
    access: read,
    summary: 'List stored plans, newest first',
    query: {
      source: optional(string({ doc: 'Only plans of this source.' })),
      state: optional(oneOf(planStates, { doc: 'Only plans in this state.' })),
      limit: integer({
        doc: 'Maximum number of plans; default 100.',
        ...{ minimum: 1, maximum: 1000, clamp: true, default: 100 },
      }),
    },
    answer: list(planSummary, { doc: '' }),
    example: { answer: [planExamples.summary] },
  }),
  readMarkdown: defineOperation({
    id: 'readPlanMarkdown',
    method: 'GET',
    path: `${itemPath}.md`,
    params,
    access: read,
    summary: 'Read a stored plan as Markdown',
    doc: 'For change requests: at most 60,000 characters. Changes that do not fit are only counted.',
    answer: string({ doc: '' }),
    answerType: 'text/markdown',
    example: { answer: '### Plan for `cli`: 1 to create, 0 to change, 0 to delete\n' },
  }),
  read: defineOperation({
    id: 'readPlan',
    method: 'GET',
    path: itemPath,
    params,
    access: read,
    summary: 'Read a stored plan',
    doc: 'Plans are kept for a week after they expire.',
    answer: plan,
    example: { answer: planExamples.saved },
  }),
  readPatch: defineOperation({
    id: 'readPlanPatch',
    method: 'GET',
    path: `${itemPath}/patch`,
    params,
    access: read,
    summary: 'Read a stored plan as JSON patches',
    doc: 'One patch (RFC 6902) of the spec for each object that the plan changes.',
    answer: patches,
    errors: ['precondition'],
    example: { answer: planExamples.patches },
  }),
  readAccess: defineOperation({
    id: 'readPlanAccess',
    method: 'GET',
    path: `${itemPath}/access`,
    params,
    access: read,
    summary: 'List the pairs that gain or lose access by a stored plan',
    doc: 'Computed from the present objects of the account alone: access that depends on facts that peers reported is shown as depending on posture checks. Refused (412) when the plan would do something else now.',
    query: {
      from: optional(string({ doc: 'Only pairs that begin at this peer or in this group.' })),
      to: optional(string({ doc: 'Only pairs that end at this object or in this group.' })),
      limit: integer({ doc: 'Maximum number of pairs.', minimum: 1, maximum: 1000, clamp: true, default: 1000 }),
    },
    answer: pairs,
    errors: ['precondition'],
    example: { answer: planExamples.pairs },
  }),
  readOutputs: defineOperation({
    id: 'readPlanOutputs',
    method: 'GET',
    path: `${itemPath}/outputs`,
    params,
    // Reading the outputs removes them for every other caller, and they are secrets, so permission to read is not
    // enough.
    access: update,
    summary: 'Read the values of an applied plan that are shown once',
    doc: 'Values that the server generated for objects of documents that it applied without a waiting caller. Further reads are answered with 410.',
    answer: outputs,
    readOnce: true,
    example: { answer: planExamples.outputs },
  }),
  approve: defineOperation({
    id: 'approvePlan',
    method: 'POST',
    path: `${itemPath}/approve`,
    params,
    access: update,
    summary: 'Approve a stored plan',
    doc: 'An approval is bound to one digest: until the plan expires, this plan and any other plan of its source with the same digest pass their guards. The source is reconciled at once.',
    bodySchema: 'Approval',
    bodyDoc: 'Digest to approve.',
    body: { digest: string({ doc: 'Digest of the plan that was reviewed.', minLength: 1 }) },
    answer: plan,
    errors: ['conflict', 'precondition'],
    example: { body: { digest: planExamples.digest }, answer: planExamples.approved },
  }),
  apply: defineOperation({
    id: 'applyPlan',
    method: 'POST',
    path: `${itemPath}/apply`,
    params,
    access: update,
    summary: 'Apply a stored plan',
    doc: 'Does exactly what the plan shows, once; refused (412) when it would do something else now. `problems` then lists the differences and who caused them.',
    bodySchema: 'Application',
    bodyDoc: 'Options for applying a stored plan.',
    body: {
      approve: optional(
        string({ doc: 'The digest of a plan that a guard stopped, to approve it and apply it in one step.' }),
      ),
      strictBase: boolean({
        doc: 'Whether the account must still be at the revision on which the plan was made. If false, it is enough that the plan would do the same.',
        default: false,
      }),
      override: optional(
        overrideReason(
          'Reason for applying the plan by hand although a server runs its source, which is otherwise refused.',
        ),
      ),
    },
    bodyInQuery: ['strictBase', 'override'],
    optionalBody: true,
    answer: applied,
    shownOnce: 'outputs',
    errors: ['conflict', 'precondition', 'approval'],
    example: { body: { strictBase: false }, answer: planExamples.applied },
  }),
  rollBack: defineOperation({
    id: 'planRollback',
    method: 'POST',
    path: '/api/config/revisions/{revision}/rollback',
    params: { revision: integer({ doc: 'The number of the revision.', minimum: 1 }) },
    access: read,
    plans: true,
    summary: 'Plan a rollback to a revision',
    doc: 'Stores a plan that restores objects and units to their state after the revision, under the same ids; it is applied like any other plan. It suspends the sources that it touches. Restrictions are not undone and credentials are not restored; warnings list them. When an object that it needs is missing, the whole rollback is refused.',
    bodySchema: 'RollbackRequest',
    bodyDoc: 'Scope of the rollback.',
    body: {
      scope: string({
        doc: '`sources` (what sources own, the default), `source:NAME` (what one of them owns) or `all`.',
        default: 'sources',
      }),
    },
    optionalBody: true,
    answer: plan,
    status: 201,
    errors: ['conflict', 'gone', 'precondition'],
    example: { body: { scope: 'sources' }, answer: planExamples.rollback },
  }),
};
