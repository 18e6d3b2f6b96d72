import { planStates } from '../../model/declare/plan-words.ts';
import { optional } from '../../model/operation/fields.ts';
import { defineOperation } from '../../model/operation/operation.ts';
import { boolean, integer, list, oneOf, string } from '../../model/schema/field.ts';
import { overrideReason } from './override-reason.ts';
import { applied, outputs, patches, plan, planSummary } from './plan.ts';
import { pairs } from './plan-access.ts';
import { planExamples } from './plan-examples.ts';

const path = '/api/config/plans';
const one = `${path}/{id}` as const;
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
        doc: 'How many at most; 100 unless said otherwise.',
        ...{ minimum: 1, maximum: 1000, clamp: true, default: 100 },
      }),
    },
    answer: list(planSummary, { doc: '' }),
    example: { answer: [planExamples.summary] },
  }),
  readMarkdown: defineOperation({
    id: 'readPlanMarkdown',
    method: 'GET',
    path: `${one}.md`,
    params,
    access: read,
    summary: 'Read a stored plan as Markdown',
    doc: 'For change requests: at most 60,000 characters; what has no room is counted.',
    answer: string({ doc: '' }),
    answerType: 'text/markdown',
    example: { answer: '### Plan for `cli`: 1 to create, 0 to change, 0 to delete\n' },
  }),
  read: defineOperation({
    id: 'readPlan',
    method: 'GET',
    path: one,
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
    path: `${one}/patch`,
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
    path: `${one}/access`,
    params,
    access: read,
    summary: 'List who gains and loses access by a stored plan, pair by pair',
    doc: 'Worked out on the account as it is, and refused (412) when the plan would do something else now. Objects alone count: what depends on facts that peers reported is shown as depending on posture checks.',
    query: {
      from: optional(string({ doc: 'Only pairs that begin at this peer or in this group.' })),
      to: optional(string({ doc: 'Only pairs that end at this object or in this group.' })),
      limit: integer({ doc: 'How many at most.', minimum: 1, maximum: 1000, clamp: true, default: 1000 }),
    },
    answer: pairs,
    errors: ['precondition'],
    example: { answer: planExamples.pairs },
  }),
  readOutputs: defineOperation({
    id: 'readPlanOutputs',
    method: 'GET',
    path: `${one}/outputs`,
    params,
    // Reading the outputs removes them for every other caller, and they are secrets, so permission to read is not
    // enough.
    access: update,
    summary: 'Read what an applied plan has to show once',
    doc: 'Values that the server made up for objects of documents that nobody was there to apply. The second time the answer is 410.',
    answer: outputs,
    readOnce: true,
    example: { answer: planExamples.outputs },
  }),
  approve: defineOperation({
    id: 'approvePlan',
    method: 'POST',
    path: `${one}/approve`,
    params,
    access: update,
    summary: 'Approve what a stored plan does',
    doc: 'An approval is for one digest: until the plan expires, it and any other plan of its source with the same digest pass their guards. The source looks again at once.',
    bodySchema: 'Approval',
    bodyDoc: 'What is approved.',
    body: { digest: string({ doc: 'The digest of the plan, as it was looked at.', minLength: 1 }) },
    answer: plan,
    errors: ['conflict', 'precondition'],
    example: { body: { digest: planExamples.digest }, answer: planExamples.approved },
  }),
  apply: defineOperation({
    id: 'applyPlan',
    method: 'POST',
    path: `${one}/apply`,
    params,
    access: update,
    summary: 'Apply a stored plan',
    doc: 'Does what the plan said, once, or refuses (412) because it would do something else now; `problems` says what is different and who made it so.',
    bodySchema: 'Application',
    bodyDoc: 'How a stored plan is applied.',
    body: {
      approve: optional(
        string({ doc: 'The digest of a plan that a guard stopped, to approve it and apply it in one step.' }),
      ),
      strictBase: boolean({
        doc: 'Whether the account must still be at the revision on which the plan was made. Otherwise it is enough that the plan would do the same.',
        default: false,
      }),
      override: optional(
        overrideReason('Why it is applied by hand although a server runs its source, which is refused otherwise.'),
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
    summary: 'Plan the way back to a revision',
    doc: 'Stores a plan by which objects and units become what they were after the revision, under the same ids; it is applied like any other plan. It suspends the sources that it touches. Restrictions are not undone and credentials do not come back: warnings list them. What is missing for it refuses all of it.',
    bodySchema: 'RollbackRequest',
    bodyDoc: 'What goes back.',
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
