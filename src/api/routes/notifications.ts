import { activities } from '../../model/declare/activities.ts';
import { header, json, operation } from '../../model/lower/openapi/operation.ts';
import { makeAnswer, sendAnswer } from '../answers/answers.ts';
import type { AreaRoutes } from '../area-routes.ts';

const path = '/api/integrations/notifications/types';

/** The events that channels can send. The catalogue changes with the program only. */
const catalogue = makeAnswer({ version: 0, body: activities });

/** What is known about notifications, whatever the account. */
export const notifications: AreaRoutes = {
  add(app) {
    app.get(path, { config: { access: { module: 'notifications', operation: 'read' } } }, (request, reply) =>
      sendAnswer(request, reply, catalogue),
    );
  },
  paths: {
    [path]: {
      get: operation({
        id: 'listNotificationTypes',
        tag: 'notifications',
        summary: 'List what channels can tell about',
        description: 'The code of every activity with what it means.',
        parameters: [header('IfNoneMatch')],
        answer: json(
          { type: 'object', additionalProperties: { type: 'string' } },
          { 'user.join': activities['user.join'] ?? '' },
        ),
        headers: ['ETag'],
        unchanged: true,
        errors: [401, 403, 429, 503],
      }),
    },
  },
};
