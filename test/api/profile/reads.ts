import { expect } from 'vitest';
import type { ProfileScene, RowTests } from './scene.ts';

/** Returns the tests of rows about reads that only the compatible profile has. */
export const reads = (scene: ProfileScene): RowTests => {
  const { theirs } = scene;
  return {
    'the countries': () =>
      expectRead(scene, '/api/locations/countries', (body) => {
        expect(body).toHaveLength(250);
        expect(body).toContainEqual({ country_name: 'Portugal', country_code: 'PT' });
      }),

    async 'the cities of a country'() {
      const unknown = await theirs('GET', '/api/locations/countries/DE/cities');
      expect(unknown).toMatchObject({ status: 412, body: { message: expect.stringContaining('HEDDLE_GEO_DATABASE') } });
      expect((await theirs('GET', '/api/locations/countries/Germany/cities')).status).toBe(422);
    },

    'the identity providers': () => expectRead(scene, '/api/identity-providers', (body) => expect(body).toEqual([])),
    'directory sync with Google': () =>
      expectRead(scene, '/api/integrations/google-idp', (body) => expect(body).toEqual([])),
    'provisioning by Okta': () =>
      expectRead(scene, '/api/integrations/okta-scim-idp', (body) => expect(body).toEqual([])),
    'peers that endpoint security leaves alone': () =>
      expectRead(scene, '/api/peers/edr/bypassed', (body) => expect(body).toEqual([])),
    'the version of the server': () =>
      expectRead(scene, '/api/instance/version', (body) => {
        expect(body).toEqual({ management_current_version: '0.0.0-test', management_update_available: false });
      }),
  };
};

/** Checks a read that only the compatible profile has, and that requires credentials. */
async function expectRead({ api, ours, theirs }: ProfileScene, path: string, check: (body: unknown) => void) {
  const read = await theirs('GET', path);
  expect(read.status).toBe(200);
  check(read.body);
  expect((await ours('GET', path)).status).toBe(404);
  const headers = { 'heddle-profile': 'compatible' };
  expect((await api().app.inject({ url: path, headers })).statusCode).toBe(401);
}
