import type { JsonObject } from '../../../lib/json.ts';
import { revisionSchemas } from './revision-schemas.ts';

/** Schemas of the endpoints under `/api/config`. */
export const configSchemas: JsonObject = {
  ...revisionSchemas,
};
