import { describe, expect, it } from 'vitest';
import { rowsOf } from '../../commit/office.ts';
import type { ProductAnswer } from './product.ts';
import { device, startVendorA, startVendorB } from './products.ts';
import { bodies, openScene, runPost } from './scene.ts';

const firewall = { firewall_enabled: true };

describe('peers in the groups of an endpoint security integration', () => {
  it('are blocked while the product finds a fault, and allowed again automatically', async () => {
    const { api, machines, integrate, standing, reach, status, events } = await openScene();
    const [ana = '', ben = '', eve = ''] = await machines('ana', 'ben', 'eve');
    const checked = await api.group('checked', [ana, ben]);
    const product = await startVendorA();
    product.devices = [device('ana'), device('ben', { firewallEnabled: false }), device('other')];
    await integrate('vendor-a', bodies['vendor-a'](product.url, [checked], firewall));
    // Before the first complete sync, no peer is blocked.
    expect(await standing([ana, ben, eve])).toEqual([undefined, undefined, undefined]);
    expect(await status('vendor-a')).toMatchObject({ state: 'waiting', deciding: false });
    runPost(api.engine, { everyMs: 100 });
    await expect.poll(() => status('vendor-a')).toMatchObject({ state: 'synced', devices: 3 });
    const reason = 'vendor A: the firewall is off';
    expect(await standing([ana, ben, eve])).toEqual([undefined, reason, undefined]);
    expect(await reach([ana, ben, eve])).toEqual([['eve'], [], ['ana']]);
    expect(await status('vendor-a')).toMatchObject({
      message: 'vendor A lets 1 peer in and keeps 1 out',
      peers: { approved: 1, denied: 1, unchecked: 0 },
    });
    const shown = (await api.call('GET', '/api/integrations/edr/vendor-a')).body;
    expect(shown.last_synced_at).toMatch(/^\d{4}-/);
    const asked = { from: 'ana', to: 'ben', protocol: 'tcp', port: '22' };
    const explained = await api.call('GET', `/api/config/access?${new URLSearchParams(asked)}`);
    expect([explained.status, explained.body.message]).toEqual([200, expect.stringContaining(reason)]);

    product.devices = [device('ana'), device('ben'), device('other')];
    await expect.poll(() => standing([ben])).toEqual([undefined]);
    expect(await reach([ana, ben])).toEqual([
      ['ben', 'eve'],
      ['ana', 'eve'],
    ]);
    expect(await events()).toEqual([
      'integrated-validator.host-check.denied',
      'integrated-validator.host-check.approved',
    ]);
    expect(product.faults).toEqual([]);
  });

  it('are blocked as soon as they join, and allowed when they leave or the integration is disabled', async () => {
    const { api, machines, integrate, standing, status } = await openScene();
    const [ana = '', ben = ''] = await machines('ana', 'ben');
    const checked = await api.group('checked', [ana]);
    const product = await startVendorA();
    product.devices = [device('ana')];
    await integrate('vendor-a', bodies['vendor-a'](product.url, [checked]));
    const post = runPost(api.engine);
    await expect.poll(() => status('vendor-a')).toMatchObject({ state: 'synced' });
    await post.stop();
    const put = (peers: readonly string[]) => api.call('PUT', `/api/groups/${checked}`, { name: 'checked', peers });
    await put([ana, ben]);
    expect(await standing([ana, ben])).toEqual([undefined, 'endpoint security has not checked the peer yet']);
    await put([ana]);
    expect(await standing([ana, ben])).toEqual([undefined, undefined]);
    await put([ana, ben]);
    await integrate('vendor-a', { ...bodies['vendor-a'](product.url, [checked]), enabled: false }, 'PUT');
    expect(await standing([ana, ben])).toEqual([undefined, undefined]);
    expect(await status('vendor-a')).toMatchObject({ state: 'disabled' });
    await integrate('vendor-a', bodies['vendor-a'](product.url, [checked]), 'PUT');
    expect((await standing([ben]))[0]).toContain('has not checked');
    expect((await api.call('DELETE', '/api/integrations/edr/vendor-a')).status).toBe(200);
    expect(await standing([ana, ben])).toEqual([undefined, undefined]);
  });

  it('are looked up at once when they enrol, without reading all devices', async () => {
    const { api, machines, integrate, standing, status } = await openScene();
    const [ana = ''] = await machines('ana');
    const product = await startVendorA();
    product.devices = [device('ana'), device('ben'), device('eve', { firewallEnabled: false })];
    const all = (await api.call('GET', '/api/groups')).body[0].id;
    await integrate('vendor-a', bodies['vendor-a'](product.url, [all], firewall));
    runPost(api.engine);
    await expect.poll(() => status('vendor-a')).toMatchObject({ state: 'synced' });
    const before = product.requests.length;
    const later = await machines('ben', 'eve');
    await expect.poll(() => standing([ana, ...later])).toEqual([undefined, undefined, 'vendor A: the firewall is off']);
    const asked = product.requests.slice(before).map(({ url }) => [...url.searchParams.keys()]);
    expect(asked.every((names) => names.some((name) => name.endsWith('__contains')))).toBe(true);
    expect(product.faults).toEqual([]);
  });

  it('are looked up at the end of a sync that began before they enrolled', async () => {
    const { api, machines, integrate, standing, status } = await openScene();
    const product = await startVendorA();
    product.devices = [device('ana'), device('ben')];
    // The product hangs up on the first request when the machine has enrolled. The repeated request is answered then.
    const holdRequest = () => {
      const { promise, resolve } = Promise.withResolvers<ProductAnswer>();
      product.next(() => promise);
      return () => resolve('hang up');
    };
    let release = holdRequest();
    const all = (await api.call('GET', '/api/groups')).body[0].id;
    await integrate('vendor-a', bodies['vendor-a'](product.url, [all]));
    runPost(api.engine, { timeoutMs: 60_000 });
    const later: string[] = [];
    for (const name of ['ana', 'ben']) {
      const before = product.requests.length;
      if (name === 'ben') {
        release = holdRequest();
        await api.call('POST', '/api/config/endpoint-security/vendor-a/sync');
      }
      await expect.poll(() => product.requests.length).toBe(before + 1);
      later.push(...(await machines(name)));
      release();
      await expect.poll(() => status('vendor-a')).toMatchObject({ state: 'synced', deciding: true });
      await expect.poll(() => standing(later)).toEqual(later.map(() => undefined));
    }
  });

  it('are looked up after another server has ended its sync', async () => {
    const { api, machines, integrate, standing, status } = await openScene();
    const product = await startVendorA();
    product.devices = [device('ana')];
    const all = (await api.call('GET', '/api/groups')).body[0].id;
    await integrate('vendor-a', bodies['vendor-a'](product.url, [all]));
    runPost(api.engine);
    await expect.poll(() => status('vendor-a')).toMatchObject({ state: 'synced' });
    const lend = (until: string) =>
      rowsOf(
        api.engine.database,
        `update leases set owner = 'another', until = ${until} where name like 'endpoint-security/%' returning 1`,
      );
    await lend("now() + interval '1 hour'");
    const ids = await machines('ana');
    expect(await standing(ids)).toEqual(['endpoint security has not checked the peer yet']);
    await lend('now()');
    await expect.poll(() => standing(ids)).toEqual([undefined]);
  });

  it('need the approval of all products that check them', async () => {
    const { api, machines, integrate, standing, status } = await openScene();
    const [ana = '', ben = ''] = await machines('ana', 'ben');
    const checked = await api.group('checked', [ana, ben]);
    const [a, b] = [await startVendorA(), await startVendorB()];
    a.devices = [device('ana'), device('ben', { firewallEnabled: false })];
    b.devices = [device('ana', { complianceState: 'inGracePeriod' }), device('ben')];
    await integrate('vendor-a', bodies['vendor-a'](a.url, [checked], firewall));
    await integrate('vendor-b', bodies['vendor-b'](b.url, [checked]));
    runPost(api.engine);
    await expect.poll(() => status('vendor-a')).toMatchObject({ state: 'synced' });
    await expect.poll(() => status('vendor-b')).toMatchObject({ state: 'synced' });
    expect(await standing([ana, ben])).toEqual([
      'vendor B: its compliance state is `inGracePeriod`, not `compliant`',
      'vendor A: the firewall is off',
    ]);
    expect([...a.faults, ...b.faults]).toEqual([]);
  });
});

describe('the approval of a peer that endpoint security blocks', () => {
  it.each(['self-hosted', 'hosted'] as const)(
    'is shown as required, may be sent back, and cannot be cleared (%s)',
    async (edition) => {
      const { api, machines, integrate, status } = await openScene({ edition });
      const [ana = ''] = await machines('ana');
      const checked = await api.group('checked', [ana]);
      const product = await startVendorA();
      product.devices = [device('other')];
      await integrate('vendor-a', bodies['vendor-a'](product.url, [checked]));
      runPost(api.engine, { everyMs: 100 });
      await expect.poll(() => status('vendor-a')).toMatchObject({ state: 'synced' });
      const path = `/api/peers/${ana}`;
      const shown = (await api.call('GET', path)).body;
      expect(shown).toMatchObject({
        approval_required: true,
        disapproval_reason: 'vendor A: no device has the serial number `SN-ana` or the hostname `ana`',
      });
      expect((await api.call('GET', '/api/peers')).body[0]).toMatchObject({ approval_required: true });
      const revision = await api.revision();
      const echoed = await api.call('PUT', path, shown);
      expect([echoed.status, echoed.body.approval_required]).toEqual([200, true]);
      const cleared = await api.call('PUT', path, { ...shown, approval_required: false });
      expect([cleared.status, cleared.body.approval_required]).toEqual([200, true]);
      expect(await api.revision()).toBe(revision);
      product.devices = [device('ana'), device('other')];
      await expect.poll(async () => (await api.call('GET', path)).body.approval_required).toBe(false);
      expect((await api.call('GET', path)).body.disapproval_reason).toBeUndefined();
    },
  );
});
