/**
 * Maximum lifetime of a setup key where the limit of the specification does not apply, in seconds: 100 years. Longer
 * ones would expire in years of more than four digits, which clients cannot parse.
 */
export const maxKeyLifetimeSeconds = 3_153_600_000;
