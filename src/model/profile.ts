/** A form of the interface: as it is specified, or as clients of other servers of its kind know it. */
export type Profile = (typeof profiles)[number];

export const profiles = ['specification', 'compatible'] as const;
