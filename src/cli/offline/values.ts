import { type Config, type Environment, environment } from '../../config.ts';
import { createValues } from '../../features/sources/values.ts';
import type { Document, SourceFile } from '../../model/document.ts';
import { isValueVariable, namedValues, type PushedValues } from '../../model/schema/values.ts';

/** Settings of commands that bring the values along which documents name. */
export const valueSettings = ['valuesDir'] as const;

/** What these settings say. */
export type ValueConfig = Pick<Config, (typeof valueSettings)[number]>;

/** The variables that documents may name. */
export function valueVariables(env: Environment = environment): Readonly<Record<string, string>> {
  const entries = Object.entries(env).flatMap(([name, value]) =>
    isValueVariable(name) && value !== undefined ? [[name, value] as const] : [],
  );
  return Object.fromEntries(entries);
}

/**
 * The values that the documents of these files name and that are there: variables of this environment, files below the
 * directory of values. Missing ones are reported by the server, with their position and together with all other
 * problems.
 */
export async function collectValues(files: readonly SourceFile[], config: ValueConfig): Promise<PushedValues> {
  // Most documents name none, and need not be read here then.
  if (!files.some(({ text }) => text.includes('valueFrom'))) return {};
  // Loaded here for the same reason.
  const { readOffline } = await import('./input.ts');
  return await readOffline(files, ({ documents }) => findValues(documents, config).found);
}

/** What documents name, apart into what is there, by name, and the names of what is not. */
export function findValues(
  documents: readonly Document[],
  { valuesDir }: ValueConfig,
): { readonly found: PushedValues; readonly missing: readonly string[] } {
  const look = createValues({ values: valueVariables(), valuesDir });
  const named = new Map(documents.flatMap(({ spec }) => namedValues(spec)).map((item) => [item[0], item]));
  const values = [...named.values()].map(([pushed, origin, name]) => [pushed, look(origin, name)] as const);
  return {
    found: Object.fromEntries(values.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
    missing: values.flatMap(([name, value]) => (value === undefined ? [name] : [])).sort(),
  };
}
