import { type Items, json, query } from './operation.ts';

const tag = 'config';

/** The endpoint for hints of hosts of repositories. */
export const sourceItems: Items = {
  '/api/config/sources/{name}/webhook': {
    post: {
      id: 'hintAtSource',
      tag,
      summary: 'Hint that a repository has a new commit',
      description:
        'For the host of the repository, with its signature (`X-Hub-Signature-256`, `X-Gitea-Signature`) or the secret itself (`X-Gitlab-Token`). Nothing in the body is believed.',
      parameters: [query('account', 'The account of the source; without it the account of this server.')],
      body: json({ type: 'object' }, { ref: 'refs/heads/main' }),
      answer: json({ type: 'object' }, {}),
      status: 202,
      open: true,
      errors: [401, 413, 429, 503],
    },
  },
};
