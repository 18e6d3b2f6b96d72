import { count, label, optional, time } from '../../../src/model/operation/fields.ts';
import { defineOperation } from '../../../src/model/operation/operation.ts';
import { boolean, integer, list, object, oneOf, string } from '../../../src/model/schema/field.ts';

const rack = object(
  { id: string({ doc: 'Its id.' }), made_at: optional(time({ doc: 'When it was made.' })) },
  { doc: 'A rack.', schema: 'Rack' },
);

/** Sample operation that has a field of every sort. */
export const addRack = defineOperation({
  id: 'addRack',
  method: 'POST',
  path: '/api/rooms/{roomId}/racks',
  access: { module: 'networks', operation: 'create' },
  summary: 'Add a rack',
  doc: 'It stands at the end.',
  params: { roomId: string({ doc: 'The id of the room.' }) },
  query: {
    limit: optional(count({ doc: 'Maximum number of pairs.', maximum: 10 })),
    page: optional(integer({ doc: 'How many a page.', minimum: 1, maximum: 10, clamp: true })),
    order: oneOf(['asc', 'desc'], { doc: 'In which order.', default: 'asc' }),
    since: optional(time({ doc: 'Only what is newer.' })),
    all: optional(boolean({ doc: 'Whether all.' })),
    near: string({ doc: 'Near what.' }),
  },
  body: {
    name: label({ doc: 'The name.' }),
    boards: list(object({ width: count({ doc: 'How wide.' }) }, { doc: 'A board.', schema: 'Board' }), {
      doc: 'From below.',
      minItems: 1,
    }),
    colours: optional(list(string({ doc: '' }), { doc: 'Its colours.' })),
    height: count({ doc: 'How high.', default: 3, maximum: 9 }),
  },
  answer: object({ racks: list(rack, { doc: 'All of them.' }) }, { doc: 'The room.' }),
  errors: ['conflict'],
  example: { body: { name: 'Left', boards: [{ width: 3 }] }, answer: { racks: [{ id: 'a' }] } },
});
