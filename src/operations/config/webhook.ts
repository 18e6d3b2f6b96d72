import { jsonContent as jsonBody } from '../../model/lower/openapi/operation.ts';
import { optional } from '../../model/operation/fields.ts';
import { defineOperation } from '../../model/operation/operation.ts';
import { json, string } from '../../model/schema/field.ts';

/** Operation that Git hosts call when a repository changes. */
export const webhook = {
  hint: defineOperation({
    id: 'hintAtSource',
    method: 'POST',
    path: '/api/config/sources/{name}/webhook',
    access: { open: 'is signed with the secret of the source' },
    tag: 'config',
    summary: 'Hint that a repository has a new commit',
    doc: 'For the Git host, which authenticates with its signature (`X-Hub-Signature-256`, `X-Gitea-Signature`) or with the secret itself (`X-Gitlab-Token`). The content of the body is not trusted.',
    params: { name: string({ doc: 'The name of the source.' }) },
    query: {
      account: optional(string({ doc: 'Account of the source. Absent: the account of this server.' })),
    },
    // The signature covers the exact bytes of the body.
    bytesBody: {
      types: ['*'],
      content: jsonBody({ type: 'object', additionalProperties: true }, { ref: 'refs/heads/main' }),
    },
    answer: json({ type: 'object', additionalProperties: false }, { doc: '' }),
    status: 202,
    errors: ['unauthenticated'],
    example: { answer: {} },
  }),
};
