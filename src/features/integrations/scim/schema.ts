import type { JsonObject } from '../../../lib/json.ts';

/** One attribute of a schema, see RFC 7643, section 7. Absent members have the defaults of that section. */
export interface Attribute {
  readonly name: string;
  readonly type: 'string' | 'boolean' | 'complex' | 'reference' | 'dateTime';
  readonly description: string;
  readonly multiValued?: true;
  readonly required?: true;
  readonly caseExact?: true;
  readonly mutability?: 'readOnly' | 'readWrite' | 'immutable';
  readonly returned?: 'always' | 'default';
  readonly uniqueness?: 'server';
  readonly canonicalValues?: readonly string[];
  readonly referenceTypes?: readonly string[];
  readonly subAttributes?: readonly Attribute[];
}

/** A type of resources, with its endpoint and schema. */
export interface ResourceType {
  readonly name: 'User' | 'Group';
  readonly endpoint: '/Users' | '/Groups';
  readonly schema: string;
  readonly description: string;
  readonly attributes: readonly Attribute[];
  /** Attributes of the RFC that the server does not store. Providers may send them. */
  readonly ignored: readonly string[];
}

const core = 'urn:ietf:params:scim:schemas:core:2.0';

/** URNs of the SCIM messages. */
export const messageUrns = {
  list: 'urn:ietf:params:scim:api:messages:2.0:ListResponse',
  search: 'urn:ietf:params:scim:api:messages:2.0:SearchRequest',
  patch: 'urn:ietf:params:scim:api:messages:2.0:PatchOp',
  error: 'urn:ietf:params:scim:api:messages:2.0:Error',
} as const;

const text = (name: string, description: string): Attribute => ({ name, type: 'string', description });

/** Attributes that every resource has. They are part of no schema. */
const common: readonly Attribute[] = [
  {
    ...text('id', 'The id that the server assigned.'),
    ...{ caseExact: true, mutability: 'readOnly', returned: 'always', uniqueness: 'server' },
  },
  { ...text('externalId', 'The id that the identity provider assigned.'), caseExact: true },
  {
    ...{ name: 'schemas', type: 'reference', description: 'The schemas of the resource.' },
    ...{ multiValued: true, caseExact: true, mutability: 'readOnly', returned: 'always' },
  },
  {
    ...{ name: 'meta', type: 'complex', description: 'Metadata of the resource.', mutability: 'readOnly' },
    subAttributes: [
      { ...text('resourceType', 'The type of the resource.'), caseExact: true },
      { name: 'created', type: 'dateTime', description: 'Time of the creation.' },
      { name: 'lastModified', type: 'dateTime', description: 'Time of the last change.' },
      { ...text('location', 'The URL of the resource.'), caseExact: true },
      { ...text('version', 'Its ETag.'), caseExact: true },
    ],
  },
];

/** Resource type of users. */
export const userType: ResourceType = {
  name: 'User',
  endpoint: '/Users',
  schema: `${core}:User`,
  description: 'A person',
  attributes: [
    {
      ...text('userName', 'The name by which the identity provider identifies the person.'),
      required: true,
      uniqueness: 'server',
    },
    {
      ...{ name: 'name', type: 'complex', description: 'The parts of the name.' },
      subAttributes: [
        text('formatted', 'The whole name.'),
        text('familyName', 'The family name.'),
        text('givenName', 'The given name.'),
      ],
    },
    text('displayName', 'The name that people see.'),
    {
      ...{
        name: 'emails',
        type: 'complex',
        description: 'E-mail addresses; the primary one is kept.',
        multiValued: true,
      },
      subAttributes: [
        text('value', 'The address.'),
        text('display', 'The address in the form to show.'),
        { ...text('type', 'The use of the address.'), canonicalValues: ['work', 'home', 'other'] },
        { name: 'primary', type: 'boolean', description: 'Whether this is the primary address.' },
      ],
    },
    { name: 'active', type: 'boolean', description: 'Whether the person may sign in.' },
    {
      ...{ name: 'groups', type: 'complex', description: 'The groups of the person.', multiValued: true },
      mutability: 'readOnly',
      subAttributes: [
        { ...text('value', 'The id of the group.'), caseExact: true },
        { name: '$ref', type: 'reference', description: 'The URL of the group.', referenceTypes: ['Group'] },
        text('display', 'Its name.'),
        text('type', 'The type of the membership.'),
      ],
    },
  ],
  ignored: [
    ...['nickName', 'profileUrl', 'title', 'userType', 'preferredLanguage', 'locale', 'timezone', 'password'],
    ...['phoneNumbers', 'ims', 'photos', 'addresses', 'entitlements', 'roles', 'x509Certificates'],
  ],
};

/** Resource type of groups. */
export const groupType: ResourceType = {
  name: 'Group',
  endpoint: '/Groups',
  schema: `${core}:Group`,
  description: 'A group of persons',
  attributes: [
    { ...text('displayName', 'The name of the group.'), required: true },
    {
      ...{ name: 'members', type: 'complex', description: 'The users in the group.', multiValued: true },
      subAttributes: [
        { ...text('value', 'The id of the user.'), caseExact: true, mutability: 'immutable' },
        {
          name: '$ref',
          type: 'reference',
          description: 'The URL of the user.',
          referenceTypes: ['User'],
          mutability: 'immutable',
        },
        text('display', 'Their name.'),
        { ...text('type', 'The type of the member: a user.'), canonicalValues: ['User'], mutability: 'immutable' },
      ],
    },
  ],
  ignored: [],
};

/** All types of resources. */
export const resourceTypes: readonly ResourceType[] = [userType, groupType];

/** Finds an attribute by its name, ignoring case, among the attributes of a type and the common attributes. */
export function attributeOf(type: ResourceType, name: string): Attribute | undefined {
  return named([...type.attributes, ...common], name);
}

/** Finds a sub-attribute by its name, ignoring case. */
export function subAttributeOf(attribute: Attribute, name: string): Attribute | undefined {
  return named(attribute.subAttributes ?? [], name);
}

function named(attributes: readonly Attribute[], name: string): Attribute | undefined {
  const expected = name.toLowerCase();
  return attributes.find((attribute) => attribute.name.toLowerCase() === expected);
}

/** Returns whether the server accepts an attribute without storing it. */
export function isIgnored(type: ResourceType, name: string): boolean {
  return type.ignored.some((one) => one.toLowerCase() === name.toLowerCase());
}

/** Returns an attribute as `/Schemas` describes it. */
export function describeAttribute(attribute: Attribute): JsonObject {
  const { name, type, description, subAttributes, canonicalValues, referenceTypes } = attribute;
  return {
    ...{ name, type, description },
    multiValued: attribute.multiValued === true,
    required: attribute.required === true,
    ...(type === 'complex' ? {} : { caseExact: attribute.caseExact === true }),
    mutability: attribute.mutability ?? 'readWrite',
    returned: attribute.returned ?? 'default',
    uniqueness: attribute.uniqueness ?? 'none',
    ...(canonicalValues === undefined ? {} : { canonicalValues }),
    ...(referenceTypes === undefined ? {} : { referenceTypes }),
    ...(subAttributes === undefined ? {} : { subAttributes: subAttributes.map(describeAttribute) }),
  };
}
