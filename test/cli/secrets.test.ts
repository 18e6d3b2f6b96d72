import { expect, it } from 'vitest';
import type { LogLine } from '../../src/log.ts';
import { operatorToken } from '../api/setup.ts';
import { runHere } from './collect.ts';
import { serve } from './served.ts';

it('heddle secrets rotate reports undecryptable secrets to the operator and in the log', async () => {
  const lines: LogLine[] = [];
  await using server = await serve({ log: (line) => lines.push(line) });
  const { api, env } = server;
  const target = { url: 'https://x.example.com', headers: { 'X-Key': 'hunter2' } };
  const channel = { type: 'webhook', event_types: ['user.join'], enabled: true, target };
  const made = await api.call('POST', '/api/integrations/notifications/channels', channel);
  const rotate = () => runHere(['secrets', 'rotate'], { ...env, HEDDLE_OPERATOR_TOKEN: operatorToken });
  expect(await rotate()).toMatchObject({ code: 0, out: 'Every secret is already sealed with the newest key.\n' });
  await api.engine.database.asOwner(async (run) => {
    const set = `update objects set spec = jsonb_set(spec, '{target,headers,X-Key}', '"sealed:hunter3"') where id = $1`;
    await run(set, [made.body.id]);
  });
  const { code, out } = await rotate();
  const reason = 'a secret does not have the form of a sealed secret';
  expect([code, out]).toEqual([
    0,
    `Every secret that opens is already sealed with the newest key.

Stored secrets that no key of the server opens (left unchanged): 1. Write them again, or rotate again with the key that sealed them.
  account ${api.account}, object ${made.body.id}, target.headers.X-Key: ${reason}
`,
  ]);
  expect(lines.filter(({ level }) => level === 'warn')).toEqual([
    {
      ...{ level: 'warn', message: `a stored secret cannot be decrypted and stays unchanged: ${reason}` },
      ...{ what: 'object', account: api.account, object: made.body.id, path: 'target.headers.X-Key' },
    },
  ]);
});
