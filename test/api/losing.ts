import { expect } from 'vitest';
import type { Json } from '../../src/lib/json.ts';
import type { Answer, TestApi } from './setup.ts';

/** Sends a request with a key by which it may come again. */
export const post = (own: TestApi, url: string, body: Json | undefined, key: string): Promise<Answer> =>
  own.call('POST', url, body, { 'idempotency-key': key });

/** Whether an answer is that to an earlier request of the same key. */
export const isReplay = ({ headers }: Pick<Answer, 'headers'>): boolean => headers['idempotency-replayed'] === 'true';

/** The server dies, as far as the database can tell, between the commit of what `work` asks and the note of its answer. */
export async function losing<Result>(own: TestApi, work: () => Promise<Result>): Promise<Result> {
  const { database } = own.engine;
  await database.asOwner([
    `create function lose() returns trigger language plpgsql as $$ begin raise 'lost'; end $$`,
    'create trigger lose before update on idempotency_keys for each row when (new.status is not null) execute function lose()',
  ]);
  const answer = await work();
  await database.asOwner(['drop trigger lose on idempotency_keys', 'drop function lose']);
  expect(own.defects.splice(0)).toEqual([expect.objectContaining({ message: 'lost' })]);
  return answer;
}

/** The answer that was lost, and the one to the same request with the same key. */
export async function twice(own: TestApi, url: string, body: Json | undefined): Promise<readonly [Answer, Answer]> {
  const first = await losing(own, () => post(own, url, body, url));
  return [first, await post(own, url, body, url)];
}
