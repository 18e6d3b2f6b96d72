import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/lib/json.ts';
import { documentKinds } from '../model/product.ts';
import { sharedApi, testApi } from './setup.ts';
import { variantsOf } from './wrong-values.ts';

it('a web address that `URL.canParse` accepts and the parser refuses is refused with 422', async () => {
  await using api = await testApi();
  const target = { url: `https://${'{{.ID}}'.repeat(128_571)}` };
  const channel = { type: 'webhook', target, event_types: ['user.join'], enabled: true };
  const { status, body } = await api.call('POST', '/api/integrations/notifications/channels', channel);
  expect([status, body.problems]).toMatchObject([422, [{ code: 'value_too_long', path: '/target/url' }]]);
  expect(body.problems).toHaveLength(1);
});

describe('a document', () => {
  const api = sharedApi();

  it.each(documentKinds.map((kind) => [kind.name, kind] as const))(
    'of the kind %s does not answer a value of a wrong type with 500',
    async (_, kind) => {
      const document = {
        apiVersion: 'heddle.dev/v1',
        kind: kind.name,
        metadata: { name: 'tried' },
        spec: kind.example,
      };
      const files = variantsOf(document as Json).map((variant, at) => ({
        path: `${at}.yaml`,
        text: JSON.stringify(variant),
      }));
      const { status } = await api().call('POST', '/api/config/validate', { source: 'team', files });
      expect(status).toBe(422);
    },
  );
});
