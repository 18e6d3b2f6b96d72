import { type ProblemCode, problemCodes } from '../problem-codes.ts';
import { integer, json, list, object, string } from '../schema/field.ts';
import { optional } from './fields.ts';

const text = (doc: string) => optional<string | undefined>(string({ doc }));
const lineOrColumn = (doc: string) => optional<number | undefined>(integer({ doc, minimum: 1 }));

/** Field of one problem, as answers list it. */
export const problem = object(
  {
    code: json<ProblemCode>(
      { type: 'string', 'x-extensible-enum': Object.keys(problemCodes) },
      { doc: 'Code of the problem. A code never changes its meaning; later versions add codes.' },
    ),
    message: string({ doc: 'Description of the problem and what to do.' }),
    kind: text('The kind of the object.'),
    key: text('The name of the document.'),
    path: text('JSON pointer into the body or document.'),
    file: text('The file of a document.'),
    line: lineOrColumn(''),
    column: lineOrColumn(''),
    source: text('Source of the conflicting document.'),
    usedBy: optional<readonly string[] | undefined>(
      list(string({ doc: '' }), {
        doc: 'Objects that use this object, by kind, name and source. Objects that you may not read appear only as a number.',
      }),
    ),
  },
  { doc: 'One fault of the input.', schema: 'Problem' },
);
