import type { Edition } from '../edition.ts';
import type { ProblemCode } from '../problem-codes.ts';
import { sealedPrefix, type Vault } from '../schema/sealing.ts';
import type { ValueUse } from '../schema/value-policy.ts';
import type { Signer } from './signing.ts';

/** External inputs of plans and of the server, except time and ids: keys, random bytes, values and limits. */
export interface PlanEnvironment {
  readonly vault: Vault;
  /** Signs archives. */
  readonly archiveSigner: Signer;
  /** Signs links that are sent by mail, to prove that the recipient received the mail. */
  readonly mailSigner: Signer;
  readonly edition: Edition;
  /** Returns random bytes for values that the server generates. */
  random(bytes: number): Uint8Array;
  /** Returns the value that a document's `valueFrom` names. Returns `undefined` when it is not set or not allowed. */
  valueFrom(origin: string, name: string): string | undefined;
  /**
   * Value that stands for values that are not set here, and for stored secrets, when documents are only checked. Its
   * format is not checked.
   */
  readonly placeholderValue?: string;
  /** Codes of rules that are not checked, because they need objects which only a server has. Absent: none. */
  readonly uncheckedRules?: ReadonlySet<ProblemCode>;
  /** Explains how to set a value that is missing. Absent: the hint for sources that the server reads. */
  unsetHint?(origin: string, name: string): string;
  /** Why generated values of a document's object cannot be written to a Secret. Absent: they can. */
  readonly outputSecretFault?: string | undefined;
  /** Checks whether documents may use one of the server's own values. */
  mayUse(use: ValueUse): boolean;
  /** Whether documents may contain secrets in plain text. */
  readonly literalSecrets: boolean;
  /** Whether deleting a user also deletes the person and their password from the identity provider of this server. */
  readonly deletesIdpUsers: boolean;
  /** Host name or address of the server's public URL. Absent when the operator set none. */
  readonly host?: string;
  /** Port of the server's public URL. */
  readonly port?: number;
}

function noKey(): never {
  throw new Error('there is no key to open secrets with');
}

const noSigner: Signer = { keyId: 'none', keyIds: [], sign: () => '', verify: () => undefined };

/** Environment for plans without secrets: the offline check, and tests of other features. */
export const emptyEnvironment: PlanEnvironment = {
  vault: {
    keyId: 'none',
    form: 'bound',
    advance: () => {},
    seal: () => `${sealedPrefix}none:`,
    *sealInSteps() {
      yield undefined;
      return `${sealedPrefix}none:`;
    },
    open: noKey,
    openUnbound: noKey,
    isCurrent: () => true,
    fingerprint: (sealed) => sealed,
    requestFingerprint: (text) => text,
  },
  archiveSigner: noSigner,
  mailSigner: noSigner,
  edition: 'self-hosted',
  random: () => {
    throw new Error('there is no source of randomness');
  },
  valueFrom: () => undefined,
  mayUse: () => true,
  literalSecrets: false,
  deletesIdpUsers: false,
};
