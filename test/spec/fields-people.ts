import { machineOwner, newTenant } from './fields-tenants.ts';
import { one, type PathParameters, type Rows, sample } from './row.ts';
import {
  answer,
  boolean,
  fields,
  integer,
  list,
  type Members,
  map,
  mayBeAbsent,
  O,
  R,
  readOnly,
  text,
  timestamp,
} from './shape.ts';
import { makePending, type World } from './world.ts';

const person = (world: World) => ({
  name: 'Ana Lima',
  email: `${world.fresh('ana')}@example.com`,
  role: 'user',
  auto_groups: [],
  is_service_user: false,
});

const newPerson = async (world: World) => (await world.send('POST', '/api/users', person(world))).id;

const newPending = async (world: World) => {
  const id = await newPerson(world);
  await makePending(world, id);
  return id;
};

/** Creates a user who accepted an invite. Returns the id. */
const newMember = async (world: World) => {
  const { email, invite_token } = await newInvite(world);
  await world.send('POST', `/api/users/invites/${invite_token}/accept`, { password: 'correct horse' });
  const users = await world.send('GET', '/api/users');
  return users.find((one: { readonly email: string }) => one.email === email).id;
};

const newProgram = async (world: World) =>
  (
    await world.send('POST', '/api/users', {
      name: world.fresh('CI'),
      role: 'user',
      auto_groups: [],
      is_service_user: true,
    })
  ).id;

const token = answer({
  id: text,
  name: text,
  expiration_date: timestamp,
  created_by: text,
  created_at: timestamp,
  last_used: mayBeAbsent(timestamp, 'wire facts 3: not before it is used'),
});

const created = answer({ plain_token: text, personal_access_token: token });

const atToken = async (world: World): Promise<PathParameters> => {
  const userId = await newProgram(world);
  const made = await world.send('POST', `/api/users/${userId}/tokens`, { name: 'ci', expires_in: 30 });
  const tokenId = made.personal_access_token.id;
  await world.send('GET', '/api/groups', undefined, { authorization: `Token ${made.plain_token}` });
  // The time of the token's last use is written shortly after the request.
  const path = `/api/users/${userId}/tokens/${tokenId}`;
  while ((await world.send('GET', path)).last_used === undefined);
  return { userId, tokenId };
};

const tokens: Rows = {
  'GET /api/users/{userId}/tokens': { at: atToken, answer: list(token) },
  'POST /api/users/{userId}/tokens': {
    at: one('userId', newProgram),
    request: {
      fields: { name: R(text), expires_in: R(integer) },
      samples: [sample((world) => ({ name: world.fresh('token'), expires_in: 30 }))],
    },
    answer: created,
  },
  'GET /api/users/{userId}/tokens/{tokenId}': { at: atToken, answer: token },
  'DELETE /api/users/{userId}/tokens/{tokenId}': { at: atToken, answer: 'no body' },
};

const permissions = answer({
  is_restricted: boolean,
  modules: map(answer({ read: boolean, create: boolean, update: boolean, delete: boolean })),
});

const user = answer({
  id: text,
  email: text,
  password: mayBeAbsent(text, 'ruling 25: a one-time password, in the answer to a creation alone'),
  name: text,
  role: text,
  status: text,
  last_login: timestamp,
  auto_groups: list(text),
  is_current: boolean,
  is_service_user: boolean,
  is_blocked: boolean,
  pending_approval: boolean,
  issued: text,
  idp_id: mayBeAbsent(text, 'wire facts 2: not before an identity provider brings the user'),
  permissions: mayBeAbsent(permissions, 'wire facts 2: shown to the users themselves'),
});

const userFields: Members = {
  email: O(text),
  name: O(text),
  role: R(text),
  auto_groups: R(list(text)),
  is_service_user: R(boolean),
};

const who = 'specification: the e-mail address is whom the invitation goes to';

const users: Rows = {
  'GET /api/users': { given: newPerson, query: { service_user: 'false' }, answer: list(user) },
  'POST /api/users': {
    request: {
      fields: userFields,
      samples: [
        sample(async (world) => ({ ...person(world), auto_groups: [await world.group()] }), { '/email': who }),
        sample(async (world) => ({
          name: world.fresh('CI'),
          role: 'admin',
          auto_groups: [await world.group()],
          is_service_user: true,
        })),
      ],
    },
    answer: user,
  },
  'PUT /api/users/{userId}': {
    at: one('userId', newPerson),
    request: {
      fields: { role: R(text), auto_groups: R(list(text)), is_blocked: R(boolean) },
      samples: [true, false].map((is_blocked) =>
        sample(async (world) => ({ role: 'admin', auto_groups: [await world.group()], is_blocked })),
      ),
    },
    answer: user,
  },
  'DELETE /api/users/{userId}': { at: one('userId', newPerson), answer: 'no body' },
  'POST /api/users/{userId}/invite': { at: one('userId', newPerson), answer: 'no body' },
  'POST /api/users/{userId}/approve': { at: one('userId', newPending), answer: user },
  'DELETE /api/users/{userId}/reject': { at: one('userId', newPending), answer: 'no body' },
  'PUT /api/users/{userId}/password': {
    at: one('userId', newMember),
    as: (world, { userId = '' }) => world.headersOf(world.api.account, userId),
    request: {
      fields: { old_password: R(text), new_password: R(text) },
      samples: [sample(() => ({ old_password: 'correct horse', new_password: 'battery staple' }))],
    },
    answer: 'no body',
  },
  'GET /api/users/current': { answer: user },
};

const invite = answer({
  id: text,
  email: text,
  name: text,
  role: text,
  auto_groups: list(text),
  expires_at: timestamp,
  created_at: timestamp,
  expired: boolean,
  invite_token: mayBeAbsent(text, 'wire facts 4: shown when it is made'),
});

const inviteBody = async (world: World) => ({
  email: `${world.fresh('invitee')}@example.com`,
  name: 'Guest',
  role: 'user',
  auto_groups: [await world.group()],
  expires_in: 86400,
});

const newInvite = (world: World) => inviteBody(world).then((body) => world.send('POST', '/api/users/invites', body));
const inviteId = one('inviteId', async (world) => (await newInvite(world)).id);
const inviteToken = one('token', async (world) => (await newInvite(world)).invite_token);

const invites: Rows = {
  'GET /api/users/invites': { given: newInvite, answer: list(invite) },
  'POST /api/users/invites': {
    request: {
      fields: { email: R(text), name: R(text), role: R(text), auto_groups: R(list(text)), expires_in: O(integer) },
      samples: [sample(inviteBody)],
    },
    answer: invite,
  },
  'DELETE /api/users/invites/{inviteId}': { at: inviteId, answer: 'no body' },
  'POST /api/users/invites/{inviteId}/regenerate': {
    at: inviteId,
    request: { fields: { expires_in: O(integer) }, samples: [sample(() => ({ expires_in: 3600 }))] },
    answer: answer({ invite_token: text, invite_expires_at: timestamp }),
  },
  'GET /api/users/invites/{token}': {
    at: inviteToken,
    answer: answer({ email: text, name: text, expires_at: timestamp, valid: boolean, invited_by: text }),
  },
  'POST /api/users/invites/{token}/accept': {
    at: inviteToken,
    request: { fields: { password: R(text) }, samples: [sample(() => ({ password: 'long enough' }))] },
    // The specification truncates the answer; wire facts 4 has it.
    answer: answer({ success: boolean }),
  },
};

const extra = {
  peer_approval_enabled: boolean,
  user_approval_required: boolean,
  network_traffic_logs_enabled: boolean,
  network_traffic_logs_groups: list(text),
  network_traffic_packet_counter_enabled: boolean,
};

/**
 * The Account table, with `R` and `O` as in the specification. `extra` is optional, but each of its members is
 * required.
 */
const settingsFields: Members = {
  peer_login_expiration_enabled: R(boolean),
  peer_login_expiration: R(integer),
  peer_inactivity_expiration_enabled: R(boolean),
  peer_inactivity_expiration: R(integer),
  regular_users_view_blocked: R(boolean),
  groups_propagation_enabled: O(boolean),
  jwt_groups_enabled: O(boolean),
  jwt_groups_claim_name: O(text),
  jwt_allow_groups: O(list(text)),
  routing_peer_dns_resolution_enabled: O(boolean),
  dns_domain: O(text),
  network_range: O(text),
  peer_expose_enabled: R(boolean),
  peer_expose_groups: R(list(text)),
  extra: O(fields(Object.fromEntries(Object.entries(extra).map(([name, shape]) => [name, R(shape)])))),
  lazy_connection_enabled: O(boolean),
  auto_update_version: O(text),
  embedded_idp_enabled: readOnly(boolean),
  local_auth_disabled: readOnly(boolean),
};

const account = answer({
  id: text,
  domain: text,
  domain_category: text,
  created_at: timestamp,
  created_by: text,
  onboarding: answer({ signup_form_pending: boolean, onboarding_flow_pending: boolean }),
  settings: answer({
    ...Object.fromEntries(Object.entries(settingsFields).map(([name, { shape }]) => [name, shape])),
    extra: answer(extra),
  }),
});

const settings = async (world: World) => ({
  peer_login_expiration_enabled: true,
  peer_login_expiration: 43200,
  peer_inactivity_expiration_enabled: true,
  peer_inactivity_expiration: 3600,
  regular_users_view_blocked: false,
  groups_propagation_enabled: true,
  jwt_groups_enabled: true,
  jwt_groups_claim_name: 'groups',
  jwt_allow_groups: ['mesh'],
  routing_peer_dns_resolution_enabled: true,
  dns_domain: 'mesh.example.com',
  network_range: '100.99.0.0/16',
  peer_expose_enabled: true,
  peer_expose_groups: [await world.group()],
  extra: {
    // Cloud only: other editions accept only `false`.
    peer_approval_enabled: world.edition === 'hosted',
    user_approval_required: true,
    network_traffic_logs_enabled: true,
    network_traffic_logs_groups: [await world.group()],
    network_traffic_packet_counter_enabled: true,
  },
  lazy_connection_enabled: true,
  auto_update_version: '0.60.0',
  embedded_idp_enabled: true,
  local_auth_disabled: false,
});

const accountId = one('accountId', async (world) => world.api.account);

const accounts: Rows = {
  'GET /api/accounts': { answer: list(account) },
  'PUT /api/accounts/{accountId}': {
    at: accountId,
    request: {
      fields: {
        settings: R(fields(settingsFields)),
        onboarding: O(fields({ signup_form_pending: O(boolean), onboarding_flow_pending: O(boolean) })),
      },
      samples: [
        sample(async (world) => ({
          settings: await settings(world),
          onboarding: { signup_form_pending: false, onboarding_flow_pending: true },
        })),
      ],
    },
    answer: account,
  },
  'DELETE /api/accounts/{accountId}': {
    at: one('accountId', async (world) => (await newTenant(world)).id),
    as: async (world, { accountId: account = '' }) =>
      world.api.engine.snapshots.fresh(account).then(
        () => machineOwner(world, account),
        () => ({}),
      ),
    answer: 'no body',
  },
};

/** Operations on tokens, users, invites and the account. */
export const people: Rows = { ...tokens, ...users, ...invites, ...accounts };
