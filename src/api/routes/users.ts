import { readCaller } from '../../engine/users.ts';
import { header, json, named, operation } from '../../model/lower/openapi-operation.ts';
import { makeAnswer, sendAnswer } from '../answers.ts';
import type { AreaRoutes } from '../area-routes.ts';
import { callOf } from '../authenticate.ts';

const path = '/api/users/current';

/** What users ask about themselves. */
export const users: AreaRoutes = {
  add(app, engine) {
    app.get(path, async (request, reply) => {
      const { version, body } = await readCaller(engine, callOf(request));
      return sendAnswer(request, reply, makeAnswer({ version, body }));
    });
  },
  paths: {
    [path]: {
      get: operation({
        id: 'readCurrentUser',
        tag: 'users',
        summary: 'Read the user who asks',
        description: 'Also says what the user may do.',
        parameters: [header('IfNoneMatch')],
        answer: json(named('User')),
        headers: ['ETag'],
        unchanged: true,
        errors: [401, 403, 404, 429, 503],
      }),
    },
  },
};
