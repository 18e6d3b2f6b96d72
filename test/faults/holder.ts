import { openDatabase } from '../../src/db/database.ts';

// A process that locks an account, reports it, and keeps the lock. It is stopped in this state. Arguments: the URL of
// the database, and the account.

const [url = '', account = ''] = process.argv.slice(2);
const database = await openDatabase({ url, poolSize: 1 });
process.on('disconnect', () => process.exit());
await database.withAccountLock(account, async () => {
  process.send?.('held');
  await new Promise(() => {});
});
