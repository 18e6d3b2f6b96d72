import type { JsonObject } from '../../../lib/json.ts';
import { adoptModes, membershipModes } from '../../sources/settings.ts';
import { configExamples } from './config-examples.ts';
import { type Items, json, named, query, textual } from './operation.ts';

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
