import type { JsonObject } from '../../../lib/json.ts';
import { revisionSchemas } from './revision-schemas.ts';
import { object, text } from './words.ts';

/** Schemas of the endpoints under `/api/config`. */
export const configSchemas: JsonObject = {
  Health: object('How the server is.', { status: text('`ok` or `ready`.') }),
  ...revisionSchemas,
};
