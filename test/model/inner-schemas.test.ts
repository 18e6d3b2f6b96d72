import { expect, it } from 'vitest';
import { nameInnerSchemas } from '../../src/model/lower/openapi/inner-schemas.ts';

const point = { type: 'object', required: ['x'], properties: { x: { type: 'integer' } } };

it('an object nested in a schema becomes a separate, named schema', () => {
  expect(
    nameInnerSchemas({
      MapRequest: {
        type: 'object',
        required: ['corner_points'],
        properties: {
          corner_points: {
            type: 'array',
            minItems: 1,
            items: { ...point, description: 'A corner.' },
            description: 'All.',
          },
          sourceArea: { type: 'object', properties: { middle: point }, description: 'Where.' },
          name: { type: 'string' },
        },
      },
    }),
  ).toEqual({
    MapRequest: {
      type: 'object',
      required: ['corner_points'],
      properties: {
        corner_points: {
          type: 'array',
          minItems: 1,
          items: { $ref: '#/components/schemas/MapCornerPointRequest', description: 'A corner.' },
          description: 'All.',
        },
        sourceArea: { $ref: '#/components/schemas/MapSourceAreaRequest', description: 'Where.' },
        name: { type: 'string' },
      },
    },
    MapCornerPointRequest: { ...point, description: 'A corner.' },
    MapSourceAreaRequest: {
      type: 'object',
      properties: { middle: { $ref: '#/components/schemas/MapSourceAreaMiddleRequest' } },
      description: 'Where.',
    },
    MapSourceAreaMiddleRequest: point,
  });
});

it.each([
  ['rules', 'ThingRule'],
  ['policies', 'ThingPolicy'],
  ['addresses', 'ThingAddress'],
  ['history', 'ThingHistory'],
  ['access', 'ThingAccess'],
])('an item of `%s` gets the schema name %s', (member, name) => {
  const thing = { type: 'object', properties: { [member]: { type: 'array', items: point } } };
  expect(Object.keys(nameInnerSchemas({ Thing: thing }))).toEqual(['Thing', name]);
});

it('free-form objects and references to named schemas are unchanged', () => {
  const schemas = {
    Box: {
      type: 'object',
      properties: {
        lid: { $ref: '#/components/schemas/Lid' },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
      },
    },
    Lid: point,
    Either: { oneOf: [{ $ref: '#/components/schemas/Box' }] },
  };
  expect(nameInnerSchemas(schemas)).toEqual(schemas);
});

it('two schemas with the same name are refused', () => {
  const box = { type: 'object', properties: { lid: point } };
  for (const schemas of [
    { Box: box, BoxLid: point },
    { BoxLid: point, Box: box },
  ])
    expect(() => nameInnerSchemas(schemas)).toThrow('`lid` would get the schema name BoxLid');
});
