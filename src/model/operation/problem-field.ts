import { type ProblemCode, problemCodes } from '../problem-codes.ts';
import { integer, json, list, object, string } from '../schema/field.ts';
import { optional } from './fields.ts';

const text = (doc: string) => optional<string | undefined>(string({ doc }));
const place = (doc: string) => optional<number | undefined>(integer({ doc, minimum: 1 }));

/** Field of one problem, as answers list it. */
export const problem = object(
  {
    code: json<ProblemCode>(
      { type: 'string', 'x-extensible-enum': Object.keys(problemCodes) },
      { doc: 'What is wrong, as a word that never changes its meaning; later versions have more of them.' },
    ),
    message: string({ doc: 'What is wrong, and the way out.' }),
    kind: text('The kind of the object.'),
    key: text('The name of the document.'),
    path: text('JSON pointer into the body or document.'),
    file: text('The file of a document.'),
    line: place(''),
    column: place(''),
    source: text('The source whose document stands in the way.'),
    usedBy: optional<readonly string[] | undefined>(
      list(string({ doc: '' }), {
        doc: 'Who uses the object, by kind, name and source; a count of what you may not read.',
      }),
    ),
  },
  { doc: 'One fault of the input.', schema: 'Problem' },
);
