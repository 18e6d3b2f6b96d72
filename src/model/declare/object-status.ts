/** States of an object with regard to its sources; see `ObjectStatus`. */
export const objectStatuses = ['InSync', 'Drifted', 'Overridden', 'Conflicted', 'Blocked', 'Unmanaged'] as const;

/**
 * State of an object. `InSync`: it is as sources state it. `Drifted`: a value differs. `Overridden`: values differ only
 * because of an override or a restriction. `Conflicted`: sources contradict each other about it. `Blocked`: no document
 * states it any more, but other objects use it. `Unmanaged`: no source states or owns any part of it.
 */
export type ObjectStatus = (typeof objectStatuses)[number];
