import { describeAccounts } from './account-properties.ts';

describeAccounts({ accounts: 60, edits: 200 });
