import { readCaller } from '../../engine/users.ts';
import { header, json, named, operation } from '../../model/lower/openapi-operation.ts';
import { makeAnswer, sendAnswer } from '../answers.ts';
import type { AreaRoutes } from '../area-routes.ts';
import { callOf } from '../authenticate.ts';

const path = '/api/users/current';

const example = {
  ...{ id: 'ch8i4ug6lnn4g9hqv7p0', email: 'ana@example.com', name: 'Ana Lima', role: 'owner', status: 'active' },
  ...{ last_login: '0001-01-01T00:00:00Z', auto_groups: [], is_current: true, is_service_user: false },
  ...{ is_blocked: false, pending_approval: false, issued: 'api' },
  permissions: {
    is_restricted: false,
    modules: { groups: { read: true, create: true, update: true, delete: true } },
  },
};

/** What users ask about themselves. */
export const users: AreaRoutes = {
  add(app, engine) {
    app.get(path, { config: { access: 'anyone' } }, async (request, reply) => {
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
        answer: json(named('User'), example),
        headers: ['ETag'],
        unchanged: true,
        errors: [401, 403, 404, 429, 503],
      }),
    },
  },
};
