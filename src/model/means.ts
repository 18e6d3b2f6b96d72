import type { ValueUse } from './value-policy.ts';

/** Seals texts that must not be readable in the store, and opens them again. */
export interface Vault {
  /** The id of the key that seals. */
  readonly keyId: string;
  /** The sealed form. Equal texts sealed under one key are equal, so that nothing differs without a reason. */
  seal(text: string): string;
  /** The text of a sealed form, under whichever known key. Throws when the key is not known. */
  open(sealed: string): string;
}

/** A signature, and the id of the key that made it. */
export interface Signature {
  readonly key: string;
  readonly signature: string;
}

/** Signs texts, so that the server knows again what it wrote itself. */
export interface Signer {
  /** The id of the key that signs. */
  readonly keyId: string;
  sign(text: string): string;
  /** Whether the signature is of this text; `undefined` when its key is not known here. */
  isGenuine(text: string, signature: Signature): boolean | undefined;
}

/** The two ways in which the product is run. */
export type Edition = 'self-hosted' | 'hosted';

/** How many requests one caller may make: refilled evenly over the minute, up to `burst` at once. */
export interface RateLimit {
  readonly perMinute: number;
  readonly burst: number;
}

/** What plans take from outside besides time and ids. */
export interface Means {
  readonly vault: Vault;
  /** Signs archives. */
  readonly archiveSigner: Signer;
  readonly edition: Edition;
  /** Random bytes for values that the server makes up. */
  random(bytes: number): Uint8Array;
  /** The value that a document's `valueFrom` names; `undefined` when it is not there or not allowed. */
  valueFrom(origin: string, name: string): string | undefined;
  /** How a value that is not there comes to be there; where not given, as for sources that the server reads. */
  unsetHint?(origin: string, name: string): string;
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

/** The beginning of every sealed text: `sealed:<key id>:<base64>`. */
export const sealedPrefix = 'sealed:';

/** Whether a text is a sealed one. */
export function isSealed(text: unknown): text is string {
  return typeof text === 'string' && text.startsWith(sealedPrefix);
}

/** What stands for a secret wherever plans, history and logs would show it. */
export const hiddenSecret = '(secret)';

/** What answers show of a masked secret. */
export const mask = '****';

/** Means for plans in which no secrets occur: the offline check, and tests of everything else. */
export const bareMeans: Means = {
  vault: {
    keyId: 'none',
    seal: () => `${sealedPrefix}none:`,
    open: () => {
      throw new Error('there is no key to open secrets with');
    },
  },
  archiveSigner: { keyId: 'none', sign: () => '', isGenuine: () => undefined },
  edition: 'self-hosted',
  random: () => {
    throw new Error('there is no source of randomness');
  },
  valueFrom: () => undefined,
  mayUse: () => true,
  literalSecrets: false,
  forgetsPeople: false,
};
