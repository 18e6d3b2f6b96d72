/** How an object can stand between those who have a say in it. */
export const objectStatuses = ['InSync', 'Drifted', 'Overridden', 'Conflicted', 'Blocked', 'Unmanaged'] as const;

/**
 * How an object stands. `InSync`: it is as sources state it. `Drifted`: something is not. `Overridden`: only because somebody
 * set it aside for a while, or restricted it. `Conflicted`: sources contradict each other about it. `Blocked`: no document
 * states it any more, and others use it. `Unmanaged`: no source has a say in it.
 */
export type ObjectStatus = (typeof objectStatuses)[number];
