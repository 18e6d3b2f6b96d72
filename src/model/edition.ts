/** The two ways in which the product is run. */
export type Edition = 'self-hosted' | 'hosted';
