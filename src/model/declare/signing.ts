/** A signature, and the id of the key that made it. */
export interface Signature {
  readonly key: string;
  readonly signature: string;
}

/** Signs texts, so that the server can recognize what it wrote itself. */
export interface Signer {
  /** Id of the signing key. */
  readonly keyId: string;
  /** Ids of all keys whose signatures it verifies. */
  readonly keyIds: readonly string[];
  sign(text: string): string;
  /** Checks the signature of a text. Returns `undefined` when its key is unknown. */
  verify(text: string, signature: Signature): boolean | undefined;
}
