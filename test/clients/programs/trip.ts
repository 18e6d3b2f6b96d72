/** What was read, what was put then, and what was read after that. */
export interface Trip {
  readonly before: unknown;
  readonly put: unknown;
  readonly read: unknown;
}

/** By the collection whose objects are replaced: makes the trip with the ids of a path. */
export type Trips = Readonly<Record<string, (...ids: string[]) => Promise<Trip>>>;

/** What a program is given. */
export interface Server {
  readonly baseUrl: string;
  readonly token: string;
}

/** What a program that changes objects is given beside that. */
export interface Account extends Server {
  /** A name that nothing has yet. */
  readonly mark: string;
  /** The id of a group. */
  readonly group: string;
}

interface Steps<Read> {
  readonly read: () => Promise<Read>;
  readonly change: (read: Read) => Read;
  /** Answers what a read answers: only so the two may be compared. */
  readonly write: (changed: Read) => Promise<Read>;
}

/** Reads an object, changes it, puts the whole answer back, and reads it again. */
export async function trip<Read>({ read, change, write }: Steps<Read>): Promise<Trip> {
  const before = await read();
  const put = change(before);
  await write(put);
  return { before, put, read: await read() };
}

/** What a generated client answers; a refusal is thrown. */
export async function sent<Data>(answer: Promise<{ data?: Data; error?: unknown }>): Promise<NonNullable<Data>> {
  const { data, error } = await answer;
  if (data === undefined || data === null) throw new Error(JSON.stringify(error));
  return data;
}

/** One of a list. */
export async function one<Item extends { readonly id: string | number }>(
  list: Promise<readonly Item[]>,
  id: string,
): Promise<Item> {
  const item = (await list).find((found) => String(found.id) === id);
  if (item === undefined) throw new Error(`nothing has the id ${id}`);
  return item;
}

/** An object of which there is one or none: the profile `compatible` answers an empty object for none. */
export async function found<Answer extends object>(answer: Promise<Answer>): Promise<Found<Answer>> {
  const read = await answer;
  if (!isFound(read)) throw new Error('there is none');
  return read;
}

type Found<Answer> = Extract<Answer, { readonly id: unknown }>;

function isFound<Answer extends object>(answer: Answer): answer is Found<Answer> {
  return 'id' in answer;
}
