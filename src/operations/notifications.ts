import { activities } from '../model/declare/activities.ts';
import { defineOperation } from '../model/operation/operation.ts';
import { mapOf, string } from '../model/schema/field.ts';

/** What is known about notifications, whatever the account. */
export const notifications = {
  listTypes: defineOperation({
    id: 'listNotificationTypes',
    method: 'GET',
    path: '/api/integrations/notifications/types',
    access: { module: 'notifications', operation: 'read' },
    summary: 'List what channels can tell about',
    doc: 'The code of every activity with what it means.',
    answer: mapOf(string({ doc: '' }), { doc: '' }),
    example: { answer: { 'user.join': activities['user.join'] ?? '' } },
  }),
};
