import type { JsonObject } from '../../../lib/json.ts';
import { actorTypes } from '../../declare/actor.ts';
import { claimActions, planActions, planGuards, planStates } from '../../declare/plan-words.ts';
import { fileRuleTypes } from '../../sources/file-rules.ts';
import { adoptModes, membershipModes } from '../../sources/settings.ts';
import { impactSchemas } from './impact.ts';
import { listOf, named } from './operation.ts';
import { count, object, text, time, words } from './words.ts';

/** What is shown about the object of a change. */
const subject = {
  kind: text('The kind of the object.'),
  key: text('Its `metadata.name`, when it has one.'),
  name: text('Its display name.'),
  id: text('Its id; absent for an object that is yet to be made.'),
  file: text('Where it is declared.'),
  line: count('Where in the file, from 1.'),
};
const subjectOptional = ['key', 'id', 'file', 'line'];

const unit = object(
  'The smallest owned piece of a spec, before and after. An absent side means that it is not there.',
  {
    path: text('Such as `enabled`, `peers[ana-laptop]` or `rules[web]`.'),
    before: {},
    after: {},
    reset: { type: 'boolean', description: 'It falls back to its default, because nobody states it any more.' },
    setBy: object('Of a value that no document stated until now: who gave it.', {
      name: text('The name of the actor.'),
      at: time('When.'),
    }),
  },
  ['before', 'after', 'reset', 'setBy'],
);

const planParts: JsonObject = {
  PlanChange: object(
    'What a plan does to one object.',
    {
      action: words(planActions, 'What is done.'),
      ...subject,
      units: listOf('Unit'),
      replaces: text('The id of the object that goes, because this one is made anew in its place.'),
      renamedFrom: text('The key that the object had until now, when it gets another one.'),
      usedBy: { type: 'array', items: { type: 'string' }, description: 'Who used a deleted object until now.' },
      risks: { type: 'array', items: { type: 'string' }, description: 'What deserves a second look.' },
    },
    [...subjectOptional, 'replaces', 'renamedFrom', 'usedBy'],
  ),
  ObjectPatch: object(
    'What a plan does to the spec of one object.',
    {
      ...{
        kind: subject.kind,
        key: subject.key,
        id: text('Its id; `@Kind/key` of an object yet to be made.'),
      },
      action: words(planActions, 'What is done.'),
      patch: { type: 'array', items: { type: 'object' }, description: 'Operations of RFC 6902, references as ids.' },
    },
    ['key'],
  ),
  PlanClaim: object(
    'A change of who states what or holds what for a while, without a change of value.',
    { action: words(claimActions, 'What is done.'), ...subject },
    subjectOptional,
  ),
  PlanGuard: object('A guard that wants the plan approved.', {
    guard: words(planGuards, 'Which guard.'),
    message: text('Why, and how to approve.'),
  }),
  ...impactSchemas,
  Rollback: object('What a plan goes back to.', {
    revision: count('The revision whose state comes back.'),
    scope: text('What goes back: `sources`, `source:NAME` or `all`.'),
    suspends: {
      type: 'array',
      description: 'Sources that are suspended with it, until they are resumed.',
      items: { type: 'string' },
    },
  }),
  PlanCounts: object('How much a plan does.', {
    create: count('Objects made.'),
    update: count('Objects changed.'),
    delete: count('Objects deleted.'),
    claims: count('Objects that change hands only.'),
  }),
};

/** On whose behalf something was done. */
const actor = object(
  'On whose behalf.',
  {
    type: words(actorTypes, 'What the actor is.'),
    id: text('Its id.'),
    name: text('Its name.'),
    email: text('Its e-mail address.'),
  },
  ['email'],
);

const planHead: JsonObject = {
  formatVersion: text('Members are only ever added within `1`.'),
  id: text('Of a stored plan.'),
  state: words(planStates, 'How a stored plan stands.'),
  createdAt: time('When a stored plan was made.'),
  createdBy: actor,
  expiresAt: time('When a stored plan can no longer be applied.'),
  approvedAt: time('When it was approved.'),
  approvedBy: actor,
  appliedRevision: count('The revision that applying it made.'),
  failure: text('Why applying it failed.'),
  source: text('The source whose documents these are.'),
  digest: text('SHA-256 over what the plan does; equal for equal plans.'),
  baseRevision: count('The revision that it was computed on.'),
  counts: named('PlanCounts'),
};
const planStanding = ['id', 'state', 'createdAt', 'createdBy', 'expiresAt'];
const planFate = ['approvedAt', 'approvedBy', 'appliedRevision', 'failure'];

const plan = object(
  'The changes that lead from the account to what the documents state.',
  {
    ...planHead,
    changes: listOf('PlanChange'),
    claims: listOf('PlanClaim'),
    guards: listOf('PlanGuard'),
    warnings: listOf('Problem'),
    overrides: {
      ...listOf('RunningOverride'),
      description: "The running overrides of the source's objects when the plan was made; absent when there are none.",
    },
    rollback: named('Rollback'),
    access: named('AccessImpact'),
  },
  [...planStanding, ...planFate, 'source', 'overrides', 'rollback', 'access'],
);

/** Schemas of documents, plans and what became of them. */
export const planSchemas: JsonObject = {
  DocumentFiles: object(
    'Documents, as the files that a source holds.',
    {
      source: text('The source on whose behalf they are stated. What it no longer states is deleted.'),
      files: {
        type: 'array',
        description: 'Every file of the source.',
        items: object('One file.', {
          path: text('As the source names it; problems repeat it.'),
          text: text('YAML or JSON.'),
        }),
      },
      rules: {
        type: 'array',
        description:
          'By which rules the files were chosen, so that a plan wants an approval when one of them hides a file that stated objects.',
        items: object('One list of patterns.', {
          root: text('The directory that they are about, as the paths of files begin; empty at the top.'),
          type: words(
            fileRuleTypes,
            'Whether what matches is left out (`ignore` with blank lines and comments), or everything else.',
          ),
          name: text('Where they stand, for messages.'),
          patterns: {
            type: 'array',
            description: 'Patterns as in .gitignore.',
            maxItems: 1000,
            items: { type: 'string' },
          },
        }),
      },
      values: {
        type: 'object',
        description:
          'The secrets that documents name with `valueFrom`: `env:HEDDLE_VALUE_X` for an `envRef`, `file:dir/name` for a `fileRef`. They are sealed at once.',
        additionalProperties: { type: 'string' },
      },
      prune: {
        type: 'boolean',
        description:
          'Whether objects of the source that no document states any more are deleted. On unless said otherwise.',
      },
      allowEmpty: { type: 'boolean', description: 'Whether the source may come to state nothing at all.' },
      adopt: words(
        adoptModes,
        'Which objects that no source manages are taken over by documents of the same name: those that stay as they are, any, or none. As the source is set unless said otherwise.',
      ),
      membership: words(
        membershipModes,
        'Whether groups keep the members that others put there, or have those of their documents and no others. As the source is set unless said otherwise.',
      ),
      force: {
        type: 'boolean',
        description:
          'Whether values that other sources state differently are taken from them; their next plan is refused.',
      },
      allowReplace: {
        type: 'boolean',
        description: 'Whether an object is made anew when a field changes that only its creation writes.',
      },
      kinds: {
        type: 'array',
        items: { type: 'string' },
        description: 'Only documents of these kinds are applied, and nothing is deleted.',
      },
      select: text(
        'Only documents whose labels fit are applied, and nothing is deleted: `team=data`, `team!=data`, `team`, `!team`, `team in (a, b)`, with commas between.',
      ),
      approve: text('The digest of a plan that was refused by a guard, to let exactly that plan through.'),
      expectDigest: text('The digest of the plan that is expected; any other is refused.'),
      strictBase: {
        type: 'boolean',
        description: 'Whether nothing else may change in the account until it is applied.',
      },
      strictFiles: {
        type: 'boolean',
        description:
          'Whether files that hold no documents of ours are refused; otherwise they are ignored with a note.',
      },
      override: text(
        'Why the documents are applied by hand although a server runs their source, which is refused otherwise; they stay until the server applies its own again.',
      ),
    },
    [
      'override',
      'rules',
      'strictFiles',
      'values',
      'prune',
      'allowEmpty',
      'adopt',
      'membership',
      'allowReplace',
      'force',
      'kinds',
      'select',
      'approve',
      'expectDigest',
      'strictBase',
    ],
  ),
  Output: object('A value that is shown once.', {
    kind: text('The kind of the new object.'),
    key: text('Its key, or its name.'),
    field: text('The member of which this is the value.'),
    value: text('The value.'),
  }),
  Application: object(
    'How a stored plan is applied.',
    {
      approve: text('The digest of a plan that a guard stopped, to approve it and apply it in one step.'),
      strictBase: {
        type: 'boolean',
        description:
          'Whether the account must still be at the revision on which the plan was made. Otherwise it is enough that the plan would do the same.',
      },
      override: text('Why it is applied by hand although a server runs its source, which is refused otherwise.'),
    },
    ['approve', 'strictBase', 'override'],
  ),
  Approval: object('What is approved.', { digest: text('The digest of the plan, as it was looked at.') }),
  Validation: object('Documents without a fault.', {
    valid: { type: 'boolean' },
    documents: count('How many documents were read.'),
    warnings: listOf('Problem'),
  }),
  Unit: unit,
  ...planParts,
  Plan: plan,
  PlanSummary: object('A stored plan without its changes.', planHead, planFate),
  Applied: object(
    'What became of a plan.',
    {
      revision: {
        type: ['integer', 'null'],
        description: 'The revision that it made; `null` when there was nothing to write.',
      },
      plan: named('Plan'),
      outputs: {
        type: 'array',
        description: 'Values that the server made up for new objects: shown here and never again.',
        items: named('Output'),
      },
    },
    ['outputs'],
  ),
};
