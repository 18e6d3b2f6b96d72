import type { JsonObject } from '../../lib/json.ts';

/**
 * Returns the observations about an object that are not part of revisions, by the names of the members that show them.
 */
export type ObservationLookup = (id: string) => JsonObject | undefined;
