/** The API server refused a request. `reason` is a machine-readable code, such as `Expired` or `AlreadyExists`. */
export class ApiError extends Error {
  readonly status: number;
  readonly reason: string;
  /** Minimum time until the next request, in milliseconds, if the API server states one. */
  readonly retryAfterMs: number | undefined;

  constructor(facts: {
    readonly status: number;
    readonly reason: string;
    readonly message: string;
    readonly retryAfterMs?: number | undefined;
  }) {
    super(facts.message);
    this.status = facts.status;
    this.reason = facts.reason;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** The API server did not answer, or its answer is not valid for an API server. */
export class Unreachable extends Error {}

/** Returns why a request failed, as a sentence without a full stop. */
export function reasonOf(error: unknown): string {
  if (error instanceof ApiError) return `the API server answered ${error.status}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

/** Resolves to the object, or to `undefined` when the API server answers 404. */
export async function ignoreNotFound<Value>(found: Promise<Value>): Promise<Value | undefined> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
