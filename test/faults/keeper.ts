import { createEngine } from '../../src/app.ts';
import { openDatabase } from '../../src/db/database.ts';
import { runPeerUpkeep } from '../../src/features/peers/upkeep/upkeep.ts';

// A process that maintains peers like a server, but more often. It may be killed at any moment. Arguments: the URL of
// the database, and the name of the server.

const [url = '', server = ''] = process.argv.slice(2);
const database = await openDatabase({ url, poolSize: 2 });
const engine = createEngine({ database });
runPeerUpkeep({
  ...{ engine, server, everyMs: 100, graceMs: 0 },
  report: (level, message) => process.stderr.write(`${level}: ${message}\n`),
});
process.on('disconnect', () => process.exit());
