import Fastify from 'fastify';
import pg from 'pg';

// The reference of reading: a bare Fastify handler that makes one indexed Postgres query. Arguments: URL and account.
const [url, account] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 10 });
const app = Fastify();

const text = 'select id, name, spec from objects where account_id = $1 and id = $2';

app.get<{ Params: { id: string } }>('/objects/:id', async (request) => {
  const { rows } = await pool.query({ name: 'object', text, values: [account, request.params.id] });
  return { id: rows[0].id, name: rows[0].name, ...rows[0].spec };
});

process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }));
