import { activities } from '../../model/declare/activities.ts';
import { notifications as operations } from '../../operations/notifications.ts';
import { makeAnswer, sendAnswer } from '../answers/answers.ts';
import { implement } from '../operations/implement.ts';

/** What channels can tell about. The catalogue changes with the program only. */
const catalogue = makeAnswer({ version: 0, body: activities });

/** What is known about notifications, whatever the account. */
export const notifications = implement(operations, () => ({
  listTypes: ({ request, reply }) => sendAnswer(request, reply, catalogue),
}));
