import { expect, it } from 'vitest';
import { doc } from './documents.ts';
import { sharedApi } from './setup.ts';

const api = sharedApi();

it('a body of up to 64 MiB is accepted under /api/config, and a larger one is refused with 413', async () => {
  const filler = `${'# filler\n'.repeat(250_000)}${doc('Group', 'big', 'name: big')}`;
  const body = { source: 's', files: [{ path: 'a.yaml', text: filler }] };
  expect((await api().call('POST', '/api/config/validate', body)).status).toBe(200);
  const headers = { 'content-type': 'application/yaml' };
  const large = await api().call('POST', '/api/config/validate', ' '.repeat(64 * 1024 * 1024 + 1), headers);
  expect([large.status, large.body.message]).toEqual([413, expect.stringContaining('64 MiB')]);
});
