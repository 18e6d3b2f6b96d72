import { expect } from 'vitest';
import type { Json } from '../../src/lib/json.ts';
import type { Answer, TestApi } from './setup.ts';

/** Sends a request with an idempotency key. */
export const post = (own: TestApi, url: string, body: Json | undefined, key: string): Promise<Answer> =>
  own.call('POST', url, body, { 'idempotency-key': key });

/** Returns whether an answer replays the answer to an earlier request with the same key. */
export const isReplay = ({ headers }: Pick<Answer, 'headers'>): boolean => headers['idempotency-replayed'] === 'true';

/**
 * Runs `work` while the database cannot store the answer, as if the server died between the commit and the storing of
 * its answer.
 */
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

/** Sends a request whose answer is lost, then the same request with the same key. Returns both answers. */
export async function twice(own: TestApi, url: string, body: Json | undefined): Promise<readonly [Answer, Answer]> {
  const first = await losing(own, () => post(own, url, body, url));
  return [first, await post(own, url, body, url)];
}
