import { setTimeout as wait } from 'node:timers/promises';
import { Unauthenticated } from '../../model/errors.ts';
import { defineCommand, type Invocation } from '../command.ts';
import { exit } from '../exit.ts';
import { openInBrowser, signInByBrowser } from './browser.ts';
import {
  type DeviceCode,
  discoverEndpoints,
  getTokens,
  type OAuthEndpoints,
  requestDeviceCode,
  revoke,
} from './oauth.ts';
import { type Login, openLogins } from './store.ts';

type Call = Invocation<'server' | 'token' | 'configDir'>;

export const login = defineCommand({
  name: 'login',
  summary: 'Sign in to a server, so that commands run as you.',
  details:
    'Opens a browser on this machine, or with --device shows a code to enter in a browser on any machine. The tokens that the server issues are kept in a file that only you may read, and are renewed automatically for up to 30 days. A token that is given with --token or HEDDLE_TOKEN takes precedence.',
  flags: {
    device: { doc: 'Show a code and an address instead of opening a browser; for machines without one.' },
    'no-browser': { doc: 'Only print the address to open in the browser.' },
  },
  settings: ['server', 'token', 'configDir'],
  examples: [
    ['heddle login --server https://heddle.example.com', 'Sign in with the browser of this machine'],
    ['heddle login --device', 'Sign in on a machine that you use over SSH'],
  ],
  async run({ flags, config, terminal }) {
    await requireStore(config);
    const endpoints = await discoverEndpoints(config.server);
    const note = terminal.note;
    const made =
      flags['device'] === true
        ? await signInByCode(endpoints, ({ userCode, address, completeAddress }) => {
            note(`Open ${address} in a browser and enter the code\n\n    ${userCode}\n\n`);
            note(`or open ${completeAddress}\nWaiting for you to sign in there …\n`);
          })
        : await signInByBrowser(endpoints, (url) => showAddress({ flags, terminal }, url));
    await storeLogin(config, made);
    terminal.out(`Signed in to ${config.server}${made.email === '' ? '' : ` as ${made.email}`}.\n`);
    if (config.token !== undefined)
      note('HEDDLE_TOKEN or --token is set and takes precedence; unset it to run commands as this person.\n');
    return exit.ok;
  },
});

function showAddress({ flags, terminal }: Pick<Call, 'flags' | 'terminal'>, url: string): void {
  const opens = flags['no-browser'] !== true;
  terminal.note(`${opens ? 'Your browser opens; if it does not, go to' : 'Open in a browser:'}\n\n    ${url}\n\n`);
  if (opens) openInBrowser(url);
}

/** Throws when sign-ins cannot be stored, before the user signs in for nothing. */
async function requireStore({ server, configDir }: Call['config']): Promise<void> {
  await openLogins(configDir).change(server, async (present) => present);
}

/** Stores a login instead of the previous one, and revokes the previous one. */
async function storeLogin({ server, configDir }: Call['config'], made: Login): Promise<void> {
  let before: Login | undefined;
  await openLogins(configDir).change(server, async (present) => {
    before = present;
    return made;
  });
  if (before !== undefined) await revoke(before);
}

export const logout = defineCommand({
  name: 'logout',
  summary: 'Sign out from a server.',
  details:
    'The server revokes the tokens of this sign-in, and this machine deletes them. Tokens that you made stay valid.',
  flags: {},
  settings: ['server', 'configDir'],
  examples: [['heddle logout --server https://heddle.example.com', 'Sign out']],
  async run({ config: { server, configDir }, terminal }) {
    let before: Login | undefined;
    await openLogins(configDir).change(server, async (present) => {
      before = present;
      return undefined;
    });
    if (before === undefined) {
      terminal.out(`You are not signed in to ${server}.\n`);
      return exit.ok;
    }
    const isRevoked = await revoke(before);
    terminal.out(`Signed out from ${server}.\n`);
    if (!isRevoked) terminal.note('The server did not answer; it ends the sign-in automatically within 14 days.\n');
    return exit.ok;
  },
});

const firstPauseSeconds = 1;

/**
 * Signs the user in with a code that they enter in a browser on any machine. Calls `show` with the code and the URL at
 * which to enter it.
 */
export async function signInByCode(endpoints: OAuthEndpoints, show: (code: DeviceCode) => void): Promise<Login> {
  const device = await requestDeviceCode(endpoints);
  show(device);
  const until = Date.now() + device.lifetimeSeconds * 1000;
  let pause = firstPauseSeconds;
  let every = device.pollIntervalSeconds;
  while (Date.now() < until) {
    await wait(pause * 1000);
    const grant = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: device.code };
    const tokens = await getTokens(endpoints, grant);
    if (tokens.ok) return tokens.login;
    if (tokens.error === 'access_denied')
      throw new Unauthenticated('The sign-in was denied, so you are not signed in.');
    if (!['authorization_pending', 'slow_down'].includes(tokens.error)) break;
    if (tokens.error === 'slow_down') every += 5;
    pause = every;
  }
  throw new Unauthenticated(
    `The code ${device.userCode} was not entered in time; run \`heddle login --device\` again.`,
  );
}
