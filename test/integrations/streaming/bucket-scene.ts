import { openPost } from '../scene.ts';
import { credentials, startBucket } from './aws.ts';

/** Opens a post that streams events to a bucket. */
export async function openBucket() {
  const post = await openPost();
  const bucket = await startBucket('events');
  await post.stream('s3', { ...credentials, bucket_name: 'events', endpoint: bucket.url });
  return {
    ...{ ...post, bucket },
    /** Adds `count` events with a payload of `bytes` bytes each. */
    addEvents: (count: number, bytes: number) =>
      post.database.asOwner(async (query) => {
        await query(
          `with head as (update accounts set audit_sequence = audit_sequence + $2 where account_id = $1 returning audit_sequence - $2 as last)
          insert into audit_events (account_id, id, revision, created_at, activity_code, initiator_id, initiator_name, initiator_email, target_id, meta)
          select $1, last + n, 1, now(), 'dashboard.login', 'u1', 'Ana', '', 'u1', jsonb_build_object('text', repeat('x', $3))
          from head, generate_series(1, $2::int) n`,
          [post.account, count, bytes],
        );
      }),
  };
}
