import type { Setting } from '../config.ts';
import { type Parsed, parseCount, parseSwitch } from './parse.ts';

/** Settings of the server's own identity provider. */
export interface IdpConfig {
  readonly idp: 'embedded' | 'off';
  readonly localAuthDisabled: boolean;
  /** Absent: the address that the server listens on. */
  readonly publicUrl: string | undefined;
  readonly idpRedirectUris: readonly string[];
  /** Time between two rotations of the signing key, in days. */
  readonly idpKeyRotation: number;
  readonly configDir: string | undefined;
}

/** Declarations of the settings of the identity provider. */
export const idpSettings: { readonly [K in keyof IdpConfig]: Setting<IdpConfig[K]> } = {
  idp: {
    variable: 'HEDDLE_IDP',
    placeholder: 'embedded|off',
    doc: 'Whether the server signs people in itself, with passwords, or leaves it to other identity providers (default embedded).',
    default: 'embedded',
    parse: ([text = '']) =>
      text === 'embedded' || text === 'off' ? { value: text } : { fault: `is \`${text}\`; write embedded or off` },
  },
  localAuthDisabled: {
    variable: 'HEDDLE_LOCAL_AUTH_DISABLED',
    placeholder: 'true|false',
    doc: 'Whether passwords are refused, so that only other identity providers authenticate people (default false).',
    default: false,
    parse: ([text = '']) => parseSwitch(text),
  },
  publicUrl: {
    variable: 'HEDDLE_PUBLIC_URL',
    placeholder: 'URL',
    doc: 'Address at which people and programs reach the server, used in tokens and links (default http://127.0.0.1:PORT).',
    default: undefined,
    parse: ([text = '']) => parsePublicUrl(text),
  },
  idpRedirectUris: {
    variable: 'HEDDLE_IDP_REDIRECT_URIS',
    placeholder: 'URLS',
    doc: 'Redirect URIs of a dashboard, to which people return after they sign in, a list (default none).',
    multiple: 'commas',
    default: [],
    parse: parseRedirectUris,
  },
  idpKeyRotation: {
    variable: 'HEDDLE_IDP_KEY_ROTATION',
    placeholder: 'DAYS',
    doc: 'Number of days after which a new key for signing tokens replaces the current one, 1 to 365 (default 30).',
    default: 30,
    parse: ([text = '']) => parseCount(text, 1, 365),
  },
  configDir: {
    variable: 'HEDDLE_CONFIG_DIR',
    placeholder: 'DIR',
    doc: 'Directory in which `heddle login` stores your sign-ins (default heddle in your configuration directory, such as ~/.config).',
    default: undefined,
    parse: ([text = '']) => ({ value: text }),
  },
};

function parsePublicUrl(text: string): Parsed<string> {
  const url = URL.parse(text);
  if (url !== null && ['http:', 'https:'].includes(url.protocol) && url.href === `${url.origin}/`)
    return { value: url.origin };
  return { fault: `is \`${text}\`; write an address without a path such as https://heddle.example.com` };
}

function parseRedirectUris(texts: readonly string[]): Parsed<readonly string[]> {
  const wrong = texts.find((text) => {
    const url = URL.parse(text);
    return url === null || !['http:', 'https:'].includes(url.protocol) || url.hash !== '' || url.username !== '';
  });
  if (wrong === undefined) return { value: [...new Set(texts)] };
  return { fault: `has the invalid entry \`${wrong}\`; write addresses such as https://console.example.com/callback` };
}
