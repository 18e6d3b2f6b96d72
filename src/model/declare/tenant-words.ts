/** States of a tenant on the way to being managed. */
export const tenantStatuses = ['pending', 'existing', 'invited', 'active'] as const;

/** State of a tenant. */
export type TenantStatus = (typeof tenantStatuses)[number];

/** Answers of an account to the request of another account to manage it. */
export const tenantAnswers = ['accept', 'decline'] as const;
