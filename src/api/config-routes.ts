import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type DocumentInput, readInput } from '../documents/input.ts';
import type { Reader } from '../documents/reader.ts';
import { writeDocuments } from '../documents/write.ts';
import { type Desire, planDesire } from '../engine/documents.ts';
import type { Engine } from '../engine/engine.ts';
import { exportDocuments } from '../engine/export.ts';
import { listHistory, showRevision } from '../engine/history.ts';
import { refusalOf } from '../engine/objects.ts';
import { applyNow, applyPlan, createPlan, patchPlan, showPlan } from '../engine/saved-plans.ts';
import { rotateSecrets } from '../engine/secrets.ts';
import { accountStatus, sourceStatuses } from '../engine/status.ts';
import { isObject, type JsonObject } from '../lib/json.ts';
import type { SourceFile } from '../model/document.ts';
import { InvalidInput, NotFound } from '../model/errors.ts';
import { callOf } from './authenticate.ts';
import { objectBody } from './bodies.ts';

/** What the routes under `/api/config` need. */
export interface ConfigRoutesOptions {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly version: string;
}

/** Bodies under `/api/config` carry whole source revisions. */
const bodyLimit = 64 * 1024 * 1024;

const yamlTypes = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml', 'text/plain'];

/** The routes by which documents are validated, planned, applied and exported. */
export async function addConfigRoutes(app: FastifyInstance, options: ConfigRoutesOptions): Promise<void> {
  app.addContentTypeParser(yamlTypes, { parseAs: 'string', bodyLimit }, (_request, text, done) =>
    done(null, { files: [{ path: '-', text }] }),
  );
  addPlanRoutes(app, options);
  addReadRoutes(app, options);
}

function addPlanRoutes(app: FastifyInstance, { engine, reader }: ConfigRoutesOptions): void {
  app.post('/api/config/validate', { bodyLimit }, async (request) => {
    const { desire, input } = await readDesire(reader, request);
    const { outcome } = await planDesire(engine, callOf(request), desire);
    if (!outcome.ok) throw refusalOf(outcome.problems);
    return { valid: true, documents: input.documents.length, warnings: outcome.plan.warnings };
  });
  app.post('/api/config/plans', { bodyLimit }, async (request, reply) => {
    const { desire } = await readDesire(reader, request);
    return reply.code(201).send(await createPlan(engine, callOf(request), desire));
  });
  app.get('/api/config/plans/:id', async (request) => showPlan(engine, callOf(request), parameter(request, 'id')));
  app.get('/api/config/plans/:id/patch', async (request) =>
    patchPlan(engine, callOf(request), parameter(request, 'id')),
  );
  app.post('/api/config/plans/:id/apply', async (request) => {
    const body = request.body === undefined ? {} : objectBody(request.body);
    return applyPlan(engine, callOf(request), parameter(request, 'id'), textOf(body, 'approve'));
  });
  app.post('/api/config/apply', { bodyLimit }, async (request) => {
    const { desire } = await readDesire(reader, request);
    if (queryOf(request)['dryRun'] === 'true')
      return { plan: await createPlan(engine, callOf(request), desire), revision: null };
    return applyNow(engine, callOf(request), desire);
  });
}

function addReadRoutes(app: FastifyInstance, { engine, version }: ConfigRoutesOptions): void {
  app.get('/api/config/export', async (request, reply) => {
    const { kind, source, format } = queryOf(request);
    if (kind !== undefined && engine.registry.find(kind) === undefined)
      throw new InvalidInput(`unknown kind ${kind}; known are ${engine.registry.names.join(', ')}`);
    const { account, revision } = callOf(request);
    const state = await engine.snapshots.at(account, revision);
    const documents = exportDocuments(state, {
      ...(kind === undefined ? {} : { kind }),
      ...(source === undefined ? {} : { source }),
    });
    if (format === 'json') return documents;
    return reply.header('content-type', 'application/yaml; charset=utf-8').send(writeDocuments(documents));
  });
  app.post('/api/config/secrets/rotate', async () => rotateSecrets(engine));
  app.get('/api/config/sources', async (request) => sourceStatuses(engine, callOf(request)));
  app.get('/api/config/status', async (request) => accountStatus(engine, callOf(request), version));
  app.get('/api/config/revisions', async (request) => {
    const { before, limit } = queryOf(request);
    return listHistory(engine, callOf(request), {
      ...(before === undefined ? {} : { before: wholeNumber('before', before) }),
      limit: limit === undefined ? 100 : wholeNumber('limit', limit),
    });
  });
  app.get('/api/config/revisions/:revision', async (request) => {
    const text = parameter(request, 'revision');
    const found = /^\d{1,15}$/.test(text) ? await showRevision(engine, callOf(request), Number(text)) : undefined;
    if (found === undefined) throw new NotFound(`revision ${text} not found`);
    return found;
  });
}

/** What a plan request says: `{source, files, prune?, allowEmpty?, approve?, expectDigest?}`, or one YAML body with these in the query. */
async function readDesire(
  reader: Reader,
  request: FastifyRequest,
): Promise<{ readonly desire: Desire; readonly input: DocumentInput }> {
  const query = queryOf(request);
  const body = objectBody(request.body);
  const input = await readInput(reader, filesOf(body));
  const approve = textOf(body, 'approve') ?? query['approve'];
  const expectDigest = textOf(body, 'expectDigest') ?? query['expectDigest'];
  const desire: Desire = {
    source: sourceName(textOf(body, 'source') ?? query['source'] ?? 'api'),
    documents: input.documents,
    problems: input.problems,
    place: input.place,
    prune: flag(body, query, 'prune', true),
    allowEmpty: flag(body, query, 'allowEmpty', false),
    ...(approve === undefined ? {} : { approve }),
    ...(expectDigest === undefined ? {} : { expectDigest }),
  };
  return { desire, input };
}

function filesOf(body: JsonObject): readonly SourceFile[] {
  const files = body['files'];
  if (!Array.isArray(files))
    throw new InvalidInput(
      '`files` is missing; send {"source": "name", "files": [{"path": "a.yaml", "text": "…"}]}, or YAML with `Content-Type: application/yaml`',
    );
  return files.map((file, at) => {
    if (!isObject(file) || typeof file['path'] !== 'string' || typeof file['text'] !== 'string')
      throw new InvalidInput(`files[${at}] must be an object with the texts \`path\` and \`text\``);
    return { path: file['path'], text: file['text'] };
  });
}

function sourceName(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/.test(name)) return name;
  throw new InvalidInput(
    `\`${name.slice(0, 100)}\` cannot name a source; use letters, digits, dots, dashes and slashes, at most 100`,
  );
}

function flag(body: JsonObject, query: Query, name: string, fallback: boolean): boolean {
  const value = body[name] ?? query[name];
  if (value === undefined) return fallback;
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  throw new InvalidInput(`\`${name}\` must be true or false`);
}

function textOf(body: JsonObject, name: string): string | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw new InvalidInput(`\`${name}\` must be a text`);
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1 && value <= 1_000_000_000)
    return Math.min(value, name === 'limit' ? 1000 : value);
  throw new InvalidInput(`\`${name}\` must be a whole number from 1`);
}

type Query = Readonly<Record<string, string | undefined>>;

function queryOf(request: FastifyRequest): Query {
  const query = request.query as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, typeof value === 'string' && value !== '' ? value : undefined]),
  );
}

function parameter(request: FastifyRequest, name: string): string {
  return (request.params as Readonly<Record<string, string>>)[name] ?? '';
}
