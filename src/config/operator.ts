import type { Setting } from '../config.ts';

/** Settings about the operator: the tokens of the operator and of the machine owner, and the operator's account. */
export interface OperatorConfig {
  readonly bootstrapToken: string | undefined;
  readonly bootstrapTokenFile: string | undefined;
  readonly operatorToken: string | undefined;
  readonly operatorTokenFile: string | undefined;
  readonly operatorAccount: string | undefined;
}

/** Declarations of the operator settings. */
export const operatorSettings: { readonly [K in keyof OperatorConfig]: Setting<OperatorConfig[K]> } = {
  bootstrapToken: {
    variable: 'HEDDLE_BOOTSTRAP_TOKEN',
    placeholder: 'TOKEN',
    doc: 'Token for the machine owner that the first start creates; make one with `heddle token new`.',
    ...optionalText(),
  },
  bootstrapTokenFile: {
    variable: 'HEDDLE_BOOTSTRAP_TOKEN_FILE',
    placeholder: 'FILE',
    doc: 'File that holds this token.',
    ...optionalText(),
  },
  operatorToken: {
    variable: 'HEDDLE_OPERATOR_TOKEN',
    placeholder: 'TOKEN',
    doc: "Token of the server's operator, for metrics, rotation of keys and setup; make one with `heddle token new --operator`; without it the file `operator-token` in the data directory is used.",
    ...optionalText(),
  },
  operatorTokenFile: {
    variable: 'HEDDLE_OPERATOR_TOKEN_FILE',
    placeholder: 'FILE',
    doc: 'File that holds the token of the operator.',
    ...optionalText(),
  },
  operatorAccount: {
    variable: 'HEDDLE_OPERATOR_ACCOUNT',
    placeholder: 'ID',
    doc: "Id of the operator's account, needed when the server has several accounts and none is recorded as the operator's; it is then recorded.",
    ...optionalText(),
  },
};

/** Returns the default and the parser of an optional text setting. */
function optionalText(): Pick<Setting<string | undefined>, 'default' | 'parse'> {
  return { default: undefined, parse: ([given]) => ({ value: given?.trim() }) };
}
