/** How the product is operated. */
export type Edition = 'self-hosted' | 'hosted';
