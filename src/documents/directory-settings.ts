import type { Json, JsonObject } from '../lib/json.ts';
import type { Fault } from '../model/declare/kind.ts';
import type { SourceFile } from '../model/document.ts';
import type { Problem } from '../model/problem.ts';
import { type FileRules, ignoreFile, patternFaults } from '../model/sources/file-rules.ts';
import { sourceNameFault } from '../model/sources/schema.ts';
import { normalizeText } from './digest.ts';
import { isDirectorySettings, problemsOf, readSettingsFile, settingsFileName } from './settings-file.ts';

/** Content of the settings file (`heddle.yaml`) of a directory of documents. */
export interface DirectorySettings {
  readonly source?: string;
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
}

const settingNames = ['source', 'include', 'exclude'];

/** Reads the settings of a directory of documents, or returns the problems of the file. */
export function readDirectorySettings(
  file: SourceFile,
): { readonly settings: DirectorySettings } | { readonly problems: readonly Problem[] } {
  const read = readSettingsFile(file);
  if ('problems' in read) return read;
  const faults = faultsOf(read.value);
  if (faults.length > 0) return { problems: problemsOf(read, faults) };
  // `faultsOf` has checked the types.
  return { settings: read.value };
}

function faultsOf(value: JsonObject): readonly Fault[] {
  const { source } = value;
  return [
    ...Object.keys(value)
      .filter((name) => !settingNames.includes(name))
      .map(
        (name): Fault => ({
          code: 'field_unknown',
          path: `/${name}`,
          message: `\`${name}\` is not a setting of a directory of documents; its settings are: ${settingNames.join(', ')}`,
        }),
      ),
    ...nameFaults(source),
    ...listFaults(value, 'include'),
    ...listFaults(value, 'exclude'),
  ];
}

function nameFaults(source: Json | undefined): readonly Fault[] {
  if (source === undefined) return [];
  if (typeof source !== 'string' || source === '')
    return [{ code: 'type_wrong', path: '/source', message: '`source` must be the name of a source' }];
  const message = sourceNameFault(source);
  return message === undefined ? [] : [{ code: 'value_invalid', path: '/source', message }];
}

function listFaults(value: JsonObject, name: 'include' | 'exclude'): readonly Fault[] {
  const list = value[name];
  if (list === undefined) return [];
  if (!Array.isArray(list) || !list.every((pattern) => typeof pattern === 'string'))
    return [
      { code: 'type_wrong', path: `/${name}`, message: `\`${name}\` must be a list of patterns such as \`ci/\`` },
    ];
  return patternFaults(name, list).map(({ at, message }) => ({
    code: 'pattern_invalid',
    path: at < list.length ? `/${name}/${at}` : `/${name}`,
    message: `\`${name}\`: ${message}`,
  }));
}

/** The files at the top of a directory that determine which of its files are read. */
export interface RuleFiles {
  /** Path of the directory, relative to the same base as the paths of its files. Empty for the base itself. */
  readonly root: string;
  /** Text of `.heddleignore`; `settings` is the text of `heddle.yaml`. Absent when the file does not exist. */
  readonly ignore?: string | undefined;
  readonly settings?: string | undefined;
}

/** Globs that the source itself declares, in addition to the globs in its directory. */
export interface SourceGlobs {
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
}

/** Source that the settings file of a directory names. */
export interface StatedSourceName {
  readonly name: string;
  /** Path of the settings file. */
  readonly file: string;
}

/**
 * Returns all rules that select the files of a directory, the problems in these rules, and the source that the
 * directory names.
 */
export function fileRulesOf(
  { root, ignore, settings }: RuleFiles,
  stated: SourceGlobs,
): {
  readonly rules: readonly FileRules[];
  readonly problems: readonly Problem[];
  readonly statedSource?: StatedSourceName | undefined;
} {
  const inRoot = (name: string) => (root === '' ? name : `${root.replace(/\/$/, '')}/${name}`);
  const problems: Problem[] = [];
  const rules: FileRules[] = [];
  let statedSource: StatedSourceName | undefined;
  if (ignore !== undefined) {
    const name = inRoot(ignoreFile);
    const patterns = normalizeText(ignore).split('\n');
    rules.push({ root, type: 'ignore', name, patterns });
    for (const { at, message } of patternFaults('ignore', patterns))
      problems.push({ code: 'pattern_invalid', message, file: name, line: at + 1 });
  }
  if (settings !== undefined && isDirectorySettings(settingsFileName, settings)) {
    const path = inRoot(settingsFileName);
    const read = readDirectorySettings({ path, text: settings });
    if ('problems' in read) problems.push(...read.problems);
    else {
      const { source: name } = read.settings;
      if (name !== undefined) statedSource = { name, file: path };
      rules.push(...globRules(root, read.settings, `of ${path}`));
    }
  }
  rules.push(...globRules(root, stated, 'of the source'));
  return { rules, problems, statedSource };
}

function globRules(root: string, globs: SourceGlobs, where: string): readonly FileRules[] {
  return (['include', 'exclude'] as const).flatMap((type) => {
    const patterns = globs[type] ?? [];
    return patterns.length === 0 ? [] : [{ root, type, name: `\`${type}\` ${where}`, patterns }];
  });
}
