/** The reasons of RFC 7644, section 3.12, that a refusal may name. */
export type ScimType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue';

/** A request of an identity provider that is refused, as SCIM answers it. */
export class ScimRefusal extends Error {
  readonly statusCode: number;
  readonly scimType: ScimType | undefined;
  /** After how many seconds to ask again. */
  readonly retryAfter: number | undefined;

  constructor(
    statusCode: number,
    message: string,
    { scimType, retryAfter }: { readonly scimType?: ScimType; readonly retryAfter?: number } = {},
  ) {
    super(message);
    this.statusCode = statusCode;
    this.scimType = scimType;
    this.retryAfter = retryAfter;
  }
}

/** A request that is wrong in itself. */
export function wrong(scimType: ScimType, message: string): ScimRefusal {
  return new ScimRefusal(400, message, { scimType });
}

/** The answer about a resource that is not there. */
export function missing(type: string, id: string): ScimRefusal {
  return new ScimRefusal(404, `${type} ${id.slice(0, 100)} not found`);
}
