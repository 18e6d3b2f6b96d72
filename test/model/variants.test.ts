import { describe, expect, test } from 'vitest';
import * as kinds from '../../src/kinds/index.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { createRegistry } from '../../src/model/declare/registry.ts';
import { lowerToOpenApi } from '../../src/model/lower/openapi/openapi.ts';

const registry = createRegistry(Object.values(kinds));
const document = lowerToOpenApi(registry, { version: '1', edition: 'hosted' }) as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Union & Alternative>> };
};
const { schemas } = document.components;

interface Union {
  readonly oneOf: readonly { readonly $ref: string }[];
  readonly discriminator: { readonly propertyName: string; readonly mapping: Readonly<Record<string, string>> };
}
interface Alternative {
  readonly required: readonly string[];
  readonly properties: Readonly<
    Record<string, Alternative & { readonly $ref: string; readonly enum: readonly string[] }>
  >;
}

function alternativesOf(name: string): readonly (readonly [string, Alternative])[] {
  const { oneOf, discriminator } = schemas[name] as Union;
  expect(Object.values(discriminator.mapping)).toEqual(oneOf.map(({ $ref }) => $ref));
  return Object.entries(discriminator.mapping).map(([word, pointer]) => [word, followed(pointer)]);
}

function followed(pointer: string): Alternative {
  return schemas[pointer.split('/').at(-1) ?? ''] as Alternative;
}

describe('kinds with a member that depends on another', () => {
  test.each(['NotificationChannel', 'NotificationChannelRequest', 'EventStreaming', 'EventStreamingRequest'])(
    'define %s as a union with a required discriminator',
    (name) => {
      const by = name.startsWith('Event') ? 'platform' : 'type';
      expect(schemas[name]?.discriminator.propertyName).toBe(by);
      for (const [word, alternative] of alternativesOf(name)) {
        expect(alternative.properties[by]?.enum).toEqual([word]);
        expect(alternative.required).toContain(by);
      }
    },
  );

  test.each([
    ['NotificationChannel', 'email', 'target', ['emails', 'headers'], []],
    ['NotificationChannelRequest', 'webhook', 'target', ['url', 'headers', 'emails'], []],
    ['EventStreaming', 'generic_http', 'config', ['url', 'headers', 'body_template', 'batch'], ['url']],
    [
      ...(['EventStreaming', 's3', 'config'] as const),
      ['access_key_id', 'secret_access_key', 'bucket_name', 'region', 'prefix', 'endpoint', 'access_key', 'secret_key'],
      ['bucket_name', 'region'],
    ],
    // Requests may send either spelling of a key, and responses show the spelling that was sent.
    [
      ...(['EventStreamingRequest', 'firehose', 'config'] as const),
      ['access_key_id', 'secret_access_key', 'stream_name', 'region', 'endpoint', 'access_key', 'secret_key'],
      ['stream_name', 'region'],
    ],
  ])(
    'define for %s of the type %s the member %s with exactly what it may contain',
    (name, word, member, names, required) => {
      const alternative = alternativesOf(name).find(([one]) => one === word)?.[1];
      const inner = followed(alternative?.properties[member]?.$ref ?? '');
      expect(Object.keys(inner.properties)).toEqual(names);
      expect(inner.required ?? []).toEqual(required);
    },
  );

  test('allow members of the other target type only when they are empty', () => {
    const { EmailNotificationChannelTarget: email, WebhookNotificationChannelTarget: webhook } = schemas;
    expect([email?.properties['headers'], webhook?.properties['emails']]).toMatchObject([
      { maxProperties: 0 },
      { maxItems: 0 },
    ]);
  });

  test('let a replace of an event stream state only some keys, and remove one with null', () => {
    const path = document.paths['/api/event-streaming/{id}'];
    expect(JSON.stringify(path?.['put']?.['requestBody'])).toContain('/EventStreamingReplacement"');
    const config = followed(schemas['EventStreamingReplacement']?.properties['config']?.$ref ?? '');
    expect(config).toMatchObject({ additionalProperties: { type: ['string', 'null'] } });
    expect(config.required).toBeUndefined();
  });
});
