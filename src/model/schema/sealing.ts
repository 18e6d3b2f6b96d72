/** What a sealed text is for. Each purpose has keys of its own. */
export type SealPurpose =
  | 'object'
  | 'plan'
  | 'outputs'
  | 'answer'
  | 'second-factor'
  | 'provider-key'
  | 'provider-record'
  | 'webhook-key'
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
  webhookKey: (account: string, id: string): SealPlace => ({ purpose: 'webhook-key', path: [account, id] }),
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
  /** The form in which texts are sealed unless another one is given. */
  readonly form: SealForm;
  /** Takes on the form that the installation has come to; forms only ever move on. */
  advance(form: SealForm): void;
  /** The sealed form. Equal texts sealed under one key for one place are equal, so that nothing differs without a reason. */
  seal(text: string, place: SealPlace, form?: SealForm): string;
  /** The text of a sealed form, under whichever known key. Throws when the key is not known or the place another one. */
  open(sealed: string, place: SealPlace): string;
  /**
   * The text of the unbound form, also when it is refused otherwise: for sealing again texts that only the server can
   * have written.
   */
  openUnbound(sealed: string): string;
  /** Whether a sealed text is in this form and under the key that seals. */
  isCurrent(sealed: string, form: SealForm): boolean;
  /**
   * Equal for secrets with the same text, whatever their places and keys. Without a key the text cannot be guessed from
   * it.
   */
  fingerprint(sealed: string, place: SealPlace): string;
  /** Equal for equal requests, on servers of the previous release too; it says as little about them. */
  requestFingerprint(text: string): string;
}

/** The beginning of every sealed text: `sealed:<key id>:<base64>`, and `sealed:2:<key id>:<base64>` of one that is bound to its place. */
export const sealedPrefix = 'sealed:';

/** The beginning of a text that is bound to its place. */
export const boundPrefix = `${sealedPrefix}2:`;

/** Whether the value of a secret field is sealed. It proves nothing about other texts: users may write any text. */
export function isSealed(text: unknown): text is string {
  return typeof text === 'string' && text.startsWith(sealedPrefix);
}

/** Shown in place of a secret in plans, history and logs. */
export const hiddenSecret = '(secret)';

/** What answers show of a masked secret. */
export const mask = '****';
