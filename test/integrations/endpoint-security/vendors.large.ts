import { expect, it } from 'vitest';
import { device, startVendorC } from './products.ts';
import { bodies, openScene, runPost } from './scene.ts';

it('hosts with more programs than fit into an answer are read in smaller pages', async () => {
  const { api, integrate, status } = await openScene();
  const counterpart = await startVendorC();
  const software = [{ name: 'p'.repeat(500_000), vulnerabilities: null }];
  counterpart.devices = Array.from({ length: 60 }, (_, at) => device(`m-${at}`, { software }));
  const match = { vulnerable_software_count_max: 1 };
  await integrate('vendor-c', bodies['vendor-c'](counterpart.url, [await api.group('checked')], match));
  runPost(api.engine, { timeoutMs: 10_000 });
  await expect.poll(() => status('vendor-c')).toMatchObject({ state: 'synced', devices: 60 });
  const sizes = counterpart.requests.map(({ url }) => url.searchParams.get('per_page'));
  expect(sizes).toEqual(['50', '25', '13', '13', '13', '13', '13']);
});
