import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../../src/lib/json.ts';
import { type TestApi, type TestApiOptions, testApi } from '../../api/setup.ts';
import { patch, person, type ScimClient, scimClient, team } from './client.ts';

/** Starts a server with a SCIM integration, and returns an identity provider that has its token. */
export async function openScim(settings: JsonObject = {}, options: TestApiOptions = {}) {
  const api = await testApi('postgres', options);
  onTestFinished(() => api[Symbol.asyncDispose]());
  return { api, ...(await integrate(api, settings)) };
}

/** Adds a SCIM integration to an account, and returns a provider that has its token. */
export async function integrate(api: TestApi, settings: JsonObject = {}) {
  const made = await api.call('POST', '/api/integrations/scim-idp', {
    ...{ prefix: 'staff', provider: 'generic' },
    ...settings,
  });
  const { id, auth_token: token } = made.body;
  return { integration: String(id), token: String(token), ...providerOf(scimClient(api.app, String(token))) };
}

/** Returns actions of a provider that many tests need. */
export function providerOf(scim: ScimClient) {
  const addUser = async (name: string, more: JsonObject = {}): Promise<string> => {
    const made = await scim('POST', '/Users', person(name, more));
    if (made.status !== 201) throw new Error(`${name}: ${JSON.stringify(made.body)}`);
    return made.body.id;
  };
  const addGroup = async (name: string, members: readonly string[] = [], more: JsonObject = {}): Promise<string> => {
    const made = await scim('POST', '/Groups', team(name, members, more));
    if (made.status !== 201) throw new Error(`${name}: ${JSON.stringify(made.body)}`);
    return made.body.id;
  };
  return {
    scim,
    addUser,
    addGroup,
    change: (path: string, ...operations: readonly JsonObject[]) => scim('PATCH', path, patch(...operations)),
    async addUsers(count: number): Promise<readonly string[]> {
      const ids: string[] = [];
      for (let at = 0; at < count; at++) ids.push(await addUser(`user-${String(at).padStart(3, '0')}@example.com`));
      return ids;
    },
    /** Returns the user names that match a filter, sorted. */
    async find(filter: string, more = ''): Promise<readonly string[]> {
      const { status, body } = await scim('GET', `/Users?filter=${encodeURIComponent(filter)}&sortBy=userName${more}`);
      if (status !== 200) throw new Error(`${filter}: ${JSON.stringify(body)}`);
      return (body.Resources ?? []).map(({ userName }: { userName: string }) => userName);
    },
    /** Returns the ids of the members of a group. */
    async members(id: string): Promise<readonly string[]> {
      const { body } = await scim('GET', `/Groups/${id}`);
      return (body.members ?? []).map(({ value }: { value: string }) => value);
    },
  };
}
