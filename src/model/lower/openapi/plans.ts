import type { JsonObject } from '../../../lib/json.ts';
import { planStates } from '../../declare/plan-words.ts';
import { adoptModes, membershipModes } from '../../sources/settings.ts';
import { configExamples } from './config-examples.ts';
import { pairsExample } from './impact.ts';
import { type Items, json, listOf, named, query, textual } from './operation.ts';

const tag = 'config';
const common = [401, 403, 429, 503];

const flag = { type: 'boolean' };
const source = {
  ...query('source', 'For a YAML body, which needs it: the source on whose behalf the documents are stated.'),
  example: 'cli',
};
const options = [
  source,
  query('prune', 'For a YAML body: as `prune` of a JSON body.', flag),
  query('allowEmpty', 'For a YAML body: as `allowEmpty` of a JSON body.', flag),
  query('adopt', 'For a YAML body: as `adopt` of a JSON body.', {
    type: 'string',
    enum: adoptModes,
  }),
  query('membership', 'For a YAML body: as `membership` of a JSON body.', {
    type: 'string',
    enum: membershipModes,
  }),
  query('force', 'For a YAML body: as `force` of a JSON body.', flag),
  query('allowReplace', 'For a YAML body: as `allowReplace` of a JSON body.', flag),
  query('kinds', 'For a YAML body: as `kinds` of a JSON body, with commas between.'),
  query('select', 'For a YAML body: as `select` of a JSON body.'),
  query('approve', 'For a YAML body: as `approve` of a JSON body.'),
  query('expectDigest', 'For a YAML body: as `expectDigest` of a JSON body.'),
  query('strictBase', 'For a YAML body: as `strictBase` of a JSON body.', flag),
  query('strictFiles', 'For a YAML body: as `strictFiles` of a JSON body.', flag),
  query('override', 'For a YAML body: as `override` of a JSON body.'),
];
const dryRun = query('dryRun', 'Whether the plan is only stored and shown; `revision` is `null` then.', flag);

/** Documents: files with their paths, or one YAML text, whose problems name the file `-`. */
const documents: JsonObject = {
  ...json(named('DocumentFiles'), configExamples.files),
  ...textual('application/yaml', configExamples.yaml),
};

/** The endpoints by which documents are validated, planned and applied. */
export const planItems: Items = {
  '/api/config/validate': {
    post: {
      id: 'validateDocuments',
      tag,
      summary: 'Check documents',
      description: 'Reads, checks and resolves; the store is left alone.',
      parameters: [source],
      body: documents,
      answer: json(named('Validation'), configExamples.validation),
      errors: [400, ...common, 409, 412, 413, 415, 422],
    },
  },
  '/api/config/plans': {
    post: {
      id: 'createPlan',
      tag,
      summary: 'Plan documents',
      description: 'Computes and stores what applying the documents would do.',
      parameters: options,
      body: documents,
      answer: json(named('Plan'), configExamples.savedPlan),
      status: 201,
      errors: [400, ...common, 409, 412, 413, 415, 422],
    },
    get: {
      id: 'listPlans',
      tag,
      summary: 'List stored plans, newest first',
      parameters: [
        query('source', 'Only plans of this source.'),
        query('state', 'Only plans in this state.', {
          type: 'string',
          enum: planStates,
        }),
        query('limit', 'How many at most; 100 unless said otherwise.', { type: 'integer', minimum: 1, maximum: 1000 }),
      ],
      answer: json(listOf('PlanSummary'), configExamples.plans),
      errors: [...common, 422],
    },
  },
  '/api/config/plans/{id}.md': {
    get: {
      id: 'readPlanMarkdown',
      tag,
      summary: 'Read a stored plan as Markdown',
      description: 'For change requests: at most 60,000 characters; what has no room is counted.',
      answer: textual('text/markdown', configExamples.markdown),
      errors: [...common, 404],
    },
  },
  '/api/config/plans/{id}': {
    get: {
      id: 'readPlan',
      tag,
      summary: 'Read a stored plan',
      description: 'Plans are kept for a week after they expire.',
      answer: json(named('Plan'), configExamples.savedPlan),
      errors: [...common, 404],
    },
  },
  '/api/config/plans/{id}/approve': {
    post: {
      id: 'approvePlan',
      tag,
      summary: 'Approve what a stored plan does',
      description:
        'An approval is for one digest: until the plan expires, it and any other plan of its source with the same digest pass their guards. The source looks again at once.',
      body: json(named('Approval'), configExamples.approval),
      answer: json(named('Plan'), configExamples.approved),
      errors: [400, ...common, 404, 409, 412, 413, 415, 422],
    },
  },
  '/api/config/plans/{id}/patch': {
    get: {
      id: 'readPlanPatch',
      tag,
      summary: 'Read a stored plan as JSON patches',
      description: 'One patch (RFC 6902) of the spec for each object that the plan changes.',
      answer: json(listOf('ObjectPatch'), configExamples.patches),
      errors: [...common, 404, 412],
    },
  },
  '/api/config/plans/{id}/access': {
    get: {
      id: 'readPlanAccess',
      tag,
      summary: 'List who gains and loses access by a stored plan, pair by pair',
      description:
        'Worked out on the account as it is, and refused (412) when the plan would do something else now. Objects alone count: what depends on facts that peers reported is shown as depending on posture checks.',
      parameters: [
        query('from', 'Only pairs that begin at this peer or in this group.'),
        query('to', 'Only pairs that end at this object or in this group.'),
        query('limit', 'How many at most.', { type: 'integer', minimum: 1, maximum: 1000, default: 1000 }),
      ],
      answer: json(named('PlanPairs'), pairsExample),
      errors: [...common, 404, 412, 422],
    },
  },
  '/api/config/plans/{id}/outputs': {
    get: {
      id: 'readPlanOutputs',
      tag,
      summary: 'Read what an applied plan has to show once',
      description:
        'Values that the server made up for objects of documents that nobody was there to apply. The second time the answer is 410.',
      answer: json(listOf('Output'), configExamples.outputs),
      uncached: true,
      errors: [...common, 404, 410],
    },
  },
  '/api/config/plans/{id}/apply': {
    post: {
      id: 'applyPlan',
      tag,
      summary: 'Apply a stored plan',
      description:
        'Does what the plan said, once, or refuses (412) because it would do something else now; `problems` says what is different and who made it so.',
      body: json(named('Application'), configExamples.application),
      optionalBody: true,
      answer: json(named('Applied'), configExamples.applied),
      errors: [400, ...common, 404, 409, 412, 413, 415, 422, 423, 428],
    },
  },
  '/api/config/apply': {
    post: {
      id: 'applyDocuments',
      tag,
      summary: 'Plan and apply documents',
      description: 'All documents become one revision, or nothing changes.',
      parameters: [...options, dryRun],
      body: documents,
      answer: json(named('Applied'), configExamples.applied),
      errors: [400, ...common, 409, 412, 413, 415, 422, 423, 428],
    },
  },
};
