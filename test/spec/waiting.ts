/**
 * Operations that later issues bring. Until then they answer 404 or 405; the change that brings one takes its line out
 * here, and the walk tries it.
 */
export const waiting: Readonly<Record<string, readonly string[]>> = {};

/** Members of answers that nothing brings yet, and what will. The change that brings one takes its line out here. */
export const unseen: Readonly<Record<string, string>> = {
  idp_id: 'walks know no identity provider; test/identity tries it',
  last_synced_at: 'no connector syncs anything yet',
};

/** Members that only answers of the hosted edition have, and why. */
export const hostedOnly: Readonly<Record<string, string>> = {
  disapproval_reason: 'peers of other editions wait for nobody',
};
