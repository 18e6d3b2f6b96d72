/** An object as it was read, as it was put, and as it was read after that. */
export interface Trip {
  readonly before: unknown;
  readonly put: unknown;
  readonly read: unknown;
}

/** Functions that make the round trip, by the path of the replaced objects. They take the ids in the path. */
export type Trips = Readonly<Record<string, (...ids: string[]) => Promise<Trip>>>;

/** Server and token that a program uses. */
export interface Server {
  readonly baseUrl: string;
  readonly token: string;
}

/** Additional input of a program that changes objects. */
export interface Account extends Server {
  /** A name that no object has yet. */
  readonly mark: string;
  /** Id of a group. */
  readonly group: string;
}

interface Steps<Read> {
  readonly read: () => Promise<Read>;
  readonly change: (read: Read) => Read;
  /** Resolves with the same type as `read`, only so that the compiler compares the two types. */
  readonly write: (changed: Read) => Promise<Read>;
}

/** Reads an object, changes it, puts it back in full, and reads it again. */
export async function trip<Read>({ read, change, write }: Steps<Read>): Promise<Trip> {
  const before = await read();
  const put = change(before);
  await write(put);
  return { before, put, read: await read() };
}

/** Returns the data of a generated client's response. Throws when the server refuses the request. */
export async function sent<Data>(answer: Promise<{ data?: Data; error?: unknown }>): Promise<NonNullable<Data>> {
  const { data, error } = await answer;
  if (data === undefined || data === null) throw new Error(JSON.stringify(error));
  return data;
}

/** Returns the item of a list with this id. Throws when there is none. */
export async function one<Item extends { readonly id: string | number }>(
  list: Promise<readonly Item[]>,
  id: string,
): Promise<Item> {
  const item = (await list).find((found) => String(found.id) === id);
  if (item === undefined) throw new Error(`nothing has the id ${id}`);
  return item;
}

/**
 * Returns an object that may be absent; throws when it is. In the profile `compatible`, the response is then an empty
 * object.
 */
export async function found<Answer extends object>(answer: Promise<Answer>): Promise<Found<Answer>> {
  const read = await answer;
  if (!isFound(read)) throw new Error('there is none');
  return read;
}

type Found<Answer> = Extract<Answer, { readonly id: unknown }>;

function isFound<Answer extends object>(answer: Answer): answer is Found<Answer> {
  return 'id' in answer;
}
