import type { JsonObject } from '../../../lib/json.ts';
import { fileRuleTypes } from '../../sources/file-rules.ts';
import { adoptModes, membershipModes } from '../../sources/settings.ts';
import { listOf } from './operation.ts';
import { count, object, text, words } from './words.ts';

/** Schemas of documents. */
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
  Validation: object('Documents without a fault.', {
    valid: { type: 'boolean' },
    documents: count('How many documents were read.'),
    warnings: listOf('Problem'),
  }),
};
