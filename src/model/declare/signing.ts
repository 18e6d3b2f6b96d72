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
