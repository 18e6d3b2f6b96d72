/** How an object can stand between those who have a say in it. */
export const objectStatuses = ['InSync', 'Drifted', 'Overridden', 'Conflicted', 'Blocked', 'Unmanaged'] as const;

/**
 * The state of an object. `InSync`: it is as sources state it. `Drifted`: a value differs. `Overridden`: only because a
 * value is overridden for a while, or was restricted. `Conflicted`: sources contradict each other about it. `Blocked`:
 * no document states it any more, and others use it. `Unmanaged`: no source states or owns anything of it.
 */
export type ObjectStatus = (typeof objectStatuses)[number];
