/** The API server refused a request. `reason` is one word for programs, such as `Expired` or `AlreadyExists`. */
export class ApiError extends Error {
  readonly status: number;
  readonly reason: string;
  /** When it wants to be asked again at the earliest, if it says so. */
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

/** The API server did not answer, or not in the way of an API server. */
export class Unreachable extends Error {}

/** Why a request failed, as a sentence without a full stop. */
export function reasonOf(error: unknown): string {
  if (error instanceof ApiError) return `the API server answered ${error.status}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

/** `undefined` where the API server says that there is no such object. */
export async function unlessAbsent<Value>(found: Promise<Value>): Promise<Value | undefined> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
