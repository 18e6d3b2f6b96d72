import type { Setting } from '../config.ts';
import type { ValueGrant } from '../model/schema/value-policy.ts';
import { parseGrants, parseSwitch } from './parse.ts';

/** Which accounts and sources may use the server's own values. */
export interface ValuesConfig {
  readonly shareValues: boolean;
  readonly valueGrants: readonly ValueGrant[];
  readonly literalSecrets: boolean;
}

/** These settings. */
export const valueSettings: { readonly [K in keyof ValuesConfig]: Setting<ValuesConfig[K]> } = {
  shareValues: {
    variable: 'HEDDLE_SHARE_VALUES',
    placeholder: 'true|false',
    doc: "Whether documents pushed to the operator's account may also take secrets from the server's own variables and files (default false).",
    default: false,
    parse: ([text = '']) => parseSwitch(text),
  },
  valueGrants: {
    variable: 'HEDDLE_VALUE_GRANTS',
    placeholder: 'LIST',
    doc: "What sources of other accounts, and namespaces of clusters, may use of the server's values, a list of ACCOUNT/SOURCE=env:NAME and =file:NAME, and =file:NAME@HOST for credentials (default none).",
    multiple: 'commas',
    default: [],
    parse: parseGrants,
  },
  literalSecrets: {
    variable: 'HEDDLE_ALLOW_LITERAL_SECRETS',
    placeholder: 'true|false',
    doc: 'Whether documents may hold secrets as they are (default false).',
    default: false,
    parse: ([text = '']) => parseSwitch(text),
  },
};
