/** How far a tenant has come. */
export const tenantStatuses = ['pending', 'existing', 'invited', 'active'] as const;

/** One of them. */
export type TenantStatus = (typeof tenantStatuses)[number];

/** What an account may answer when another one asks to manage it. */
export const tenantAnswers = ['accept', 'decline'] as const;
