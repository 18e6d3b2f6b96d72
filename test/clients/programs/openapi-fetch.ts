import createClient from 'openapi-fetch';
import type { paths } from './description.js';
import { type Account, found, one, sent, type Trips, trip } from './trip.js';

/** Placeholder for a secret, which no response contains. The server keeps the stored secret. */
const kept = '****';

/** Returns a read-modify-write of every collection with `openapi-typescript` and `openapi-fetch`. */
export function trips({ baseUrl, token, mark, group }: Account): Trips {
  const client = createClient<paths>({ baseUrl, headers: { authorization: `Token ${token}` } });
  return {
    '/api/accounts/{accountId}': (accountId: string) =>
      trip({
        read: () => one(sent(client.GET('/api/accounts')), accountId),
        change: (account) => ({
          ...account,
          settings: { ...account.settings, peer_login_expiration: account.settings.peer_login_expiration + 3600 },
        }),
        write: (body) => sent(client.PUT('/api/accounts/{accountId}', { params: { path: { accountId } }, body })),
      }),
    '/api/dns/nameservers/{nsgroupId}': (nsgroupId: string) =>
      trip({
        read: () => sent(client.GET('/api/dns/nameservers/{nsgroupId}', { params: { path: { nsgroupId } } })),
        change: (group) => ({ ...group, name: mark }),
        write: (body) =>
          sent(client.PUT('/api/dns/nameservers/{nsgroupId}', { params: { path: { nsgroupId } }, body })),
      }),
    '/api/dns/settings': () =>
      trip({
        read: () => sent(client.GET('/api/dns/settings')),
        change: (settings) => ({
          ...settings,
          disabled_management_groups: settings.disabled_management_groups.length === 0 ? [group] : [],
        }),
        write: (body) => sent(client.PUT('/api/dns/settings', { body })),
      }),
    '/api/dns/zones/{zoneId}': (zoneId: string) =>
      trip({
        read: () => sent(client.GET('/api/dns/zones/{zoneId}', { params: { path: { zoneId } } })),
        change: (zone) => ({ ...zone, name: mark }),
        write: (body) => sent(client.PUT('/api/dns/zones/{zoneId}', { params: { path: { zoneId } }, body })),
      }),
    '/api/dns/zones/{zoneId}/records/{recordId}': (zoneId: string, recordId: string) =>
      trip({
        read: () =>
          sent(client.GET('/api/dns/zones/{zoneId}/records/{recordId}', { params: { path: { zoneId, recordId } } })),
        change: (record) => ({ ...record, ttl: record.ttl + 60 }),
        write: (body) =>
          sent(
            client.PUT('/api/dns/zones/{zoneId}/records/{recordId}', { params: { path: { zoneId, recordId } }, body }),
          ),
      }),
    '/api/event-streaming/{id}': (id: string) =>
      trip({
        read: () => sent(client.GET('/api/event-streaming/{id}', { params: { path: { id: Number(id) } } })),
        change: (stream) => ({ ...stream, enabled: !stream.enabled }),
        write: (body) => sent(client.PUT('/api/event-streaming/{id}', { params: { path: { id: body.id } }, body })),
      }),
    '/api/groups/{groupId}': (groupId: string) =>
      trip({
        read: () => sent(client.GET('/api/groups/{groupId}', { params: { path: { groupId } } })),
        change: (group) => ({ ...group, name: mark }),
        write: (body) => sent(client.PUT('/api/groups/{groupId}', { params: { path: { groupId } }, body })),
      }),
    '/api/ingress/peers/{ingressPeerId}': (ingressPeerId: string) =>
      trip({
        read: () => sent(client.GET('/api/ingress/peers/{ingressPeerId}', { params: { path: { ingressPeerId } } })),
        change: (peer) => ({ ...peer, enabled: !peer.enabled }),
        write: (body) =>
          sent(client.PUT('/api/ingress/peers/{ingressPeerId}', { params: { path: { ingressPeerId } }, body })),
      }),
    '/api/integrations/directory-idp/{id}': (id: string) =>
      trip({
        read: () => sent(client.GET('/api/integrations/directory-idp/{id}', { params: { path: { id: Number(id) } } })),
        change: (directory) => ({ ...directory, group_prefixes: [mark] }),
        write: (body) =>
          sent(client.PUT('/api/integrations/directory-idp/{id}', { params: { path: { id: body.id } }, body })),
      }),
    '/api/integrations/edr/vendor-a': () =>
      trip({
        read: () => found(sent(client.GET('/api/integrations/edr/vendor-a'))),
        change: (vendor) => ({ ...vendor, enabled: !vendor.enabled }),
        write: (body) => sent(client.PUT('/api/integrations/edr/vendor-a', { body: { ...body, api_token: kept } })),
      }),
    '/api/integrations/edr/vendor-b': () =>
      trip({
        read: () => found(sent(client.GET('/api/integrations/edr/vendor-b'))),
        change: (vendor) => ({ ...vendor, enabled: !vendor.enabled }),
        write: (body) => sent(client.PUT('/api/integrations/edr/vendor-b', { body: { ...body, secret: kept } })),
      }),
    '/api/integrations/edr/vendor-c': () =>
      trip({
        read: () => found(sent(client.GET('/api/integrations/edr/vendor-c'))),
        change: (vendor) => ({ ...vendor, enabled: !vendor.enabled }),
        write: (body) => sent(client.PUT('/api/integrations/edr/vendor-c', { body: { ...body, api_token: kept } })),
      }),
    '/api/integrations/edr/vendor-d': () =>
      trip({
        read: () => found(sent(client.GET('/api/integrations/edr/vendor-d'))),
        change: (vendor) => ({ ...vendor, enabled: !vendor.enabled }),
        write: (body) =>
          sent(client.PUT('/api/integrations/edr/vendor-d', { body: { ...body, client_id: kept, secret: kept } })),
      }),
    '/api/integrations/event-streaming/{id}': (id: string) =>
      trip({
        read: () =>
          sent(client.GET('/api/integrations/event-streaming/{id}', { params: { path: { id: Number(id) } } })),
        change: (stream) => ({ ...stream, enabled: !stream.enabled }),
        write: (body) =>
          sent(client.PUT('/api/integrations/event-streaming/{id}', { params: { path: { id: body.id } }, body })),
      }),
    '/api/integrations/msp/tenants/{id}': (id: string) =>
      trip({
        read: () => one(sent(client.GET('/api/integrations/msp/tenants')), id),
        change: (tenant) => ({ ...tenant, name: mark }),
        write: (body) => sent(client.PUT('/api/integrations/msp/tenants/{id}', { params: { path: { id } }, body })),
      }),
    '/api/integrations/notifications/channels/{channelId}': (channelId: string) =>
      trip({
        read: () =>
          sent(client.GET('/api/integrations/notifications/channels/{channelId}', { params: { path: { channelId } } })),
        change: (channel) => ({ ...channel, enabled: !channel.enabled }),
        write: (body) =>
          sent(
            client.PUT('/api/integrations/notifications/channels/{channelId}', {
              params: { path: { channelId } },
              body,
            }),
          ),
      }),
    '/api/integrations/scim-idp/{id}': (id: string) =>
      trip({
        read: () => sent(client.GET('/api/integrations/scim-idp/{id}', { params: { path: { id: Number(id) } } })),
        change: (integration) => ({ ...integration, group_prefixes: [mark] }),
        write: (body) =>
          sent(client.PUT('/api/integrations/scim-idp/{id}', { params: { path: { id: body.id } }, body })),
      }),
    '/api/networks/{networkId}': (networkId: string) =>
      trip({
        read: () => sent(client.GET('/api/networks/{networkId}', { params: { path: { networkId } } })),
        change: (network) => ({ ...network, name: mark }),
        write: (body) => sent(client.PUT('/api/networks/{networkId}', { params: { path: { networkId } }, body })),
      }),
    '/api/networks/{networkId}/resources/{resourceId}': (networkId: string, resourceId: string) =>
      trip({
        read: () =>
          sent(
            client.GET('/api/networks/{networkId}/resources/{resourceId}', {
              params: { path: { networkId, resourceId } },
            }),
          ),
        change: (resource) => ({ ...resource, name: mark }),
        write: (body) =>
          sent(
            client.PUT('/api/networks/{networkId}/resources/{resourceId}', {
              params: { path: { networkId, resourceId } },
              body,
            }),
          ),
      }),
    '/api/networks/{networkId}/routers/{routerId}': (networkId: string, routerId: string) =>
      trip({
        read: () =>
          sent(
            client.GET('/api/networks/{networkId}/routers/{routerId}', { params: { path: { networkId, routerId } } }),
          ),
        change: (router) => ({ ...router, metric: router.metric + 1 }),
        write: (body) =>
          sent(
            client.PUT('/api/networks/{networkId}/routers/{routerId}', {
              params: { path: { networkId, routerId } },
              body,
            }),
          ),
      }),
    '/api/peers/{peerId}': (peerId: string) =>
      trip({
        read: () => sent(client.GET('/api/peers/{peerId}', { params: { path: { peerId } } })),
        change: (peer) => ({ ...peer, ssh_enabled: !peer.ssh_enabled }),
        write: (body) => sent(client.PUT('/api/peers/{peerId}', { params: { path: { peerId } }, body })),
      }),
    '/api/peers/{peerId}/ingress/ports/{allocationId}': (peerId: string, allocationId: string) =>
      trip({
        read: () =>
          sent(
            client.GET('/api/peers/{peerId}/ingress/ports/{allocationId}', {
              params: { path: { peerId, allocationId } },
            }),
          ),
        change: (port) => ({ ...port, name: mark }),
        write: (body) =>
          sent(
            client.PUT('/api/peers/{peerId}/ingress/ports/{allocationId}', {
              params: { path: { peerId, allocationId } },
              body,
            }),
          ),
      }),
    '/api/policies/{policyId}': (policyId: string) =>
      trip({
        read: () => sent(client.GET('/api/policies/{policyId}', { params: { path: { policyId } } })),
        change: (policy) => ({ ...policy, rules: policy.rules.map((rule) => ({ ...rule, enabled: !rule.enabled })) }),
        write: (body) => sent(client.PUT('/api/policies/{policyId}', { params: { path: { policyId } }, body })),
      }),
    '/api/posture-checks/{postureCheckId}': (postureCheckId: string) =>
      trip({
        read: () => sent(client.GET('/api/posture-checks/{postureCheckId}', { params: { path: { postureCheckId } } })),
        change: (check) => ({ ...check, description: mark }),
        write: (body) =>
          sent(client.PUT('/api/posture-checks/{postureCheckId}', { params: { path: { postureCheckId } }, body })),
      }),
    '/api/reverse-proxies/services/{serviceId}': (serviceId: string) =>
      trip({
        read: () => sent(client.GET('/api/reverse-proxies/services/{serviceId}', { params: { path: { serviceId } } })),
        change: (service) => ({ ...service, pass_host_header: !service.pass_host_header }),
        write: (body) =>
          sent(client.PUT('/api/reverse-proxies/services/{serviceId}', { params: { path: { serviceId } }, body })),
      }),
    '/api/routes/{routeId}': (routeId: string) =>
      trip({
        read: () => sent(client.GET('/api/routes/{routeId}', { params: { path: { routeId } } })),
        change: (route) => ({ ...route, metric: route.metric + 1 }),
        write: (body) => sent(client.PUT('/api/routes/{routeId}', { params: { path: { routeId } }, body })),
      }),
    '/api/setup-keys/{keyId}': (keyId: string) =>
      trip({
        read: () => one(sent(client.GET('/api/setup-keys')), keyId),
        change: (key) => ({ ...key, revoked: !key.revoked }),
        write: (body) => sent(client.PUT('/api/setup-keys/{keyId}', { params: { path: { keyId: body.id } }, body })),
      }),
    '/api/users/{userId}': (userId: string) =>
      trip({
        read: () => one(sent(client.GET('/api/users')), userId),
        change: (user) => ({ ...user, is_blocked: !user.is_blocked }),
        write: (body) => sent(client.PUT('/api/users/{userId}', { params: { path: { userId } }, body })),
      }),
  };
}
