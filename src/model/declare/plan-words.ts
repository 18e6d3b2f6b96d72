/** Actions of a plan on an object. */
export const planActions = ['create', 'update', 'delete'] as const;

/** Changes of which sources state or own an object, without a change of its values. */
export const claimActions = ['claim', 'release', 'restate', 'override'] as const;

/** The guards that make a plan need an approval. */
export const planGuards = [
  ...(['empty', 'deletes', 'kind', 'updates', 'protected', 'rollback', 'sensitive', 'hidden'] as const),
  ...(['access_lost', 'access_gained', 'own_access', 'always'] as const),
] as const;

/** States of a stored plan. The database stores all of them except `expired`, which follows from the time. */
export const planStates = ['ready', 'needs_approval', 'approved', 'applied', 'expired', 'failed'] as const;
