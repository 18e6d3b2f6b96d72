import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import S3rver from '@20minutes/s3rver';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../setup/database.ts';
import { present } from '../../setup/present.ts';
import { openPost } from '../scene.ts';

const objectFile = '._S3rver_object';

/** Starts an S3 server written by a third party, and a client that reads its objects. */
async function openForeignS3() {
  const directory = await temporaryDirectory();
  const server = new S3rver({
    ...{ port: 0, address: '127.0.0.1', silent: true, directory },
    configureBuckets: [{ name: 'mesh-events' }],
  });
  const { port } = await server.run();
  onTestFinished(() => server.close());
  const endpoint = `http://127.0.0.1:${port}`;
  const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
  const client = new S3Client({ endpoint, credentials, region: 'us-east-1', forcePathStyle: true });
  onTestFinished(() => client.destroy());
  const Bucket = 'mesh-events';
  return {
    config: {
      ...{ access_key: 'S3RVER', secret_key: 'S3RVER', bucket_name: Bucket, region: 'us-east-1', endpoint },
    },
    /**
     * Returns the keys of all objects. The server stores each object in a file named after its key, and metadata in
     * separate files.
     */
    async keys() {
      const files = await readdir(join(directory, Bucket), { recursive: true });
      return files.filter((name) => name.endsWith(objectFile)).map((name) => name.slice(0, -objectFile.length));
    },
    async lines(Key: string) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
      return gunzipSync(await present(Body).transformToByteArray())
        .toString('utf8')
        .trimEnd()
        .split('\n');
    },
  };
}

test('a third-party S3 server refuses a wrong secret and a wrong bucket, and stores events with the right ones', async () => {
  const [post, s3] = [await openPost(), await openForeignS3()];
  const id = await post.stream('s3', { ...s3.config, secret_key: 'another' });
  await post.group('one');
  post.run();
  const error = async () => (await post.rows('select paused, last_error from deliveries'))[0];
  await expect.poll(error).toEqual({
    paused: true,
    last_error: expect.stringMatching(
      /^127\.0\.0\.1:\d+ answers 403 SignatureDoesNotMatch; see whether the credentials are right and may write there$/,
    ),
  });
  await post.changeStream(id, { secret_key: 'S3RVER', bucket_name: 'elsewhere' });
  await expect.poll(error).toMatchObject({
    last_error: expect.stringMatching(/answers 404 NoSuchBucket; see whether the name and the region are right$/),
  });
  await post.changeStream(id, { bucket_name: 'mesh-events' });
  // Whether the events written between the failures are in the same object depends on timing.
  const groups = async () => {
    const lines = await Promise.all((await s3.keys()).map((key) => s3.lines(key)));
    return lines.flat().flatMap((line) => {
      const { type, meta } = JSON.parse(line);
      return type === 'group.add' ? [meta.name] : [];
    });
  };
  await expect.poll(groups).toEqual(['one']);
});
