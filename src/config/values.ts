import type { Setting } from '../config.ts';
import type { ValueGrant } from '../model/schema/value-policy.ts';
import { parseGrants, parseSwitch } from './parse.ts';

/** Settings about the use of secret values in documents: the server's own values, and literal secrets. */
export interface ValuesConfig {
  readonly shareValues: boolean;
  readonly valueGrants: readonly ValueGrant[];
  readonly literalSecrets: boolean;
}

/** Declarations of the settings about values. */
export const valueSettings: { readonly [K in keyof ValuesConfig]: Setting<ValuesConfig[K]> } = {
  shareValues: {
    variable: 'HEDDLE_SHARE_VALUES',
    placeholder: 'true|false',
    doc: "Whether documents pushed to the operator's account may also use secrets from the server's own variables and files (default false).",
    default: false,
    parse: ([text = '']) => parseSwitch(text),
  },
  valueGrants: {
    variable: 'HEDDLE_VALUE_GRANTS',
    placeholder: 'LIST',
    doc: 'Values of the server that sources of other accounts, and namespaces of clusters, may use, a list of ACCOUNT/SOURCE=env:NAME and =file:NAME, and =file:NAME@HOST for credentials (default none).',
    multiple: 'commas',
    default: [],
    parse: parseGrants,
  },
  literalSecrets: {
    variable: 'HEDDLE_ALLOW_LITERAL_SECRETS',
    placeholder: 'true|false',
    doc: 'Whether documents may contain secrets in plain text (default false).',
    default: false,
    parse: ([text = '']) => parseSwitch(text),
  },
};
