/** Behavior of the API: as specified, or as existing clients of compatible servers expect. */
export type Profile = (typeof profiles)[number];

export const profiles = ['specification', 'compatible'] as const;
