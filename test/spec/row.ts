import type { JsonObject } from '../../src/lib/json.ts';
import type { Members, Shape } from './shape.ts';
import type { World } from './world.ts';

/** Values of a path's parameters, by name. */
export type PathParameters = Readonly<Record<string, string>>;

/** Creates a body that was not sent before, for a path. */
export type Body = (world: World, parameters: PathParameters) => Promise<JsonObject> | JsonObject;

/** A request body, written by hand. */
export interface Sample {
  /** Creates what the body is sent to, when it fits only there. Absent: `at` of the row applies. */
  readonly at?: (world: World) => Promise<PathParameters>;
  readonly body: Body;
  /** Optional fields without which this body is refused: the reasons, by JSON pointer. */
  readonly refusedWithout?: Readonly<Record<string, string>>;
}

/** Request of an operation. */
export interface Request {
  readonly fields: Members;
  /** Bodies that together have every field. */
  readonly samples: readonly Sample[];
}

/** Expected answer of an operation: a body, no body, or an empty object. */
export type Answered = Shape | 'no body' | 'empty object';

/** One operation of the specification. */
export interface Row {
  /** Creates the object of the operation and returns the values of the path's parameters. */
  readonly at?: (world: World) => Promise<PathParameters>;
  /** Creates the objects that a list shows. */
  readonly given?: (world: World) => Promise<unknown>;
  /** Runs before each request, to reset an object that exists only once. */
  readonly before?: (world: World, parameters: PathParameters) => Promise<unknown>;
  /** Query parameters, all optional, each with the value to send. */
  readonly query?: Readonly<Record<string, string>>;
  readonly request?: Request;
  readonly answer: Answered;
  /** Why the list may be empty. Absent: it must not be empty. */
  readonly mayBeEmpty?: string;
  /** Returns headers that send the request as another user. */
  readonly as?: (world: World, parameters: PathParameters) => Promise<Readonly<Record<string, string>>>;
}

/** Rows by operation: method and path. */
export type Rows = Readonly<Record<string, Row>>;

/** Returns a sample of a body, with the optional fields without which it is refused: the reasons, by JSON pointer. */
export function sample(body: Body, refusedWithout: Readonly<Record<string, string>> = {}): Sample {
  return { body, refusedWithout };
}

/** Returns a function that fills a path's only parameter with the id that `make` returns. */
export function one(
  parameter: string,
  make: (world: World) => Promise<string>,
): (world: World) => Promise<PathParameters> {
  return async (world) => ({ [parameter]: await make(world) });
}
