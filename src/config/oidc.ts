import type { Setting } from '../config.ts';
import { type Parsed, parseSwitch } from './parse.ts';

/** Settings for users who sign in at an external identity provider. */
export interface OidcConfig {
  readonly oidcIssuer: string | undefined;
  readonly oidcAudience: readonly string[];
  /** Claims that contain `user`, `email`, `name` and `domain`, where the provider does not use the standard names. */
  readonly oidcClaims: Readonly<Record<string, string>>;
  readonly oidcTrustEmail: boolean;
  /** Absent: the default of the edition. */
  readonly singleAccount: boolean | undefined;
}

/** Declarations of the OIDC settings. */
export const oidcSettings: { readonly [K in keyof OidcConfig]: Setting<OidcConfig[K]> } = {
  oidcIssuer: {
    variable: 'HEDDLE_OIDC_ISSUER',
    placeholder: 'URL',
    doc: 'Issuer (`iss`) of an identity provider (OpenID Connect); people may authenticate with the tokens that it signs.',
    default: undefined,
    parse: ([text = '']) => parseIssuer(text),
  },
  oidcAudience: {
    variable: 'HEDDLE_OIDC_AUDIENCE',
    placeholder: 'NAMES',
    doc: 'Accepted audiences (`aud`) of its tokens, a list; each token must name one of them.',
    multiple: 'commas',
    default: [],
    parse: (texts) => ({ value: [...new Set(texts)] }),
  },
  oidcClaims: {
    variable: 'HEDDLE_OIDC_CLAIMS',
    placeholder: 'LIST',
    doc: 'Claims that have other names in its tokens, a list such as `email=mail` (default user=sub,email=email,name=name,domain=hd).',
    multiple: 'commas',
    default: {},
    parse: parseClaims,
  },
  oidcTrustEmail: {
    variable: 'HEDDLE_OIDC_TRUST_EMAIL',
    placeholder: 'true|false',
    doc: 'Whether its e-mail addresses are treated as verified even without the claim `email_verified` (default false).',
    default: false,
    parse: ([text = '']) => parseSwitch(text),
  },
  singleAccount: {
    variable: 'HEDDLE_SINGLE_ACCOUNT',
    placeholder: 'true|false',
    doc: 'Whether everybody who signs in joins the one account of the server (default false in the hosted edition, else true).',
    default: undefined,
    parse: ([text = '']) => parseSwitch(text),
  },
};

/** Returns the text unchanged, because tokens repeat the issuer character by character. */
function parseIssuer(text: string): Parsed<string> {
  const url = URL.parse(text);
  const usable = url !== null && ['http:', 'https:'].includes(url.protocol);
  if (usable && url.username === '' && url.search === '' && url.hash === '') return { value: text };
  return {
    fault: `is \`${text}\`, which is not an address of an identity provider; write one such as https://id.example.com`,
  };
}

const mappableFacts = ['user', 'email', 'name', 'domain'];

function parseClaims(texts: readonly string[]): Parsed<Readonly<Record<string, string>>> {
  const pairs = texts.map((text) => text.split('=').map((part) => part.trim()));
  const wrong = pairs.findIndex(
    ([fact = '', claim = '', more]) => !mappableFacts.includes(fact) || claim === '' || more !== undefined,
  );
  if (wrong >= 0)
    return {
      fault: `has \`${texts[wrong]}\`; write pairs such as email=mail, with one of ${mappableFacts.join(', ')} before the equals sign`,
    };
  return { value: Object.fromEntries(pairs.map(([fact = '', claim = '']) => [fact, claim])) };
}
