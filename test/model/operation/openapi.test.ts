import { describe, expect, it } from 'vitest';
import { optional } from '../../../src/model/operation/fields.ts';
import { pathsOf, schemasOf } from '../../../src/model/operation/openapi.ts';
import { defineOperation } from '../../../src/model/operation/operation.ts';
import { list, string } from '../../../src/model/schema/field.ts';
import { present } from '../../setup/present.ts';
import { addRack } from './sample.ts';

it('the OpenAPI document describes an operation by its declaration, with named schemas', () => {
  const { '/api/rooms/{roomId}/racks': item } = pathsOf([addRack]);
  expect(item).toMatchObject({
    parameters: [{ name: 'roomId', in: 'path', required: true, schema: { type: 'string' } }],
    post: {
      operationId: 'addRack',
      tags: ['networks'],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: { $ref: '#/components/schemas/AddRackRequest' } } },
      },
      responses: {
        200: {
          headers: { 'Heddle-Ignored': { $ref: '#/components/headers/Heddle-Ignored' } },
          content: {
            'application/json': {
              schema: { properties: { racks: { items: { $ref: '#/components/schemas/Rack' } } } },
            },
          },
        },
        409: { $ref: '#/components/responses/409' },
      },
    },
  });
  expect(Object.keys((item as typeof item & { post: { responses: object } }).post.responses)).toEqual([
    '200',
    '400',
    '401',
    '403',
    '404',
    '409',
    '413',
    '415',
    '422',
    '429',
    '503',
  ]);
  expect(schemasOf([addRack])).toEqual({
    AddRackRequest: {
      type: 'object',
      required: ['name', 'boards'],
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 255, description: 'The name.' },
        boards: {
          type: 'array',
          items: { $ref: '#/components/schemas/Board', description: 'A board.' },
          minItems: 1,
          description: 'From below.',
        },
        colours: { type: 'array', items: { type: 'string', maxLength: 4096 }, description: 'Its colours.' },
        height: { type: 'integer', minimum: 0, maximum: 9, description: 'How high. Default: 3.' },
      },
    },
    Board: {
      type: 'object',
      description: 'A board.',
      required: ['width'],
      properties: { width: { type: 'integer', minimum: 0, description: 'How wide.' } },
    },
    Rack: {
      type: 'object',
      description: 'A rack.',
      required: ['id'],
      properties: {
        id: { type: 'string', description: 'Its id.' },
        made_at: { type: 'string', format: 'date-time', description: 'When it was made.' },
      },
    },
  });
});

it('a declaration must name the parameters of its path', () => {
  const declare = () =>
    defineOperation({
      ...{ id: 'readRoom', method: 'GET', path: '/api/rooms/{roomId}', summary: 'Read a room', access: 'anyone' },
      params: { room: string({ doc: 'The id of the room.' }) },
      example: {},
    });
  expect(declare).toThrow('readRoom: `params` must name the placeholders of /api/rooms/{roomId}');
});

it('the OpenAPI document describes an answer under each of its media types', () => {
  const facts = {
    ...({ method: 'GET', access: 'anyone', tag: 'rooms', summary: 'Read it', answer: string({ doc: '' }) } as const),
    ...({ id: 'readRoom', path: '/api/room' } as const),
  };
  const contentOf = (declared: Parameters<typeof pathsOf>[0][number]) => {
    const { '/api/room': item } = pathsOf([declared]);
    return (item as { get: { responses: { 200: { content: object } } } }).get.responses[200].content;
  };
  const example = { answer: 'a room' };
  const text = { schema: { type: 'string' }, example: 'a room' };
  expect(contentOf(defineOperation({ ...facts, example, answerType: 'text/html' }))).toEqual({ 'text/html': text });
  expect(
    contentOf(defineOperation({ ...facts, example, otherMediaTypes: { 'application/yaml': 'room: a\n' } })),
  ).toEqual({
    'application/json': text,
    'application/yaml': { schema: { type: 'string' }, example: 'room: a\n' },
  });
});

it('the OpenAPI document lists 410 for what can be read only once, and shows no ETag', () => {
  const taken = defineOperation({
    ...{ id: 'takeKey', method: 'GET', path: '/api/key', access: 'anyone', tag: 'rooms', summary: 'Take it' },
    ...{ answer: string({ doc: 'The key.' }), readOnce: true, example: { answer: 'a key' } },
  });
  const { '/api/key': item } = pathsOf([taken]);
  const { parameters, responses } = (item as { get: { parameters?: unknown; responses: Record<string, object> } }).get;
  expect([parameters, Object.keys(responses), 'headers' in present(responses['200'])]).toEqual([
    undefined,
    ['200', '401', '403', '410', '429', '503'],
    false,
  ]);
});

describe('an operation that accepts YAML as well as JSON', () => {
  const body = {
    source: string({ doc: 'The source.' }),
    kinds: optional(list(string({ doc: '' }), { doc: 'The kinds.' })),
  };
  const facts = {
    ...({ id: 'plan', method: 'POST', path: '/api/plan', access: 'anyone', tag: 'rooms', summary: 'Plan' } as const),
    example: { body: { source: 'a' } },
  };
  const textBody = { name: 'YAML', types: ['application/yaml', 'text/yaml'], example: 'a: 1\n', toJson: () => ({}) };

  it('is described with both media types, and with members of the body as query parameters', () => {
    const declared = defineOperation({ ...facts, body, bodyInQuery: ['source', 'kinds'], textBody });
    const { '/api/plan': item } = pathsOf([declared]);
    const schema = { type: 'string' };
    expect(item).toMatchObject({
      post: {
        parameters: [
          { name: 'source', description: 'For a YAML body, where it is required: as `source` of a JSON body.', schema },
          { name: 'kinds', description: 'For a YAML body: as `kinds` of a JSON body, separated by commas.', schema },
          { $ref: '#/components/parameters/Prefer' },
        ],
        requestBody: {
          content: {
            'application/json': { schema: { $ref: '#/components/schemas/PlanRequest' } },
            'application/yaml': { schema: { type: 'string' }, example: 'a: 1\n' },
          },
        },
      },
    });
  });

  it('accepts no query member that the body does not have', () => {
    // @ts-expect-error the body has no such member
    const declare = () => defineOperation({ ...facts, body, bodyInQuery: ['sauce'], textBody });
    expect(declare).toThrow('the body has no member sauce to accept in the query');
  });
});
