import { describeAccounts } from './account-properties.ts';

describeAccounts({ accounts: 6, edits: 10 });
