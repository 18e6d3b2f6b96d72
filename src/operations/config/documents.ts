import { maxPathLength } from '../../lib/path.ts';
import { count, optional } from '../../model/operation/fields.ts';
import { defineOperation, type InputOf, type TextBody } from '../../model/operation/operation.ts';
import { problem } from '../../model/operation/problem-field.ts';
import { boolean, json, list, mapOf, object, oneOf, string } from '../../model/schema/field.ts';
import type { Format } from '../../model/schema/format.ts';
import { fileRuleTypes, maxPatterns } from '../../model/sources/file-rules.ts';
import { sourceNameFault } from '../../model/sources/schema.ts';
import { adoptModes, membershipModes } from '../../model/sources/settings.ts';
import { testResults, testResultsExample } from './access.ts';
import { overrideReason } from './override-reason.ts';
import { applied, plan } from './plan.ts';
import { planExamples } from './plan-examples.ts';

const sourceNameFormat: Format = {
  name: 'name',
  canonical(text) {
    const fault = sourceNameFault(text);
    return fault === undefined ? { value: text } : { fault };
  },
};

const file = object(
  {
    path: string({
      doc: 'Path of the file as the source names it; problems contain the same path.',
      maxLength: maxPathLength,
    }),
    // Limited only by the maximum size of a body: its characters are not counted.
    text: json<string>({ type: 'string' }, { doc: 'YAML or JSON.' }),
  },
  { doc: 'One file.' },
);

const fileRules = object(
  {
    root: string({
      doc: 'Directory to which the patterns apply, in the same form as the paths of files; empty for the top.',
      maxLength: maxPathLength,
    }),
    type: oneOf(fileRuleTypes, {
      doc: 'Effect of the patterns: `ignore` (which may have blank lines and comments) and `exclude` leave out matching files, `include` leaves out all others.',
    }),
    name: string({ doc: 'Place where the patterns are written, for messages.', maxLength: maxPathLength }),
    patterns: list(string({ doc: '' }), { doc: 'Patterns in .gitignore syntax.', maxItems: maxPatterns }),
  },
  { doc: 'One list of patterns.' },
);

const body = {
  source: string({
    doc: 'Source that states the documents. Objects that it no longer states are deleted.',
    ...{ minLength: 1, maxLength: 100, format: sourceNameFormat },
    missingHint:
      'name the source that states the documents, as {"source": "name", "files": […]} or in the query as ?source=name; what it no longer states is deleted',
  }),
  files: list(file, {
    doc: 'Every file of the source.',
    maxItems: 50_000,
    missingHint:
      'send {"source": "name", "files": [{"path": "a.yaml", "text": "…"}]}, or YAML with `Content-Type: application/yaml`',
  }),
  rules: optional(
    list(fileRules, {
      doc: 'Rules by which the files were selected. A plan needs an approval when one of them hides a file that stated objects.',
      maxItems: 100,
    }),
  ),
  values: optional(
    mapOf(json<string>({ type: 'string' }, { doc: '' }), {
      doc: 'The secrets that documents name with `valueFrom`: `env:HEDDLE_VALUE_X` for an `envRef`, `file:dir/name` for a `fileRef`. They are sealed at once.',
      maxItems: 10_000,
    }),
  ),
  prune: boolean({
    doc: 'Whether objects of the source that no document states any more are deleted. Default: true.',
    default: true,
  }),
  allowEmpty: boolean({
    doc: 'Whether the source may become empty, so that it states nothing any more.',
    default: false,
  }),
  adopt: optional(
    oneOf(adoptModes, {
      doc: 'Which objects without a source are adopted by documents of the same name: `identical` those that stay unchanged, `take` any, `never` none. Default: the setting of the source.',
    }),
  ),
  membership: optional(
    oneOf(membershipModes, {
      doc: 'Whether groups keep the members that others added (`additive`), or contain only the members that documents state (`exclusive`). Default: the setting of the source.',
    }),
  ),
  force: boolean({
    doc: 'Whether this source takes the ownership of values that other sources state differently. The next plan of those sources is refused.',
    default: false,
  }),
  allowReplace: boolean({
    doc: 'Whether an object is deleted and created again when a create-only field changes.',
    default: false,
  }),
  kinds: optional(
    list(string({ doc: '' }), {
      doc: 'Only documents of these kinds are applied, and nothing is deleted.',
      maxItems: 100,
    }),
  ),
  select: optional(
    string({
      doc: 'Label selector: only documents with matching labels are applied, and nothing is deleted. Conditions are `team=data`, `team!=data`, `team`, `!team`, `team in (a, b)`, separated by commas.',
    }),
  ),
  approve: optional(string({ doc: 'Digest of a plan that a guard stopped, to approve exactly that plan.' })),
  expectDigest: optional(string({ doc: 'Digest of the expected plan. Any other plan is refused.' })),
  strictBase: boolean({
    doc: 'Whether the plan is refused when anything else in the account changes before it is applied.',
    default: false,
  }),
  strictFiles: boolean({
    doc: 'Whether files without Heddle documents are refused; otherwise they are ignored with a note.',
    default: false,
  }),
  override: optional(
    overrideReason(
      'Reason for applying the documents by hand although a server runs their source, which is otherwise refused. They stay until the server applies its own documents again.',
    ),
  ),
};

/** A YAML body is a single file. */
const yamlBody: TextBody = {
  name: 'YAML',
  types: ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml', 'text/plain'],
  example: 'apiVersion: heddle.dev/v1\nkind: Group\nmetadata:\n  name: developers\nspec: {}\n',
  toJson: (text) => ({ files: [{ path: '-', text }] }),
};

const documentsInput = {
  bodySchema: 'DocumentFiles',
  bodyDoc: 'Documents, as the files that a source holds.',
  body,
  bodyInQuery: [
    ...(['source', 'prune', 'allowEmpty', 'adopt', 'membership', 'force', 'allowReplace', 'kinds'] as const),
    ...(['select', 'approve', 'expectDigest', 'strictBase', 'strictFiles', 'override'] as const),
  ],
  textBody: yamlBody,
  errors: ['conflict', 'precondition'],
} as const;

const example = {
  query: { source: 'cli' },
  body: { source: 'cli', files: [{ path: 'groups.yaml', text: yamlBody.example }] },
};

const planDeclaration = { access: { module: 'config', operation: 'read' }, plans: true } as const;

/** Operations on documents. */
export const documents = {
  validate: defineOperation({
    ...{ id: 'validateDocuments', method: 'POST', path: '/api/config/validate', ...planDeclaration, ...documentsInput },
    summary: 'Check documents',
    doc: 'Reads, checks and resolves the documents; nothing is stored.',
    answer: object(
      {
        valid: boolean({ doc: '' }),
        documents: count({ doc: 'Number of documents that were read.' }),
        warnings: list(problem, { doc: '' }),
      },
      { doc: 'Result of a check without problems.', schema: 'Validation' },
    ),
    example: { ...example, answer: { valid: true, documents: 1, warnings: [] } },
  }),
  plan: defineOperation({
    ...{ id: 'createPlan', method: 'POST', path: '/api/config/plans', ...planDeclaration, ...documentsInput },
    summary: 'Plan documents',
    doc: 'Computes and stores the changes that applying the documents would make.',
    answer: plan,
    status: 201,
    example: { ...example, answer: planExamples.saved },
  }),
  apply: defineOperation({
    ...{ id: 'applyDocuments', method: 'POST', path: '/api/config/apply', ...documentsInput },
    access: { module: 'config', operation: 'update' },
    summary: 'Plan and apply documents',
    doc: 'All documents become one revision, or nothing changes.',
    query: {
      dryRun: boolean({ doc: 'Whether the plan is only stored and shown; `revision` is `null` then.', default: false }),
    },
    answer: applied,
    shownOnce: 'outputs',
    errors: [...documentsInput.errors, 'approval'],
    example: { ...example, answer: planExamples.applied },
  }),
  test: defineOperation({
    ...{ id: 'runTests', method: 'POST', path: '/api/config/tests', ...planDeclaration, ...documentsInput },
    summary: 'Run access tests on the state that documents would create',
    doc: 'Nothing is written or kept; documents with a fault are refused (422).',
    answer: testResults,
    errors: [],
    example: { ...example, answer: testResultsExample },
  }),
};

/** Body of a request with documents, and the options for planning them. */
export type DocumentsBody = InputOf<typeof documents.plan>['body'];
