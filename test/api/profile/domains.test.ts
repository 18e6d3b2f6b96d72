import { expect, it } from 'vitest';
import { addCluster } from '../../spec/world.ts';
import { profileScene } from './scene.ts';

const scene = profileScene();
const path = '/api/reverse-proxies/domains';

// The specification has no custom domains, so both profiles answer as existing clients expect.
it.each(['ours', 'theirs'] as const)(
  'custom domains answer 200, 202 and 204 without a body in both profiles: %s',
  async (profile) => {
    const call = scene[profile];
    const [domain, target_cluster] = [`${profile}.example.org`, `${profile}.example.com`];
    await addCluster(scene.api(), target_cluster, {});
    const made = await call('POST', path, { domain, target_cluster });
    expect(made).toMatchObject({ status: 200, body: { domain, target_cluster, validated: false, type: 'custom' } });
    // Existing clients find a domain in the list, because a single domain cannot be read.
    const list = await call('GET', path);
    expect(list.status).toBe(200);
    expect(list.body).toContainEqual(made.body);
    expect(list.body).toContainEqual(expect.objectContaining({ id: '', domain: target_cluster, type: 'free' }));
    const looking = await call('GET', `${path}/${made.body.id}/validate`);
    expect([looking.status, looking.body]).toEqual([202, '']);
    // A dashboard sends a JSON text as the body of every DELETE.
    const gone = await call('DELETE', `${path}/${made.body.id}`, '""');
    expect([gone.status, gone.body]).toEqual([204, '']);
    const missed = await call('DELETE', `${path}/${made.body.id}`);
    expect(missed).toMatchObject({ status: 404, body: { code: 404, message: expect.stringContaining('not found') } });
  },
);
