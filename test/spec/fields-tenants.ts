import { fullGroup } from './fields-access.ts';
import { one, type PathParameters, type Row, type Rows, sample } from './row.ts';
import {
  answer,
  boolean,
  both,
  fields,
  integer,
  list,
  type Members,
  mayBeAbsent,
  O,
  R,
  text,
  timestamp,
} from './shape.ts';
import type { World } from './world.ts';

const path = '/api/integrations/msp/tenants';
const later = 'wire facts 14: omitted until it happens';

const tenant = answer({
  id: text,
  name: text,
  domain: text,
  groups: list(answer({ id: text, role: text })),
  activated_at: mayBeAbsent(timestamp, later),
  created_at: timestamp,
  updated_at: timestamp,
  invited_at: mayBeAbsent(timestamp, later),
  dns_challenge: text,
  status: text,
});

const groupRoles = R(list(fields({ id: R(text), role: R(text) })));
const tenantFields: Members = { name: R(text), domain: R(text), groups: groupRoles };

const tenantBody = async (world: World) => ({
  name: 'Acme Works',
  domain: `${world.fresh('acme')}.example.com`,
  groups: [{ id: await world.group(), role: 'admin' }],
});

/** Creates a tenant. */
export const newTenant = async (world: World) => world.send('POST', path, await tenantBody(world));

/** Creates a tenant whose domain has the TXT record that the challenge asks for. */
const proved = async (world: World) => {
  const made = await newTenant(world);
  world.txt.set(`_heddle-challenge.${made.domain}`, [made.dns_challenge]);
  return made;
};

const active = async (world: World) => {
  const made = await proved(world);
  await world.send('POST', `${path}/${made.id}/dns`);
  return made;
};

/** Returns the header that authenticates the machine owner of a tenant's account. */
export const machineOwner = async (world: World, account: string) => {
  const state = await world.api.engine.snapshots.current(account);
  return world.headersOf(account, state.ofKind('User').find(({ spec }) => spec['role'] === 'owner')?.id ?? '');
};

/** Creates a user in a tenant's account. Returns the id. */
const personOf = async (world: World, account: string): Promise<string> => {
  const body = {
    name: 'Eva',
    email: `${world.fresh('eva')}@example.com`,
    role: 'admin',
    auto_groups: [],
    is_service_user: false,
  };
  return (await world.send('POST', '/api/users', body, await machineOwner(world, account))).id;
};

/**
 * Creates a tenant whose domain has an account already, because an earlier tenant was unlinked from it. Returns the id.
 */
const existing = async (world: World): Promise<string> => {
  const { id, domain } = await active(world);
  await world.send('POST', `${path}/${id}/unlink`, { owner: await personOf(world, id) });
  return (await world.send('POST', path, { ...(await tenantBody(world)), domain })).id;
};

const invited = async (world: World): Promise<string> => {
  const id = await existing(world);
  await world.send('POST', `${path}/${id}/invite`);
  return id;
};

const tenants: Rows = {
  'GET /api/integrations/msp/tenants': { given: active, answer: list(tenant) },
  'POST /api/integrations/msp/tenants': {
    request: { fields: tenantFields, samples: [sample(tenantBody)] },
    answer: tenant,
  },
  'PUT /api/integrations/msp/tenants/{id}': {
    at: one('id', async (world) => (await newTenant(world)).id),
    request: {
      fields: { name: R(text), groups: groupRoles },
      samples: [sample(async (world) => ({ name: 'Acme', groups: [{ id: await world.group(), role: 'owner' }] }))],
    },
    answer: tenant,
  },
  'POST /api/integrations/msp/tenants/{id}/unlink': {
    at: one('id', async (world) => (await active(world)).id),
    request: {
      fields: { owner: R(text) },
      samples: [sample(async (world, { id = '' }) => ({ owner: await personOf(world, id) }))],
    },
    answer: 'no body',
  },
  'POST /api/integrations/msp/tenants/{id}/dns': {
    at: one('id', async (world) => (await proved(world)).id),
    answer: 'no body',
  },
  'POST /api/integrations/msp/tenants/{id}/subscription': {
    at: one('id', async (world) => (await active(world)).id),
    request: { fields: { priceID: R(text) }, samples: [sample(() => ({ priceID: 'price_team_monthly' }))] },
    answer: 'no body',
  },
  'POST /api/integrations/msp/tenants/{id}/invite': { at: one('id', existing), answer: tenant },
  'PUT /api/integrations/msp/tenants/{id}/invite': {
    at: one('id', invited),
    as: (world, { id = '' }: PathParameters) => machineOwner(world, id),
    request: {
      fields: { value: R(text) },
      samples: [sample(() => ({ value: 'decline' })), sample(() => ({ value: 'accept' }))],
    },
    answer: 'no body',
  },
};

const integration = answer({
  id: integer,
  account_id: text,
  last_synced_at: mayBeAbsent(timestamp, 'ruling 50: not before anything is synced'),
  created_by: text,
  created_at: timestamp,
  updated_at: timestamp,
  groups: list(fullGroup),
  last_synced_interval: integer,
  enabled: boolean,
});

const groups = R(list(text));
const interval = R(integer);
const enabled = O(boolean);
const unset = 'ruling 3: absent objects are omitted; what is left out of the attributes does not count';

const attributesA = {
  active_threats: integer,
  encrypted_applications: boolean,
  firewall_enabled: boolean,
  infected: boolean,
  is_active: boolean,
  is_up_to_date: boolean,
  network_status: text,
  operational_state: text,
};

const attributesC = {
  disk_encryption_enabled: boolean,
  failing_policies_count_max: integer,
  vulnerable_software_count_max: integer,
  status_online: boolean,
  required_policies: list(integer),
};

const optionalOf = (shapes: typeof attributesA | typeof attributesC) =>
  R(fields(Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, O(shape)]))));

const shownOf = (shapes: typeof attributesA | typeof attributesC) =>
  answer(Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, mayBeAbsent(shape, unset)])));

interface Vendor {
  readonly fields: Members;
  readonly body: Readonly<Record<string, string | number | boolean | object>>;
  readonly adds: ReturnType<typeof answer>;
}

const vendors: Readonly<Record<string, Vendor>> = {
  'vendor-a': {
    fields: {
      ...{ api_token: R(text), api_url: R(text), groups, last_synced_interval: interval, enabled },
      match_attributes: optionalOf(attributesA),
    },
    body: {
      ...{ api_token: 'token-a', api_url: 'https://a.example.com', last_synced_interval: 24, enabled: true },
      match_attributes: {
        ...{ active_threats: 2, encrypted_applications: true, firewall_enabled: true, infected: false },
        ...{ is_active: true, is_up_to_date: true, network_status: 'connected', operational_state: 'na' },
      },
    },
    adds: answer({ api_url: text, match_attributes: shownOf(attributesA) }),
  },
  'vendor-b': {
    fields: {
      ...{ client_id: R(text), tenant_id: R(text), secret: R(text), groups, last_synced_interval: interval, enabled },
    },
    body: { client_id: 'client', tenant_id: 'tenant', secret: 'secret-b', last_synced_interval: 48, enabled: true },
    adds: answer({ client_id: text, tenant_id: text }),
  },
  'vendor-c': {
    fields: {
      ...{ api_url: R(text), api_token: R(text), groups, last_synced_interval: interval, enabled },
      match_attributes: optionalOf(attributesC),
    },
    body: {
      ...{ api_token: 'token-c', api_url: 'https://c.example.com', last_synced_interval: 24, enabled: false },
      match_attributes: {
        ...{ disk_encryption_enabled: true, failing_policies_count_max: 1, vulnerable_software_count_max: 3 },
        ...{ status_online: true, required_policies: [2, 11] },
      },
    },
    adds: answer({ api_url: text, match_attributes: shownOf(attributesC) }),
  },
  'vendor-d': {
    fields: {
      ...{ client_id: R(text), secret: R(text), cloud_id: R(text), groups, zta_score_threshold: R(integer), enabled },
    },
    body: { client_id: 'client-d', secret: 'secret-d', cloud_id: 'eu-1', zta_score_threshold: 70, enabled: true },
    adds: answer({ cloud_id: text, zta_score_threshold: integer }),
  },
};

function rowsOf([name, vendor]: readonly [string, Vendor]): readonly (readonly [string, Row])[] {
  const at = `/api/integrations/edr/${name}`;
  const body = async (world: World) => ({ ...vendor.body, groups: [await world.group()] }) as object as never;
  const clear = (world: World) => world.api.call('DELETE', at);
  const ready = async (world: World) => {
    await clear(world);
    await world.send('POST', at, await body(world));
  };
  const shown = both(integration, vendor.adds);
  const request = { fields: vendor.fields, samples: [sample(body)] };
  return [
    [`POST ${at}`, { before: clear, request, answer: shown }],
    [`GET ${at}`, { before: ready, answer: shown }],
    [`PUT ${at}`, { before: ready, request, answer: shown }],
    [`DELETE ${at}`, { before: ready, answer: 'empty object' }],
  ];
}

const edr: Rows = Object.fromEntries(Object.entries(vendors).flatMap(rowsOf));

/** Operations on tenants and on EDR integrations. */
export const tenantsAndEdr: Rows = { ...tenants, ...edr };
