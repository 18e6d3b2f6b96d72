/** Members that no answer of the walk contains, each with the test that produces it. */
export const unseen: Readonly<Record<string, string>> = {
  idp_id: 'the walk has no identity provider; test/auth has one',
  last_synced_at: 'the walk runs no sync; test/integrations/directory does',
};

/** Members that only answers of the hosted edition contain, each with the reason. */
export const hostedOnly: Readonly<Record<string, string>> = {
  disapproval_reason: 'peers of other editions need no approval',
};
