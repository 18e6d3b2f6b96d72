import { defineOperation } from '../model/operation/operation.ts';
import { json, string } from '../model/schema/field.ts';

/** Operation that serves the JSON Schemas of documents, for editors and pipelines. */
export const schemas = {
  read: defineOperation({
    id: 'readDocumentSchema',
    method: 'GET',
    path: '/api/config/schemas/{kind}',
    access: 'anyone',
    tag: 'config',
    summary: 'Read the JSON Schema of the documents of a kind',
    doc: 'Draft 7, for editors. `all` is the schema of every document. The `x-` keywords describe how units merge.',
    params: { kind: string({ doc: 'A kind that documents may have, or `all`.' }) },
    answer: json({ type: 'object', additionalProperties: true }, { doc: '' }),
    example: {
      params: { kind: 'Policy' },
      answer: { $schema: 'http://json-schema.org/draft-07/schema#', title: 'Policy' },
    },
  }),
};
