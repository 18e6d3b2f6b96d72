import { longestPath } from '../../lib/path.ts';
import { count, optional } from '../../model/operation/fields.ts';
import { defineOperation, type InputOf, type TextBody } from '../../model/operation/operation.ts';
import { problem } from '../../model/operation/problem-field.ts';
import { boolean, type Format, json, list, mapOf, object, oneOf, string } from '../../model/schema/field.ts';
import { fileRuleTypes, mostPatterns } from '../../model/sources/file-rules.ts';
import { nameFault } from '../../model/sources/schema.ts';
import { adoptModes, membershipModes } from '../../model/sources/settings.ts';
import { testResults, testResultsExample } from './access.ts';
import { overrideReason } from './override-reason.ts';
import { applied, plan } from './plan.ts';
import { planExamples } from './plan-examples.ts';

const nameOfSource: Format = {
  name: 'name',
  canonical(text) {
    const fault = nameFault(text);
    return fault === undefined ? { value: text } : { fault };
  },
};

const file = object(
  {
    path: string({ doc: 'As the source names it; problems repeat it.', maxLength: longestPath }),
    // Limited only by the maximum size of a body: its characters are not counted.
    text: json<string>({ type: 'string' }, { doc: 'YAML or JSON.' }),
  },
  { doc: 'One file.' },
);

const rules = object(
  {
    root: string({
      doc: 'The directory that they are about, as the paths of files begin; empty at the top.',
      maxLength: longestPath,
    }),
    type: oneOf(fileRuleTypes, {
      doc: 'Whether what matches is left out (`ignore` with blank lines and comments), or everything else.',
    }),
    name: string({ doc: 'Where they stand, for messages.', maxLength: longestPath }),
    patterns: list(string({ doc: '' }), { doc: 'Patterns as in .gitignore.', maxItems: mostPatterns }),
  },
  { doc: 'One list of patterns.' },
);

const body = {
  source: string({
    doc: 'The source on whose behalf they are stated. What it no longer states is deleted.',
    ...{ minLength: 1, maxLength: 100, format: nameOfSource },
    missing:
      'name the source that states the documents, as {"source": "name", "files": […]} or in the query as ?source=name; what it no longer states is deleted',
  }),
  files: list(file, {
    doc: 'Every file of the source.',
    missing:
      'send {"source": "name", "files": [{"path": "a.yaml", "text": "…"}]}, or YAML with `Content-Type: application/yaml`',
  }),
  rules: optional(
    list(rules, {
      doc: 'By which rules the files were chosen, so that a plan wants an approval when one of them hides a file that stated objects.',
      maxItems: 100,
    }),
  ),
  values: optional(
    mapOf(json<string>({ type: 'string' }, { doc: '' }), {
      doc: 'The secrets that documents name with `valueFrom`: `env:HEDDLE_VALUE_X` for an `envRef`, `file:dir/name` for a `fileRef`. They are sealed at once.',
    }),
  ),
  prune: boolean({
    doc: 'Whether objects of the source that no document states any more are deleted. On unless said otherwise.',
    default: true,
  }),
  allowEmpty: boolean({ doc: 'Whether the source may come to state nothing at all.', default: false }),
  adopt: optional(
    oneOf(adoptModes, {
      doc: 'Which objects that no source manages are taken over by documents of the same name: those that stay as they are, any, or none. As the source is set unless said otherwise.',
    }),
  ),
  membership: optional(
    oneOf(membershipModes, {
      doc: 'Whether groups keep the members that others put there, or have those of their documents and no others. As the source is set unless said otherwise.',
    }),
  ),
  force: boolean({
    doc: 'Whether values that other sources state differently are taken from them; their next plan is refused.',
    default: false,
  }),
  allowReplace: boolean({
    doc: 'Whether an object is made anew when a field changes that only its creation writes.',
    default: false,
  }),
  kinds: optional(
    list(string({ doc: '' }), { doc: 'Only documents of these kinds are applied, and nothing is deleted.' }),
  ),
  select: optional(
    string({
      doc: 'Only documents whose labels fit are applied, and nothing is deleted: `team=data`, `team!=data`, `team`, `!team`, `team in (a, b)`, with commas between.',
    }),
  ),
  approve: optional(
    string({ doc: 'The digest of a plan that was refused by a guard, to let exactly that plan through.' }),
  ),
  expectDigest: optional(string({ doc: 'The digest of the plan that is expected; any other is refused.' })),
  strictBase: boolean({
    doc: 'Whether nothing else may change in the account until it is applied.',
    default: false,
  }),
  strictFiles: boolean({
    doc: 'Whether files that hold no documents of ours are refused; otherwise they are ignored with a note.',
    default: false,
  }),
  override: optional(
    overrideReason(
      'Why the documents are applied by hand although a server runs their source, which is refused otherwise; they stay until the server applies its own again.',
    ),
  ),
};

/** A YAML body is a single file. */
const yaml: TextBody = {
  name: 'YAML',
  types: ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml', 'text/plain'],
  example: 'apiVersion: heddle.dev/v1\nkind: Group\nmetadata:\n  name: developers\nspec: {}\n',
  as: (text) => ({ files: [{ path: '-', text }] }),
};

const taken = {
  bodySchema: 'DocumentFiles',
  bodyDoc: 'Documents, as the files that a source holds.',
  body,
  bodyInQuery: [
    ...(['source', 'prune', 'allowEmpty', 'adopt', 'membership', 'force', 'allowReplace', 'kinds'] as const),
    ...(['select', 'approve', 'expectDigest', 'strictBase', 'strictFiles', 'override'] as const),
  ],
  textBody: yaml,
  errors: ['conflict', 'precondition'],
} as const;

const example = {
  query: { source: 'cli' },
  body: { source: 'cli', files: [{ path: 'groups.yaml', text: yaml.example }] },
};

const planned = { access: { module: 'config', operation: 'read' }, plans: true } as const;

/** Operations on documents. */
export const documents = {
  validate: defineOperation({
    ...{ id: 'validateDocuments', method: 'POST', path: '/api/config/validate', ...planned, ...taken },
    summary: 'Check documents',
    doc: 'Reads, checks and resolves; the store is left alone.',
    answer: object(
      {
        valid: boolean({ doc: '' }),
        documents: count({ doc: 'How many documents were read.' }),
        warnings: list(problem, { doc: '' }),
      },
      { doc: 'Documents without a fault.', schema: 'Validation' },
    ),
    example: { ...example, answer: { valid: true, documents: 1, warnings: [] } },
  }),
  plan: defineOperation({
    ...{ id: 'createPlan', method: 'POST', path: '/api/config/plans', ...planned, ...taken },
    summary: 'Plan documents',
    doc: 'Computes and stores what applying the documents would do.',
    answer: plan,
    status: 201,
    example: { ...example, answer: planExamples.saved },
  }),
  apply: defineOperation({
    ...{ id: 'applyDocuments', method: 'POST', path: '/api/config/apply', ...taken },
    access: { module: 'config', operation: 'update' },
    summary: 'Plan and apply documents',
    doc: 'All documents become one revision, or nothing changes.',
    query: {
      dryRun: boolean({ doc: 'Whether the plan is only stored and shown; `revision` is `null` then.', default: false }),
    },
    answer: applied,
    shownOnce: 'outputs',
    errors: [...taken.errors, 'approval'],
    example: { ...example, answer: planExamples.applied },
  }),
  test: defineOperation({
    ...{ id: 'runTests', method: 'POST', path: '/api/config/tests', ...planned, ...taken },
    summary: 'Run access tests on what documents lead to',
    doc: 'Nothing is written or kept; documents with a fault are refused (422).',
    answer: testResults,
    errors: [],
    example: { ...example, answer: testResultsExample },
  }),
};

/** Body of a request with documents, and the options for planning them. */
export type DocumentsBody = InputOf<typeof documents.plan>['body'];
