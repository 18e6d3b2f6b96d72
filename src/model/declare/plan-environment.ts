import type { Edition } from '../edition.ts';
import { sealedPrefix, type Vault } from '../schema/sealing.ts';
import type { ValueUse } from '../schema/value-policy.ts';
import type { Signer } from './signing.ts';

/** What plans and the server take from outside besides time and ids: keys, random bytes, values and limits. */
export interface PlanEnvironment {
  readonly vault: Vault;
  /** Signs archives. */
  readonly archiveSigner: Signer;
  /** Signs what goes by mail to an address and nowhere else. */
  readonly mailSigner: Signer;
  readonly edition: Edition;
  /** Random bytes for values that the server makes up. */
  random(bytes: number): Uint8Array;
  /** The value that a document's `valueFrom` names; `undefined` when it is not there or not allowed. */
  valueFrom(origin: string, name: string): string | undefined;
  /** Where documents are only checked: what `valueFrom` returns for values that are not set there; no format is asked of it. */
  readonly standIn?: string;
  /** How a value that is not there comes to be there; where not given, as for sources that the server reads. */
  unsetHint?(origin: string, name: string): string;
  /** Why values that are made for objects of documents cannot go to Secrets; absent: they can. */
  readonly outputSecretFault?: string | undefined;
  /** Whether documents may name one of the server's own values. */
  mayUse(use: ValueUse): boolean;
  /** Documents may carry secrets as they are. */
  readonly literalSecrets: boolean;
  /** A user who is deleted is forgotten by the identity provider of this server too, with their password. */
  readonly forgetsPeople: boolean;
  /** The name or address by which people reach the service, when the operator said so. */
  readonly host?: string;
  /** The port at which it answers there. */
  readonly port?: number;
}

function noKey(): never {
  throw new Error('there is no key to open secrets with');
}

const noSigner: Signer = { keyId: 'none', sign: () => '', isGenuine: () => undefined };

/** The environment of plans in which no secrets occur: the offline check, and tests of everything else. */
export const emptyEnvironment: PlanEnvironment = {
  vault: {
    keyId: 'none',
    form: 'bound',
    advance: () => {},
    seal: () => `${sealedPrefix}none:`,
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
  forgetsPeople: false,
};
