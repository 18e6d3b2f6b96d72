import type { JsonObject } from '../../src/lib/json.ts';
import type { Members, Shape } from './shape.ts';
import type { World } from './world.ts';

/** The values of a path's parameters. */
export type Place = Readonly<Record<string, string>>;

/** Makes a body that nobody sent yet, for a path. */
export type Body = (world: World, place: Place) => Promise<JsonObject> | JsonObject;

/** A body that is sent, written by hand. */
export interface Sample {
  /** Where it is sent, when it fits only there. */
  readonly at?: (world: World) => Promise<Place>;
  readonly body: Body;
  /** Optional fields that this body cannot be without, by pointer, and why. */
  readonly refusedWithout?: Readonly<Record<string, string>>;
}

/** What an operation takes. */
export interface Request {
  readonly fields: Members;
  /** Together they have every field. */
  readonly samples: readonly Sample[];
}

/** What an operation answers: a body, none at all, or an empty object. */
export type Answered = Shape | 'no body' | 'empty object';

/** One operation of the specification. */
export interface Row {
  /** Makes what the operation is about and answers the values of the path's parameters. */
  readonly at?: (world: World) => Promise<Place>;
  /** Makes what a list has to show. */
  readonly given?: (world: World) => Promise<unknown>;
  /** Runs before each request, for what is there once. */
  readonly before?: (world: World, place: Place) => Promise<unknown>;
  /** Parameters of the query, all optional, each with a value that is sent. */
  readonly query?: Readonly<Record<string, string>>;
  readonly request?: Request;
  readonly answer: Answered;
  /** Why a list may be empty. */
  readonly mayBeEmpty?: string;
  /** Sends the request as somebody else. */
  readonly as?: (world: World, place: Place) => Promise<Readonly<Record<string, string>>>;
}

/** Rows by operation: method and path. */
export type Rows = Readonly<Record<string, Row>>;

/** A body, and the optional fields that it cannot be without, by pointer. */
export function sample(body: Body, refusedWithout: Readonly<Record<string, string>> = {}): Sample {
  return { body, refusedWithout };
}

/** A path with one parameter, which names what `make` makes. */
export function one(parameter: string, make: (world: World) => Promise<string>): (world: World) => Promise<Place> {
  return async (world) => ({ [parameter]: await make(world) });
}
