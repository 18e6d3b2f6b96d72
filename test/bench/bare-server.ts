import { createHash, randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import pg from 'pg';

// Reference of reading and writing: two bare Fastify handlers. The first runs one indexed Postgres query. The second
// looks up the token and writes the rows of one change in one statement; it plans, checks and compares nothing.
// Arguments: URL of the database, and account.
const [url, account] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 10 });
const app = Fastify();

const text = 'select id, name, spec from objects where account_id = $1 and id = $2';

app.get<{ Params: { id: string } }>('/objects/:id', async (request) => {
  const { rows } = await pool.query({ name: 'object', text, values: [account, request.params.id] });
  return { id: rows[0].id, name: rows[0].name, ...rows[0].spec };
});

await pool.query(`insert into accounts (account_id, created_at) values ('bare', now())`);

const findToken = `select d.subject_id, a.revision from directory d join accounts a on a.account_id = d.account_id
  where d.kind = 'token' and d.value = $1`;
const writeChange = `with head as (
    update accounts set revision = revision + 1, audit_sequence = audit_sequence + 1 where account_id = 'bare'
    returning revision, audit_sequence
  ), object as (
    insert into objects (account_id, id, kind, name, spec, created_revision, updated_revision, created_at, updated_at)
    select 'bare', $1, 'Group', $2, $3, revision, revision, now(), now() from head
  ), revision as (
    insert into revisions (account_id, revision, created_at, actor, request_id) select 'bare', revision, now(), $4, $1 from head
  ), change as (
    insert into changes (account_id, revision, seq, action, kind, object_id, units, image)
    select 'bare', revision, 0, 'create', 'Group', $1, $3, $3 from head
  )
  insert into audit_events (account_id, id, activity_code, initiator_id, target_id, meta, created_at)
  select 'bare', audit_sequence, 'group.add', 'bench', $1, $3, now() from head`;

app.post<{ Body: { readonly name: string } }>('/objects', async (request, reply) => {
  const token = (request.headers.authorization ?? '').slice('Token '.length);
  const hash = createHash('sha256').update(token).digest('base64');
  const { rows } = await pool.query({ name: 'token', text: findToken, values: [hash] });
  if (rows.length === 0) return reply.code(401).send();
  const { name } = request.body;
  const [id, spec] = [randomUUID(), JSON.stringify({ name, peers: {} })];
  const values = [id, name, spec, JSON.stringify({ type: 'user', id: rows[0].subject_id })];
  await pool.query({ name: 'change', text: writeChange, values });
  return { id, name };
});

process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }));
