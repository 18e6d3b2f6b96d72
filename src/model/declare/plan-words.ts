/** What a plan does to an object. */
export const planActions = ['create', 'update', 'delete'] as const;

/** What a plan does to who states or holds an object, without changing a value. */
export const claimActions = ['claim', 'release', 'restate', 'override'] as const;

/** The guards that make a plan need an approval. */
export const planGuards = [
  ...(['empty', 'deletes', 'kind', 'updates', 'protected', 'rollback', 'sensitive', 'hidden'] as const),
  ...(['access_lost', 'access_gained', 'own_access', 'always'] as const),
] as const;

/** The states of a stored plan. The database holds every one but `expired`, which follows from the time. */
export const planStates = ['ready', 'needs_approval', 'approved', 'applied', 'expired', 'failed'] as const;
