import type { ValueUse } from './value-policy.ts';

/** What a sealed text is for. Each purpose has keys of its own. */
export type SealPurpose =
  | 'object'
  | 'plan'
  | 'outputs'
  | 'answer'
  | 'second-factor'
  | 'provider-key'
  | 'provider-record'
  | 'session'
  | 'challenge'
  | 'probe';

/** Where a sealed text belongs: it opens nowhere else. */
export interface SealPlace {
  readonly purpose: SealPurpose;
  /** Names the place, the widest part first, such as account, object and field. */
  readonly path: readonly string[];
}

/** The places of sealed texts outside of objects. */
export const sealPlaces = {
  plan: (account: string, plan: string): SealPlace => ({ purpose: 'plan', path: [account, plan] }),
  outputs: (account: string, plan: string): SealPlace => ({ purpose: 'outputs', path: [account, plan] }),
  /** By the key of the request. */
  answer: (account: string, key: string): SealPlace => ({ purpose: 'answer', path: [account, key] }),
  secondFactor: (account: string, email: string): SealPlace => ({ purpose: 'second-factor', path: [account, email] }),
  providerKey: (id: string): SealPlace => ({ purpose: 'provider-key', path: [id] }),
  /** By the hash of its id. */
  providerRecord: (model: string, hash: string): SealPlace => ({ purpose: 'provider-record', path: [model, hash] }),
} as const;

/**
 * How texts are sealed. `unbound`: as earlier releases do, so that their servers can open it; any place opens it. `bound`: to
 * their place, and nothing else is opened. `binding`: to their place, while what is unbound is still opened.
 */
export type SealForm = 'unbound' | 'binding' | 'bound';

/** Seals texts that must not be readable in the store, and opens them again. */
export interface Vault {
  /** The id of the key that seals. */
  readonly keyId: string;
  /** The form in which texts are sealed unless somebody says another one. */
  readonly form: SealForm;
  /** Takes on the form that the installation has come to; forms only ever move on. */
  advance(form: SealForm): void;
  /** The sealed form. Equal texts sealed under one key for one place are equal, so that nothing differs without a reason. */
  seal(text: string, place: SealPlace, form?: SealForm): string;
  /** The text of a sealed form, under whichever known key. Throws when the key is not known or the place another one. */
  open(sealed: string, place: SealPlace): string;
  /** The text of the unbound form, also when it is refused otherwise: for what is sealed anew, and comes from where nobody else writes. */
  openUnbound(sealed: string): string;
  /** Whether a sealed text is in this form and under the key that seals. */
  isCurrent(sealed: string, form: SealForm): boolean;
  /** Equal for secrets that say the same, whatever their places and keys. Nobody without a key can try out what they say. */
  fingerprint(sealed: string, place: SealPlace): string;
  /** Equal for equal requests, on servers of the previous release too; it says as little about them. */
  requestFingerprint(text: string): string;
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
  /** Signs what goes by mail to an address and nowhere else. */
  readonly mailSigner: Signer;
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

/** The beginning of every sealed text: `sealed:<key id>:<base64>`, and `sealed:2:<key id>:<base64>` of one that is bound to its place. */
export const sealedPrefix = 'sealed:';

/** The beginning of a text that is bound to its place. */
export const boundPrefix = `${sealedPrefix}2:`;

/** Whether what stands in the place of a secret is sealed. Of any other text it says nothing: people may write what they like. */
export function isSealed(text: unknown): text is string {
  return typeof text === 'string' && text.startsWith(sealedPrefix);
}

/** What stands for a secret wherever plans, history and logs would show it. */
export const hiddenSecret = '(secret)';

/** What answers show of a masked secret. */
export const mask = '****';

function noKey(): never {
  throw new Error('there is no key to open secrets with');
}

const noSigner: Signer = { keyId: 'none', sign: () => '', isGenuine: () => undefined };

/** Means for plans in which no secrets occur: the offline check, and tests of everything else. */
export const bareMeans: Means = {
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
