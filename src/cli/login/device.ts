import { setTimeout as wait } from 'node:timers/promises';
import { Unauthenticated } from '../../model/errors.ts';
import { beginDevice, type DeviceCode, getTokens, type Places } from './oauth.ts';
import type { Login } from './store.ts';

const soon = 1;

/**
 * Signs a person in by a code that they enter in a browser anywhere. `show` is called with the code and where it is
 * entered.
 */
export async function signInByCode(places: Places, show: (code: DeviceCode) => void): Promise<Login> {
  const device = await beginDevice(places);
  show(device);
  const until = Date.now() + device.lastsSeconds * 1000;
  let pause = soon;
  let every = device.everySeconds;
  while (Date.now() < until) {
    await wait(pause * 1000);
    const grant = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: device.code };
    const tokens = await getTokens(places, grant);
    if (tokens.ok) return tokens.login;
    if (tokens.error === 'access_denied') throw new Unauthenticated('It was not allowed, so you are not signed in.');
    if (!['authorization_pending', 'slow_down'].includes(tokens.error)) break;
    if (tokens.error === 'slow_down') every += 5;
    pause = every;
  }
  throw new Unauthenticated(`Nobody entered the code ${device.userCode} in time; run \`heddle login --device\` again.`);
}
