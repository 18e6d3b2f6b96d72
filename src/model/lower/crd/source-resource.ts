import type { JsonObject } from '../../../lib/json.ts';
import { conflictModes } from '../../sources/settings.ts';
import { ageColumn, conditionPath, definitionOf, field, resourceSchema } from './definition.ts';
import { conditionsSchema, observedGeneration, problemsSchema } from './status.ts';

const spec = field.object('What is asked of the source.', {
  suspend: {
    type: 'boolean',
    description:
      'Whether nothing of the namespace is applied until this is false again; what was applied stays. Default: false.',
  },
  reconcileRequestedAt: field.text(
    'Another value than before, such as the time, requests a reconcile now; `status.lastHandledReconcileAt` then has the same.',
    { maxLength: 100 },
  ),
  conflictMode: field.text(
    'What happens when the API changes what resources state, of the modes that the settings of the server let the namespace choose; without it the one of the settings.',
    { enum: conflictModes },
  ),
});

const status = field.object('How the source fares; written by the server.', {
  observedGeneration,
  source: field.text('The name of the source for `heddle sources`.'),
  suspended: { type: 'boolean', description: 'Whether it is suspended, by this resource or by `heddle suspend`.' },
  conflictMode: field.text('The conflict mode that is in effect.'),
  revision: field.number('The account revision that applying the namespace made last.'),
  resources: field.number('How many resources the namespace has.'),
  objects: field.number('About how many objects the source states something.'),
  heldBack: field.number('How many resources are held back because of problems.'),
  drifted: field.number('How many stated values are different in the account.'),
  plan: field.text('The Plan that waits for an approval.'),
  planDigest: field.text('The digest of that plan.'),
  lastAttemptAt: field.time('When an attempt ended otherwise than the one before it.'),
  lastAttemptResult: field.text('The state that this attempt led to.'),
  lastSuccessAt: field.time('When applying the namespace last changed the account.'),
  lastHandledReconcileAt: field.text('The last `spec.reconcileRequestedAt` that was heeded.'),
  problems: problemsSchema(
    'What is wrong with resources, the first of it when there is much.',
    'Where: the resource as NAMESPACE/PLURAL/NAME.json, and a JSON pointer into it.',
  ),
  conditions: conditionsSchema(
    'Ready, Reconciling, Stalled, Drifted, Conflicted, Suspended, HeldBack, Unavailable, GuardTripped and Accepted.',
  ),
});

const columns: readonly JsonObject[] = [
  { name: 'Ready', type: 'string', jsonPath: conditionPath('Ready', 'status') },
  { name: 'Message', type: 'string', jsonPath: conditionPath('Ready', 'message') },
  { name: 'Suspended', type: 'boolean', jsonPath: '.status.suspended' },
  { name: 'Resources', type: 'integer', jsonPath: '.status.resources' },
  { name: 'Held Back', type: 'integer', jsonPath: '.status.heldBack' },
  { name: 'Plan', type: 'string', jsonPath: '.status.plan' },
  ageColumn,
  { name: 'Objects', type: 'integer', jsonPath: '.status.objects', priority: 1 },
  { name: 'Revision', type: 'integer', jsonPath: '.status.revision', priority: 1 },
  { name: 'Last Success', type: 'date', jsonPath: '.status.lastSuccessAt', priority: 1 },
];

/** The CustomResourceDefinition of a source. Each namespace that is a source has one such resource. */
export const sourceDefinition: JsonObject = definitionOf({
  kind: 'Source',
  shortName: 'hsrc',
  columns,
  schema: resourceSchema(
    'How the resources of a namespace fare together. The server makes it in each namespace that its settings cover; it is no document.',
    spec,
    status,
  ),
});
