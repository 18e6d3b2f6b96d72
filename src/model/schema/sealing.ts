/** Purpose of a sealed text. Each purpose has its own keys. */
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

/**
 * Encryption context: where a sealed text is stored. It is authenticated with the text (as additional authenticated
 * data), so that the text cannot be opened in any other context.
 */
export interface SealContext {
  readonly purpose: SealPurpose;
  /** Names of what contains the text, from the outermost to the innermost, such as account, object and field. */
  readonly path: readonly string[];
}

/** Contexts of sealed texts outside of objects. */
export const sealContexts = {
  plan: (account: string, plan: string): SealContext => ({ purpose: 'plan', path: [account, plan] }),
  outputs: (account: string, plan: string): SealContext => ({ purpose: 'outputs', path: [account, plan] }),
  /** `key`: key of the request. */
  answer: (account: string, key: string): SealContext => ({ purpose: 'answer', path: [account, key] }),
  secondFactor: (account: string, email: string): SealContext => ({ purpose: 'second-factor', path: [account, email] }),
  providerKey: (id: string): SealContext => ({ purpose: 'provider-key', path: [id] }),
  webhookKey: (account: string, id: string): SealContext => ({ purpose: 'webhook-key', path: [account, id] }),
  /** `hash`: hash of the record's id. */
  providerRecord: (model: string, hash: string): SealContext => ({ purpose: 'provider-record', path: [model, hash] }),
} as const;

/**
 * How texts are sealed. `unbound`: as in earlier releases, whose servers can open them; such a text opens in any
 * context. `binding`: bound to their context, while unbound texts can still be opened. `bound`: bound to their context,
 * and unbound texts are refused.
 */
export type SealForm = 'unbound' | 'binding' | 'bound';

/** Seals texts that must not be readable in the database, and opens them again. */
export interface Vault {
  /** Id of the key that seals. */
  readonly keyId: string;
  /** Form in which texts are sealed by default. */
  readonly form: SealForm;
  /** Switches to the current form of the installation. A form never goes back to an earlier one. */
  advance(form: SealForm): void;
  /**
   * Returns the sealed text. Equal texts under the same key and context have equal sealed forms, so that sealing again
   * causes no change.
   */
  seal(text: string, context: SealContext, form?: SealForm): string;
  /**
   * Like `seal`, for a long text that is given in parts. Yields between the parts, so no part should be long. No part
   * may end within a surrogate pair.
   */
  sealInSteps(parts: readonly string[], context: SealContext, form?: SealForm): Generator<undefined, string>;
  /**
   * Returns the text of a sealed form, under any known key. Throws when the key is unknown or the context is a
   * different one.
   */
  open(sealed: string, context: SealContext): string;
  /**
   * Returns the text of an unbound sealed form, even when the current form refuses it. Only for resealing texts that
   * only the server can have written.
   */
  openUnbound(sealed: string): string;
  /** Whether a sealed text has this form and was sealed with the current key. */
  isCurrent(sealed: string, form: SealForm): boolean;
  /**
   * Returns a value that is equal for secrets with the same text, independent of their contexts and keys. The text
   * cannot be guessed from it without a key.
   */
  fingerprint(sealed: string, context: SealContext): string;
  /**
   * Returns a value that is equal for equal requests, also on servers of the previous release. The request cannot be
   * guessed from it without a key.
   */
  requestFingerprint(text: string): string;
}

/**
 * Prefix of every sealed text: `sealed:<key id>:<base64>`, or `sealed:2:<key id>:<base64>` when it is bound to its
 * context.
 */
export const sealedPrefix = 'sealed:';

/** Prefix of a sealed text that is bound to its context. */
export const boundPrefix = `${sealedPrefix}2:`;

/**
 * Whether the value of a secret field is sealed. Proves nothing for other fields, because users may write any text
 * there.
 */
export function isSealed(text: unknown): text is string {
  return typeof text === 'string' && text.startsWith(sealedPrefix);
}

/** Shown instead of a secret in plans, history and logs. */
export const secretPlaceholder = '(secret)';

/** Text that answers show for a masked secret, after its visible prefix. */
export const mask = '****';
