import { type Config, type Environment, environment } from '../../config.ts';
import { createValueLookup } from '../../features/sources/values.ts';
import type { Document, SourceFile } from '../../model/document.ts';
import { isValueVariable, namedValues, type PushedValues } from '../../model/schema/values.ts';

/** Settings of commands that send the values which documents name. */
export const valueSettings = ['valuesDir'] as const;

/** Values of these settings. */
export type ValueConfig = Pick<Config, (typeof valueSettings)[number]>;

/** Returns the environment variables that documents may name. */
export function valueVariables(env: Environment = environment): Readonly<Record<string, string>> {
  const entries = Object.entries(env).flatMap(([name, value]) =>
    isValueVariable(name) && value !== undefined ? [[name, value] as const] : [],
  );
  return Object.fromEntries(entries);
}

/**
 * Returns the values that the documents in these files name and that are available: environment variables, and files in
 * the directory of values. The server reports missing values, with their positions and together with all other
 * problems.
 */
export async function collectValues(files: readonly SourceFile[], config: ValueConfig): Promise<PushedValues> {
  // Most documents name no values, and need not be parsed here.
  if (!files.some(({ text }) => text.includes('valueFrom'))) return {};
  // Imported on demand for the same reason.
  const { readOffline } = await import('./input.ts');
  return await readOffline(files, ({ documents }) => findValues(documents, config).found);
}

/** Returns the values that documents name: the available ones by name, and the names of the missing ones. */
export function findValues(
  documents: readonly Document[],
  { valuesDir }: ValueConfig,
): { readonly found: PushedValues; readonly missing: readonly string[] } {
  const look = createValueLookup({ values: valueVariables(), valuesDir });
  const named = new Map(documents.flatMap(({ spec }) => namedValues(spec)).map((item) => [item[0], item]));
  const values = [...named.values()].map(([pushed, origin, name]) => [pushed, look(origin, name)] as const);
  return {
    found: Object.fromEntries(values.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
    missing: values.flatMap(([name, value]) => (value === undefined ? [name] : [])).sort(),
  };
}
