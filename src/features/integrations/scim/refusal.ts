/** Error types of RFC 7644, section 3.12, that a refusal may name. */
export type ScimType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue';

/** Refusal of an identity provider's request, in the form that SCIM requires. */
export class ScimRefusal extends Error {
  readonly statusCode: number;
  readonly scimType: ScimType | undefined;
  /** Time after which the provider should repeat the request, in seconds. */
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

/** Returns the refusal of an invalid request, with status 400. */
export function badRequest(scimType: ScimType, message: string): ScimRefusal {
  return new ScimRefusal(400, message, { scimType });
}

/** Returns the refusal for a resource that does not exist, with status 404. */
export function notFound(type: string, id: string): ScimRefusal {
  return new ScimRefusal(404, `${type} ${id.slice(0, 100)} not found`);
}
