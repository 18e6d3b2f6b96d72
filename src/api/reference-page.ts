import { asObjectOrEmpty, isObject, type Json, type JsonObject } from '../lib/json.ts';

/** Renders the reference of the interface as one HTML page, without scripts and without external assets. */
export function renderReference(description: JsonObject): string {
  const components = asObjectOrEmpty(description['components']);
  const operations = operationsOf(description);
  const tags = [...new Set(operations.map(({ tag }) => tag))].sort();
  const version = text(asObjectOrEmpty(description['info'])['version']);
  const index = tags.map((tag) => `<li><a href="#${tag}">${escapeHtml(tag)}</a></li>`).join('');
  const sections = tags.map((tag) => renderTag(tag, operations, components)).join('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Heddle ${escapeHtml(version)}: the interface</title>
<style>${style}</style>
</head>
<body>
<header><h1>Heddle ${escapeHtml(version)}</h1><p>The same as <a href="/api/openapi.json">openapi.json</a>, for reading.</p></header>
<nav aria-label="Areas"><ul>${index}</ul></nav>
<section id="authentication"><h2>Authentication</h2>${renderSchemes(components)}</section>
<main>
${sections}
</main>
</body>
</html>
`;
}

const style = `
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1rem;list-style:none;padding:0}
details{border-top:1px solid color-mix(in srgb,currentcolor 25%,transparent);padding:.4rem 0}
summary{cursor:pointer}
code{font-family:ui-monospace,monospace;font-size:.95em;overflow-wrap:anywhere}
.method{display:inline-block;min-width:4.5em;font-weight:600}
table{border-collapse:collapse;width:100%;margin:.5rem 0}
th,td{text-align:left;vertical-align:top;padding:.2rem .6rem .2rem 0}
`;

interface Listed {
  readonly tag: string;
  readonly method: string;
  readonly path: string;
  readonly operation: JsonObject;
  /** Parameters that the path declares for all of its operations. */
  readonly shared: readonly Json[];
}

const methods = ['get', 'post', 'put', 'delete'];

function operationsOf(description: JsonObject): readonly Listed[] {
  return Object.entries(asObjectOrEmpty(description['paths'])).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = asObjectOrEmpty(item)[method];
      if (!isObject(operation)) return [];
      const tags = operation['tags'];
      const tag = Array.isArray(tags) ? text(tags[0]) : 'other';
      const shared = listIn(asObjectOrEmpty(item), 'parameters');
      return [{ tag, method, path, operation, shared }];
    }),
  );
}

/** Renders the descriptions of how credentials are sent. */
function renderSchemes(components: JsonObject): string {
  const schemes = Object.values(asObjectOrEmpty(components['securitySchemes'])).map(asObjectOrEmpty);
  const items = schemes.map((scheme) => `<li>${escapeHtml(text(scheme['description']))}</li>`).join('');
  return `<p>Every operation requires one of these, unless it is marked as open:</p><ul>${items}</ul>`;
}

function renderTag(tag: string, operations: readonly Listed[], components: JsonObject): string {
  const own = operations.filter((listed) => listed.tag === tag);
  return `<section id="${escapeHtml(tag)}"><h2>${escapeHtml(tag)}</h2>${own.map((listed) => renderOperation(listed, components)).join('')}</section>`;
}

function renderOperation({ method, path, operation, shared }: Listed, components: JsonObject): string {
  const schemas = asObjectOrEmpty(components['schemas']);
  const responses = asObjectOrEmpty(operation['responses']);
  const body = contentSchema(operation['requestBody']);
  const answer = contentSchema(responses['200'] ?? responses['201']);
  const parameters = [...shared, ...listIn(operation, 'parameters')].map((one) =>
    resolveReference(asObjectOrEmpty(one), components),
  );
  return `<details><summary><span class="method">${method.toUpperCase()}</span><code>${escapeHtml(path)}</code> ${escapeHtml(text(operation['summary']))}</summary>
${paragraph(operation['description'])}${renderAccess(operation)}${renderParameters(parameters)}${renderSchemaTable('Request', body, schemas)}${otherTypes('Request', operation['requestBody'])}${renderSchemaTable('Answer', answer, schemas)}${renderResponses(responses, components)}</details>`;
}

function renderAccess(operation: JsonObject): string {
  const { security } = operation;
  if (!Array.isArray(security)) return '';
  const names = security.flatMap((one) => Object.keys(asObjectOrEmpty(one)));
  if (names.includes('Operator')) return "<p>For the operator of the server: requires the operator's token.</p>";
  return names.length === 0 ? '<p>Open: no credentials of an account are needed.</p>' : '';
}

function renderParameters(parameters: readonly JsonObject[]): string {
  const rows = parameters.map((parameter) => {
    const mark = parameter['required'] === true ? '' : ' <small>optional</small>';
    const type = typeOf(asObjectOrEmpty(parameter['schema']), {});
    return `<tr><td><code>${escapeHtml(text(parameter['name']))}</code>${mark}</td><td>${escapeHtml(text(parameter['in']))}</td><td>${escapeHtml(type)}</td><td>${escapeHtml(text(parameter['description']))}</td></tr>`;
  });
  return table('Parameters', ['Name', 'Where', 'Type', 'Meaning'], rows);
}

/** Renders every status with its headers, and the content types of its body other than JSON. */
function renderResponses(responses: JsonObject, components: JsonObject): string {
  const rows = Object.entries(responses).map(([status, value]) => {
    const response = resolveReference(asObjectOrEmpty(value), components);
    const headers = Object.keys(asObjectOrEmpty(response['headers'])).map((name) => `<code>${escapeHtml(name)}</code>`);
    const types = Object.keys(asObjectOrEmpty(response['content'])).filter((type) => type !== 'application/json');
    const more = types.length === 0 ? '' : ` <small>${escapeHtml(types.join(', '))}</small>`;
    return `<tr><td>${escapeHtml(status)}</td><td>${headers.join(', ')}</td><td>${escapeHtml(text(response['description']))}${more}</td></tr>`;
  });
  return table('Statuses', ['Status', 'Headers', 'Meaning'], rows);
}

function otherTypes(title: string, holder: Json | undefined): string {
  const types = Object.keys(asObjectOrEmpty(asObjectOrEmpty(holder)['content'])).filter(
    (type) => type !== 'application/json',
  );
  return types.length === 0 ? '' : `<p>${title} also as ${escapeHtml(types.join(', '))}.</p>`;
}

function table(title: string, columns: readonly string[], rows: readonly string[]): string {
  if (rows.length === 0) return '';
  const heads = columns.map((name) => `<th scope="col">${name}</th>`).join('');
  return `<h3>${title}</h3><table><thead><tr>${heads}</tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

/** Returns the component that a reference names. Returns any other value unchanged. */
function resolveReference(value: JsonObject, components: JsonObject): JsonObject {
  const reference = value['$ref'];
  if (typeof reference !== 'string') return value;
  const [, , section = '', name = ''] = reference.split('/');
  return asObjectOrEmpty(asObjectOrEmpty(components[section])[name]);
}

function paragraph(value: Json | undefined): string {
  return value === undefined ? '' : `<p>${escapeHtml(text(value))}</p>`;
}

function renderSchemaTable(title: string, schema: JsonObject | undefined, schemas: JsonObject): string {
  if (schema === undefined) return '';
  const list = schema['type'] === 'array';
  const rows = renderMembers(resolveSchema(list ? asObjectOrEmpty(schema['items']) : schema, schemas), schemas, '', 0);
  const name = list ? `${title}: a list of` : title;
  return table(name, ['Member', 'Type', 'Meaning'], rows === '' ? [] : [rows]);
}

/** Renders the members of a schema, and their members up to three levels deep. */
function renderMembers(schema: JsonObject, schemas: JsonObject, prefix: string, depth: number): string {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(asObjectOrEmpty(schema['properties']))
    .map(([name, value]) => {
      const member = resolveSchema(asObjectOrEmpty(value), schemas);
      const items = resolveSchema(asObjectOrEmpty(member['items']), schemas);
      const inner =
        depth > 2
          ? ''
          : renderMembers(member, schemas, `${prefix}${name}.`, depth + 1) +
            renderMembers(items, schemas, `${prefix}${name}[].`, depth + 1);
      const mark = required.includes(name) ? '' : ' <small>optional</small>';
      return `<tr><td><code>${escapeHtml(prefix + name)}</code>${mark}</td><td>${escapeHtml(typeOf(member, items))}</td><td>${escapeHtml(text(asObjectOrEmpty(value)['description'] ?? member['description']))}</td></tr>${inner}`;
    })
    .join('');
}

function typeOf(schema: JsonObject, items: JsonObject): string {
  const values = schema['enum'];
  if (Array.isArray(values)) return values.map(text).join(' | ');
  const type = Array.isArray(schema['type']) ? schema['type'].map(text).join(' | ') : text(schema['type'] ?? 'object');
  return type === 'array' ? `${text(items['type'] ?? 'object')}[]` : type;
}

function contentSchema(holder: Json | undefined): JsonObject | undefined {
  const schema = asObjectOrEmpty(asObjectOrEmpty(asObjectOrEmpty(holder)['content'])['application/json'])['schema'];
  return isObject(schema) ? schema : undefined;
}

function resolveSchema(schema: JsonObject, schemas: JsonObject): JsonObject {
  const reference = schema['$ref'];
  return typeof reference === 'string' ? asObjectOrEmpty(schemas[reference.split('/').at(-1) ?? '']) : schema;
}

function listIn(value: JsonObject, name: string): readonly Json[] {
  const list = value[name];
  return Array.isArray(list) ? list : [];
}

function text(value: Json | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escapeHtml(value: string): string {
  return value.replace(/[&<>"]/g, (character) => entities[character] ?? character);
}
