import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { problemsOf } from './problems.ts';
import { sharedApi } from './setup.ts';

const api = sharedApi();
let group = '';
beforeAll(async () => {
  group = await api().group('resolvers');
});

const zone = (domain: string, more: JsonObject = {}): JsonObject => ({
  name: `Zone ${domain}`.slice(0, 255),
  domain,
  enable_search_domain: false,
  distribution_groups: [group],
  ...more,
});
const record = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  type: 'A',
  content: '10.0.0.1',
  ttl: 300,
  ...more,
});
const without = (value: JsonObject, name: string): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([member]) => member !== name));
const zones = '/api/dns/zones';
const post = (value: JsonObject) => api().call('POST', zones, value);
const zoneOf = async (domain: string): Promise<string> => (await post(zone(domain))).body.id;
const records = (id: string) => `${zones}/${id}/records`;

describe('DNS zones', () => {
  it('are created, read, listed, replaced and deleted', async () => {
    const made = await post(zone('crud.example'));
    const { id } = made.body;
    expect([made.status, made.body]).toEqual([
      200,
      {
        id,
        name: 'Zone crud.example',
        domain: 'crud.example',
        enabled: true,
        enable_search_domain: false,
        distribution_groups: [group],
        records: [],
      },
    ]);
    expect((await api().call('GET', `${zones}/${id}`)).body).toEqual(made.body);
    expect((await api().call('GET', zones)).body).toContainEqual(made.body);
    const off = await api().call('PUT', `${zones}/${id}`, zone('crud2.example', { enabled: false, name: 'Other' }));
    expect(off.body).toEqual({ ...made.body, domain: 'crud2.example', enabled: false, name: 'Other' });
    expect((await api().call('PUT', `${zones}/${id}`, zone('crud2.example'))).body.enabled).toBe(true);
    const gone = await api().call('DELETE', `${zones}/${id}`);
    expect([gone.status, gone.body]).toEqual([200, '']);
    for (const [method, body] of [['GET'], ['DELETE'], ['PUT', zone('crud.example')]] as [string, JsonObject?][])
      expect((await api().call(method, `${zones}/${id}`, body)).status).toBe(404);
  });

  it.each(['name', 'domain', 'enable_search_domain', 'distribution_groups'])('require %s', async (name) => {
    const answer = await post(without(zone('required.example'), name));
    expect([answer.status, answer.body.message]).toEqual([422, `\`${name}\` is required; add it`]);
  });

  it.each([
    [{ name: '' }, ['value_too_short /name']],
    [{ name: 'x'.repeat(256) }, ['value_too_long /name']],
    [{ name: 7 }, ['type_wrong /name']],
    [{ domain: '' }, ['value_too_short /domain']],
    [{ domain: '*.example.com' }, ['domain_invalid /domain']],
    [{ domain: 'a b' }, ['domain_invalid /domain']],
    [{ domain: 'heddle.internal' }, ['zone_domain_reserved /domain']],
    [{ enabled: 'yes' }, ['type_wrong /enabled']],
    [{ distribution_groups: [] }, ['list_too_short /distribution_groups']],
    [{ distribution_groups: null }, ['list_too_short /distribution_groups']],
    [{ distribution_groups: ['nobody'] }, ['reference_unknown /distribution_groups/0']],
    [{ distribution_groups: { id: 'x' } }, ['type_wrong /distribution_groups']],
  ] as [JsonObject, string[]][])('refuse %j', async (more, problems) => {
    const answer = await post(zone('refused.example', more));
    expect([answer.status, problemsOf(answer)]).toEqual([422, problems]);
  });

  it('accept names of 1 and of 255 characters, and a domain in any spelling', async () => {
    expect((await post(zone('one.example', { name: 'x' }))).status).toBe(200);
    expect((await post(zone('long.example', { name: 'x'.repeat(255) }))).status).toBe(200);
    expect((await post(zone('Bücher.Example.'))).body.domain).toBe('Bücher.Example.');
    expect(problemsOf(await post(zone('xn--bcher-kva.example')))).toEqual(['value_taken /domain']);
  });

  it('have a unique domain', async () => {
    const first = await zoneOf('taken.example');
    const again = await post(zone('TAKEN.example.'));
    expect([again.status, again.body.message]).toEqual([409, expect.stringContaining('already exists')]);
    const second = await zoneOf('free.example');
    expect((await api().call('PUT', `${zones}/${second}`, zone('taken.example'))).status).toBe(409);
    await api().call('DELETE', `${zones}/${first}`);
    expect((await api().call('PUT', `${zones}/${second}`, zone('taken.example'))).status).toBe(200);
  });

  it('cannot move to a domain outside their records, and are deleted with their records', async () => {
    const id = await zoneOf('moving.example');
    const made = await api().call('POST', records(id), record('www.moving.example'));
    const moved = await api().call('PUT', `${zones}/${id}`, zone('elsewhere.example'));
    expect([moved.status, problemsOf(moved)]).toEqual([422, ['zone_records_outside /domain']]);
    expect(moved.body.message).toContain('www.moving.example');
    expect((await api().call('PUT', `${zones}/${id}`, zone('example'))).status).toBe(200);
    expect((await api().call('DELETE', `${zones}/${id}`)).status).toBe(200);
    expect((await api().call('GET', `${records(id)}/${made.body.id}`)).status).toBe(404);
  });

  it('write nothing on PUT with the unchanged answer of GET, including records', async () => {
    const id = await zoneOf('same.example');
    await api().call('POST', records(id), record('same.example'));
    const { body, headers } = await api().call('GET', `${zones}/${id}`);
    expect(body.records).toHaveLength(1);
    const before = await api().revision();
    const same = await api().call('PUT', `${zones}/${id}`, body);
    expect([same.body, same.headers['etag'], same.headers['heddle-ignored']]).toEqual([
      body,
      headers['etag'],
      undefined,
    ]);
    expect(await api().revision()).toBe(before);
  });
});

describe('DNS records', () => {
  it('are created, read, listed, replaced and deleted', async () => {
    const path = records(await zoneOf('records.example'));
    const made = await api().call('POST', path, record('www.records.example'));
    const { id } = made.body;
    const answer = { id, name: 'www.records.example', type: 'A', content: '10.0.0.1', ttl: 300 };
    expect([made.status, made.body]).toEqual([200, answer]);
    expect((await api().call('GET', `${path}/${id}`)).body).toEqual(answer);
    expect((await api().call('GET', path)).body).toEqual([answer]);
    expect((await api().call('GET', path.replace('/records', ''))).body.records).toEqual([answer]);
    const change = record('Mail.Records.example.', { type: 'AAAA', content: 'FD00:0:0::1', ttl: 0 });
    const changed = { id, ...change };
    expect((await api().call('PUT', `${path}/${id}`, change)).body).toEqual(changed);
    const before = await api().revision();
    expect((await api().call('PUT', `${path}/${id}`, changed)).body).toEqual(changed);
    expect(await api().revision()).toBe(before);
    const gone = await api().call('DELETE', `${path}/${id}`);
    expect([gone.status, gone.body]).toEqual([200, '']);
    expect((await api().call('GET', `${path}/${id}`)).body.message).toBe(`DNS record ${id} not found`);
    expect((await api().call('GET', path)).body).toEqual([]);
  });

  it('are found under their own zone only', async () => {
    const [one, two] = [await zoneOf('one.parent.example'), await zoneOf('two.parent.example')];
    const { id } = (await api().call('POST', records(one), record('one.parent.example'))).body;
    for (const parent of [two, 'nothing', group])
      for (const [method, body] of [['GET'], ['DELETE'], ['PUT', record('two.parent.example')]] as [
        string,
        JsonObject?,
      ][]) {
        const answer = await api().call(method, `${records(parent)}/${id}`, body);
        expect([answer.status, answer.body.message]).toEqual([404, expect.stringContaining('not found')]);
      }
    for (const parent of ['nothing', group]) {
      expect((await api().call('GET', records(parent))).status).toBe(404);
      expect((await api().call('POST', records(parent), record('a.example'))).status).toBe(404);
    }
  });

  it.each(['name', 'type', 'content', 'ttl'])('require %s', async (name) => {
    const id = await zoneOf(`required-${name}.example`);
    const answer = await api().call('POST', records(id), without(record(`required-${name}.example`), name));
    expect([answer.status, answer.body.message]).toEqual([422, `\`${name}\` is required; add it`]);
  });

  it('refuse values that are out of bounds, of a wrong type or outside the zone', async () => {
    const path = records(await zoneOf('bounds.example'));
    const cases: [JsonObject, string[]][] = [
      [{ name: '' }, ['value_too_short /name']],
      [{ name: 'bounds.example.com' }, ['record_name_outside /name']],
      [{ name: 'notbounds.example' }, ['record_name_outside /name']],
      [{ name: 'www' }, ['record_name_outside /name']],
      [{ name: 'a.*.bounds.example' }, ['record_name_invalid /name']],
      [{ type: 'MX' }, ['value_not_allowed /type']],
      [{ type: 'a' }, ['value_not_allowed /type']],
      [{ content: '' }, ['value_too_short /content']],
      [{ content: 'x'.repeat(256), type: 'CNAME' }, ['value_too_long /content']],
      [{ content: 'fd00::1' }, ['record_content_invalid /content']],
      [{ content: '10.0.0.1', type: 'AAAA' }, ['record_content_invalid /content']],
      [{ content: 'not a name', type: 'CNAME' }, ['record_content_invalid /content']],
      [{ ttl: -1 }, ['value_out_of_range /ttl']],
      [{ ttl: 2147483648 }, ['value_out_of_range /ttl']],
      [{ ttl: '300' }, ['type_wrong /ttl']],
      [{ ttl: null }, ['field_required ']],
    ];
    for (const [more, problems] of cases) {
      const answer = await api().call('POST', path, record('bounds.example', more));
      expect([more, answer.status, problemsOf(answer)]).toEqual([more, 422, problems]);
    }
  });

  it('accept the zone itself, names below it, wildcards, and the longest ttl', async () => {
    const path = records(await zoneOf('inside.example'));
    for (const name of ['inside.example', 'a.b.inside.example', '*.inside.example', '_dmarc.inside.example'])
      expect((await api().call('POST', path, record(name, { ttl: 2147483647 }))).status).toBe(200);
    const alias = record('alias.inside.example', { type: 'CNAME', content: 'Target.Example.' });
    expect((await api().call('POST', path, alias)).body.content).toBe('Target.Example.');
  });

  it('are unique, and a CNAME allows no other record of its name', async () => {
    const path = records(await zoneOf('once.example'));
    await api().call('POST', path, record('www.once.example'));
    const again = await api().call('POST', path, record('WWW.once.example', { ttl: 5 }));
    expect([again.status, again.body.message]).toEqual([409, expect.stringContaining('already exists')]);
    expect((await api().call('POST', path, record('www.once.example', { content: '10.0.0.2' }))).status).toBe(200);
    const alias = record('www.once.example', { type: 'CNAME', content: 'a.example' });
    const extra = await api().call('POST', path, alias);
    expect([extra.status, problemsOf(extra)]).toEqual([422, ['record_cname_alone /type']]);
  });
});
