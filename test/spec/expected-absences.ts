/** Members that no answer of the walk has, and the tests that produce them. */
export const unseen: Readonly<Record<string, string>> = {
  idp_id: 'the walk has no identity provider; test/auth has one',
  last_synced_at: 'the walk runs no sync; test/integrations/directory does',
};

/** Members that only answers of the hosted edition have, and why. */
export const hostedOnly: Readonly<Record<string, string>> = {
  disapproval_reason: 'peers of other editions need no approval',
};
