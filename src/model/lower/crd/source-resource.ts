import type { JsonObject } from '../../../lib/json.ts';
import { conflictModes } from '../../sources/settings.ts';
import { ageColumn, conditionPath, definitionOf, field, resourceSchema } from './definition.ts';
import { conditionsSchema, observedGeneration, problemsSchema } from './status.ts';

const spec = field.object('Requests to the source.', {
  suspend: {
    type: 'boolean',
    description:
      'Whether the source is suspended: nothing of the namespace is applied until this is false again, and what is applied already stays. Default: false.',
  },
  reconcileRequestedAt: field.text(
    'Requests a reconcile when the value changes, for example to the current time. `status.lastHandledReconcileAt` has the same value once the request is handled.',
    { maxLength: 100 },
  ),
  conflictMode: field.text(
    'Handling of API changes to values that resources state: one of the modes that the settings of the server allow for the namespace. Default: the mode of these settings.',
    { enum: conflictModes },
  ),
});

const status = field.object('State of the source; written by the server.', {
  observedGeneration,
  source: field.text('The name of the source for `heddle sources`.'),
  suspended: { type: 'boolean', description: 'Whether it is suspended, by this resource or by `heddle suspend`.' },
  conflictMode: field.text('The conflict mode that is in effect.'),
  revision: field.number('Account revision of the last apply of the namespace that changed the account.'),
  resources: field.number('Number of resources in the namespace.'),
  objects: field.number('Number of objects with a declaration of the source.'),
  heldBack: field.number('Number of resources that are held back because of problems.'),
  drifted: field.number('Number of stated values that differ in the account.'),
  plan: field.text('The Plan that waits for an approval.'),
  planDigest: field.text('The digest of that plan.'),
  lastAttemptAt: field.time('Time of the last attempt that ended differently from the attempt before it.'),
  lastAttemptResult: field.text('State of the source after that attempt.'),
  lastSuccessAt: field.time('Time at which applying the namespace last changed the account.'),
  lastHandledReconcileAt: field.text('Last value of `spec.reconcileRequestedAt` that was handled.'),
  problems: problemsSchema(
    'Problems of the resources; only the first ones when there are many.',
    'Place of the problem: the resource as NAMESPACE/PLURAL/NAME.json, and a JSON pointer into it.',
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
    'State of all resources of a namespace together. The server creates it in each namespace that its settings cover. It is not a document.',
    spec,
    status,
  ),
});
