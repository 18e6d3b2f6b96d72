import { asObjectOrEmpty, type JsonObject } from '../../../lib/json.ts';
import { providedIndex, providedValue } from '../../../model/declare/provided.ts';
import type { Stored } from '../../../model/state/stored.ts';
import { noChange, type ProvidedUser } from '../provisioning/change.ts';
import { requiredValueOf, valuesIn } from './match.ts';
import { applySteps } from './patch.ts';
import { readResource } from './read-resource.ts';
import { badRequest } from './refusal.ts';
import { userType } from './schema.ts';
import type { Needs, ResourceMapping, View } from './view.ts';

/** Users as SCIM resources. */
export const users: ResourceMapping<Stored<'User'>> = {
  type: userType,
  isLarge: false,
  find(view, id) {
    const user = view.state.find('User', id);
    return user !== undefined && isPresent(view, user) ? user : undefined;
  },
  all: (view) => view.state.ofKind('User').filter((user) => isPresent(view, user)),
  candidates(view, filter) {
    const id = requiredValueOf(userType, filter, 'id');
    if (id !== undefined) return [this.find(view, id) ?? []].flat();
    const login = requiredValueOf(userType, filter, 'userName');
    const external = requiredValueOf(userType, filter, 'externalId');
    if (login !== undefined) return findByIdentifier(view, 'login', login);
    return external === undefined ? undefined : findByIdentifier(view, 'id', external);
  },
  render,
  create: (_, key, given) => ({ ...noChange, users: [userOf(key, readResource(userType, given))] }),
  replace(_, { id }, given) {
    const resource = readResource(userType, given);
    return { ...noChange, users: [{ ...userOf(id, resource), externalId: textIn(resource, 'externalId') ?? null }] };
  },
  patch(view, user, steps) {
    const before = render(view, user, (name) => name !== 'groups');
    const after = applySteps(before, steps);
    return { ...noChange, users: [{ ...userOf(user.id, after), externalId: textIn(after, 'externalId') ?? null }] };
  },
  remove: ({ id }) => ({ ...noChange, goneUsers: [id] }),
};

function findByIdentifier(view: View, what: 'id' | 'login', value: string): readonly Stored<'User'>[] {
  const found = view.state.lookUp('User', providedIndex, providedValue(view.integration, what, value));
  return found.filter((user) => isPresent(view, user));
}

/**
 * Returns whether the provider has a user or group: it was brought by this integration and has not been removed since.
 */
export function isPresent({ integration }: View, { derived: { provided } }: Stored<'User'> | Stored<'Group'>): boolean {
  return provided?.by === integration && provided.removed_since === undefined;
}

function render(view: View, user: Stored<'User'>, needs: Needs): JsonObject {
  const { provided } = user.derived;
  const { name, displayName, emails } = provided?.facts ?? {};
  const email = user.spec.email ?? '';
  const groups = needs('groups') ? groupsOf(view, user) : [];
  return {
    schemas: [userType.schema],
    id: user.id,
    ...(provided?.external_id === undefined ? {} : { externalId: provided.external_id }),
    userName: provided?.login ?? email,
    ...(name === undefined ? {} : { name }),
    displayName: displayName ?? user.name,
    ...(emails === undefined ? (email === '' ? {} : { emails: [{ value: email, primary: true }] }) : { emails }),
    active: provided?.inactive_since === undefined,
    ...(groups.length === 0 ? {} : { groups }),
  };
}

function groupsOf(view: View, { spec }: Stored<'User'>): readonly JsonObject[] {
  return (spec.auto_groups ?? []).flatMap((id) => {
    const group = view.state.find('Group', id);
    if (group === undefined || !isPresent(view, group)) return [];
    return [{ value: id, $ref: `${view.base}/Groups/${id}`, display: group.name, type: 'direct' }];
  });
}

/** Converts a resource to the data of a person. */
function userOf(key: string, resource: JsonObject): ProvidedUser {
  const login = textIn(resource, 'userName')?.trim() ?? '';
  if (login === '') throw badRequest('invalidValue', '`userName` is required');
  const { name, displayName, emails, active } = resource;
  const external = textIn(resource, 'externalId');
  const address = addressIn(resource, login);
  const facts = {
    ...(name === undefined ? {} : { name }),
    ...(displayName === undefined ? {} : { displayName }),
    ...(emails === undefined ? {} : { emails }),
  };
  return {
    ...{ key, login, name: nameIn(resource, login), facts },
    ...(address === undefined ? {} : { email: address }),
    ...(external === undefined ? {} : { externalId: external }),
    ...(typeof active === 'boolean' ? { active } : {}),
  };
}

/** Returns the name to show. Some providers send an empty display name. */
function nameIn(resource: JsonObject, login: string): string {
  const { formatted, givenName, familyName } = asObjectOrEmpty(resource['name']);
  const parts = [givenName, familyName].filter((part) => typeof part === 'string' && part.trim() !== '').join(' ');
  const names = [resource['displayName'], formatted, parts, login];
  return String(names.find((name) => typeof name === 'string' && name.trim() !== '') ?? login).trim();
}

/**
 * Returns the primary e-mail address, else the address for work, else the first one. Without any, returns the login if
 * it is an e-mail address.
 */
function addressIn(resource: JsonObject, login: string): string | undefined {
  const emails = valuesIn(resource['emails'])
    .map(asObjectOrEmpty)
    .filter(({ value }) => typeof value === 'string' && value !== '');
  const found =
    emails.find(({ primary }) => primary === true) ?? emails.find(({ type }) => type === 'work') ?? emails[0];
  if (found !== undefined) return String(found['value']);
  return /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(login) ? login : undefined;
}

function textIn(resource: JsonObject, name: string): string | undefined {
  const value = resource[name];
  return typeof value === 'string' ? value : undefined;
}
