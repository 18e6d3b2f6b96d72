import type { JsonObject } from '../../../lib/json.ts';

/** Believable bodies of the endpoints under `/api/config`, by what they are. */
export const configExamples = {
  yaml: 'apiVersion: heddle.dev/v1\nkind: Group\nmetadata:\n  name: developers\nspec: {}\n',
  exported: [{ apiVersion: 'heddle.dev/v1', kind: 'Group', metadata: { name: 'developers' }, spec: {} }],
} satisfies JsonObject;
