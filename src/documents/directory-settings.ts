import type { JsonObject } from '../lib/json.ts';
import type { Fault } from '../model/declare/kind.ts';
import type { SourceFile } from '../model/document.ts';
import type { Problem } from '../model/problem.ts';
import { type FileRules, ignoreFile, patternFaults } from '../model/sources/file-rules.ts';
import { normalizeText } from './digest.ts';
import { directorySettings, isDirectorySettings, problemsOf, readSettingsFile } from './settings-file.ts';

/** What the settings file of a directory of documents says. */
export interface DirectorySettings {
  readonly source?: string;
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
}

const settingNames = ['source', 'include', 'exclude'];

/** Reads the settings of a directory of documents. */
export function readDirectorySettings(
  file: SourceFile,
): { readonly settings: DirectorySettings } | { readonly problems: readonly Problem[] } {
  const read = readSettingsFile(file);
  if ('problems' in read) return read;
  const faults = faultsOf(read.value);
  if (faults.length > 0) return { problems: problemsOf(read, faults) };
  // Checked just now.
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
          message: `\`${name}\` is no setting of a directory of documents; its settings are: ${settingNames.join(', ')}`,
        }),
      ),
    ...(source === undefined || (typeof source === 'string' && source !== '')
      ? []
      : [{ code: 'type_wrong', path: '/source', message: '`source` must be the name of a source' } as const]),
    ...listFaults(value, 'include'),
    ...listFaults(value, 'exclude'),
  ];
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

/** The files at the top of a directory that say which of its files are read. */
export interface RuleFiles {
  /** The directory, as its files are named; empty at the top. */
  readonly root: string;
  /** The texts of `.heddleignore` and `heddle.yaml`, where there are such files. */
  readonly ignore?: string | undefined;
  readonly settings?: string | undefined;
}

/** Globs that a source states elsewhere than in its directory. */
export interface StatedGlobs {
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
}

/** All rules by which the files of a directory are read, and what is wrong with them. */
export function fileRulesOf(
  { root, ignore, settings }: RuleFiles,
  stated: StatedGlobs,
): { readonly rules: readonly FileRules[]; readonly problems: readonly Problem[] } {
  const inRoot = (name: string) => (root === '' ? name : `${root.replace(/\/$/, '')}/${name}`);
  const problems: Problem[] = [];
  const rules: FileRules[] = [];
  if (ignore !== undefined) {
    const name = inRoot(ignoreFile);
    const patterns = normalizeText(ignore).split('\n');
    rules.push({ root, type: 'ignore', name, patterns });
    for (const { at, message } of patternFaults('ignore', patterns))
      problems.push({ code: 'pattern_invalid', message, file: name, line: at + 1 });
  }
  if (settings !== undefined && isDirectorySettings(directorySettings, settings)) {
    const path = inRoot(directorySettings);
    const read = readDirectorySettings({ path, text: settings });
    if ('problems' in read) problems.push(...read.problems);
    else rules.push(...globRules(root, read.settings, `of ${path}`));
  }
  rules.push(...globRules(root, stated, 'of the source'));
  return { rules, problems };
}

function globRules(root: string, globs: StatedGlobs, where: string): readonly FileRules[] {
  return (['include', 'exclude'] as const).flatMap((type) => {
    const patterns = globs[type] ?? [];
    return patterns.length === 0 ? [] : [{ root, type, name: `\`${type}\` ${where}`, patterns }];
  });
}
