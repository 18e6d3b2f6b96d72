import type { JsonObject } from '../../../lib/json.ts';

/** A text. */
export const text = (description: string) => ({ type: 'string', description });

/** A whole number from 0. */
export const count = (description: string) => ({ type: 'integer', minimum: 0, description });

/** A moment, ISO 8601 in UTC. */
export const time = (description: string) => ({ type: 'string', format: 'date-time', description });

/** An object with these members; those that are not optional are always there. */
export const object = (description: string, properties: JsonObject, optional: readonly string[] = []): JsonObject => ({
  type: 'object',
  description,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
});
