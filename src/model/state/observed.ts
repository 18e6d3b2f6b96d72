import type { JsonObject } from '../../lib/json.ts';

/** What is observed about objects beside their revisions: by id, under the names of the members that show it. */
export type Observed = (id: string) => JsonObject | undefined;
