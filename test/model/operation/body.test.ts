import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/lib/json.ts';
import { readBody } from '../../../src/model/operation/body.ts';
import type { InputOf } from '../../../src/model/operation/operation.ts';
import { list, string } from '../../../src/model/schema/field.ts';
import { present } from '../../setup/present.ts';
import { addRack } from './sample.ts';

const fields = present(addRack.body);
const sound = { name: 'Left', boards: [{ width: 3 }] };
const read = (body: JsonObject, strict = false) => readBody(fields, body, { strict });

describe('the body of an operation', () => {
  it('is read in its canonical form, with defaults', () => {
    expect(read(sound)).toEqual({ body: { ...sound, height: 3 }, faults: [], ignored: [] });
  });

  it('has the TypeScript type of its declared fields', () => {
    const body: InputOf<typeof addRack>['body'] = { ...sound, height: 3 };
    // @ts-expect-error a required field is missing
    const { name: _, ...unnamed }: InputOf<typeof addRack>['body'] = { boards: [], height: 3 };
    // @ts-expect-error a field has another type
    const wide: InputOf<typeof addRack>['body'] = { ...body, boards: [{ width: 'wide' }] };
    expect([body.colours, unnamed, wide.boards]).toEqual([undefined, { boards: [], height: 3 }, [{ width: 'wide' }]]);
  });

  it('is refused with all of its faults', () => {
    const { faults } = read({ name: '  ', boards: [{}, { width: -1 }], height: 10 });
    expect(faults.map(({ code, path }) => [code, path])).toEqual([
      ['field_required', '/boards/0'],
      ['value_out_of_range', '/boards/1/width'],
      ['value_out_of_range', '/height'],
      ['name_invalid', '/name'],
    ]);
  });

  it('requires every field that is not optional and has no default, including lists', () => {
    expect(read({}).faults.map(({ message }) => message)).toEqual([
      '`name` is required; add it',
      '`boards` is required; add it',
    ]);
  });

  it('may contain null for an absent member', () => {
    expect(read({ ...sound, colours: null, height: null }).body).toEqual({ ...sound, height: 3 });
    expect(read({ ...sound, boards: null }).faults.map(({ code }) => code)).toEqual(['list_too_short']);
  });

  it('may contain unknown members, which are reported as ignored, or refused in strict mode', () => {
    const more = { ...sound, colour: 'red', boards: [{ width: 3, depth: 4 }] };
    expect(read(more)).toEqual({
      body: { ...sound, height: 3 },
      faults: [],
      ignored: ['/boards/0/depth', '/colour'],
    });
    expect(read(more, true).faults.map(({ code, path }) => [code, path])).toEqual([
      ['field_unknown', '/boards/0/depth'],
      ['field_unknown', '/colour'],
    ]);
  });
});

describe('a member with a specific message for when it is missing', () => {
  const seats = { seats: list(string({ doc: '' }), { doc: 'The seats.', missingHint: 'send {"seats": ["1A"]}' }) };

  it.each([{}, { seats: null }])('is reported with that message instead of being read as empty: %j', (given) => {
    const { faults } = readBody(seats, given, { strict: false });
    const message = '`seats` is missing; send {"seats": ["1A"]}';
    expect(faults).toEqual([{ code: 'field_required', path: '', message }]);
  });

  it('is accepted when it is present', () => {
    expect(readBody(seats, { seats: [] }, { strict: false })).toMatchObject({ body: { seats: [] }, faults: [] });
  });
});
