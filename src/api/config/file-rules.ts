import { isObject, type Json, type JsonObject } from '../../lib/json.ts';
import { longestPath } from '../../lib/path.ts';
import { InvalidInput } from '../../model/errors.ts';
import { type FileRules, fileRuleTypes, patternFaults } from '../../model/sources/file-rules.ts';

/** So many lists of patterns may come along. */
const mostLists = 100;

/** By which rules the files of a request were chosen. Throws `InvalidInput`. */
export function fileRulesIn(body: JsonObject): readonly FileRules[] {
  const rules = body['rules'] ?? [];
  if (!Array.isArray(rules) || rules.length > mostLists)
    throw new InvalidInput(
      `\`rules\` must be a list of at most ${mostLists} objects such as {"root": "config", "type": "ignore", "name": "config/.heddleignore", "patterns": ["drafts/"]}`,
    );
  return rules.map(rulesAt);
}

function rulesAt(value: Json, index: number): FileRules {
  const { root, type: stated, name, patterns }: JsonObject = isObject(value) ? value : {};
  const type = fileRuleTypes.find((one) => one === stated);
  if (type === undefined)
    throw new InvalidInput(`rules[${index}] must have a \`type\`, one of ${fileRuleTypes.join(', ')}`);
  if (!isText(root) || !isText(name))
    throw new InvalidInput(
      `rules[${index}] must have the texts \`root\` and \`name\`, of at most ${longestPath} characters`,
    );
  if (!isTexts(patterns)) throw new InvalidInput(`rules[${index}] must have \`patterns\`, a list of texts`);
  const [fault] = patternFaults(type, patterns);
  if (fault !== undefined) throw new InvalidInput(`rules[${index}].patterns[${fault.at}]: ${fault.message}`);
  return { root, type, name, patterns };
}

function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value.length <= longestPath;
}

function isTexts(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
