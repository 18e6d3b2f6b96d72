import { describe, expect, test } from 'vitest';
import { type Config, environment, readConfig, settings } from '../src/config.ts';

// The cast is safe: the type of `settings` has the settings as its keys.
const all = Object.keys(settings) as (keyof Config)[];

describe('the configuration', () => {
  test('has a default for everything', () => {
    expect(readConfig({}, {}, all)).toEqual({
      ok: true,
      config: {
        configFile: undefined,
        sources: [],
        listen: { host: '127.0.0.1', port: 8080 },
        databaseUrl: undefined,
        corsOrigins: '*',
        metricsListen: undefined,
        trustProxy: 0,
        dataDir: '.heddle',
        bootstrapToken: undefined,
        bootstrapTokenFile: undefined,
        server: 'http://127.0.0.1:8080',
        token: undefined,
        log: 'text',
        logLevel: 'info',
        poolSize: 10,
        waitForDatabaseMs: 60_000,
        preparedStatements: true,
        openEndpoints: [],
        shutdownGraceMs: 10_000,
        edition: 'self-hosted',
        profile: 'specification',
        profileHeader: false,
        planRateLimit: { perMinute: 300, burst: 600 },
        pendingTenants: 50,
        rateLimit: undefined,
        secretKey: undefined,
        secretKeyFile: undefined,
        shareValues: false,
        valueGrants: [],
        valuesDir: undefined,
        geoDatabase: undefined,
        literalSecrets: false,
        mailFrom: undefined,
        smtpUrl: undefined,
        smtpUrlFile: undefined,
        userDeleteFromIdp: false,
        historyRevisions: 200,
        historyDays: 90,
        auditDays: undefined,
        proxyLogDays: 30,
        trafficLogDays: 30,
        leaseSeconds: 25,
        claimLapseSeconds: 3600,
        gitTransports: ['https', 'ssh'],
        gitSources: 20,
        gitProcesses: 8,
        outboundAllow: { ranges: [], hosts: new Set() },
        outboundCa: undefined,
        outboundGuard: 'heddle',
        directoryHosts: {},
        dnsServers: [],
        idp: 'embedded',
        localAuthDisabled: false,
        publicUrl: undefined,
        idpRedirectUris: [],
        idpKeyRotation: 30,
        configDir: undefined,
        oidcIssuer: undefined,
        oidcAudience: [],
        oidcClaims: {},
        oidcTrustEmail: false,
        singleAccount: undefined,
      },
    });
  });

  test('reads the settings of an identity provider', () => {
    const env = {
      HEDDLE_OIDC_ISSUER: 'https://id.example.com/realms/main',
      HEDDLE_OIDC_AUDIENCE: 'https://mesh.example.com:8443/api, heddle',
      HEDDLE_OIDC_CLAIMS: 'email=mail,user=oid',
    };
    expect(readConfig(env, {}, ['oidcIssuer', 'oidcAudience', 'oidcClaims'])).toEqual({
      ok: true,
      config: {
        oidcIssuer: 'https://id.example.com/realms/main',
        oidcAudience: ['https://mesh.example.com:8443/api', 'heddle'],
        oidcClaims: { email: 'mail', user: 'oid' },
      },
    });
    const wrong = { HEDDLE_OIDC_ISSUER: 'id.example.com', HEDDLE_OIDC_CLAIMS: 'mail' };
    const read = readConfig(wrong, {}, ['oidcIssuer', 'oidcClaims']);
    expect(read.ok ? [] : read.faults).toEqual([
      'HEDDLE_OIDC_ISSUER is `id.example.com`, which is not an address of an identity provider; write one such as https://id.example.com.',
      'HEDDLE_OIDC_CLAIMS has `mail`; write pairs such as email=mail, with one of user, email, name, domain before the equals sign.',
    ]);
  });

  test('is frozen, as is the environment it is read from', () => {
    const read = readConfig({}, {}, all);
    expect(Object.isFrozen(read.ok && read.config)).toBe(true);
    expect(Object.isFrozen(environment)).toBe(true);
  });

  test('prefers a flag to a variable, and a variable to the default', () => {
    const env = { HEDDLE_SERVER: 'https://b.example/x/', HEDDLE_SOURCE: 'a,b' };
    expect(value('server', env, { server: 'http://a.example' })).toBe('http://a.example');
    expect(value('server', env)).toBe('https://b.example/x');
    expect(value('sources', env, { source: ['x,y'] })).toEqual(['x,y']);
  });

  test('reads a switch without a value as true', () => {
    const read = readConfig({}, { 'user-delete-from-idp': true }, ['userDeleteFromIdp']);
    expect(read).toEqual({ ok: true, config: { userDeleteFromIdp: true } });
    expect(value('userDeleteFromIdp', { HEDDLE_USER_DELETE_FROM_IDP: 'yes' })).toBe(true);
    expect(value('userDeleteFromIdp', {})).toBe(false);
  });

  test('does not print the password of an invalid mail server URL', () => {
    const read = readConfig({ HEDDLE_SMTP_URL: 'http://ana:secret@mail' }, {}, ['smtpUrl']);
    expect(read.ok ? [] : read.faults).toEqual([
      'HEDDLE_SMTP_URL is not the URL of a mail server; write smtp://USER:PASSWORD@HOST:587 or smtps://HOST.',
    ]);
    expect(value('mailFrom', { HEDDLE_MAIL_FROM: 'Heddle <h@example.com>' })).toBe('Heddle <h@example.com>');
    expect(readConfig({ HEDDLE_MAIL_FROM: 'Heddle' }, {}, ['mailFrom']).ok).toBe(false);
  });

  test('treats an empty variable as not set', () => {
    expect(value('poolSize', { HEDDLE_POOL_SIZE: ' ' })).toBe(10);
  });

  test.each<[keyof Config, string, string, unknown]>([
    ['sources', 'HEDDLE_SOURCE', 'a, b,,a', ['a', 'b']],
    ['sources', 'HEDDLE_SOURCE', '/etc/a:/etc/b', ['/etc/a', '/etc/b']],
    ['listen', 'HEDDLE_LISTEN', '[::1]:80', { host: '::1', port: 80 }],
    ['listen', 'HEDDLE_LISTEN', 'localhost:0', { host: 'localhost', port: 0 }],
    ['databaseUrl', 'HEDDLE_DATABASE_URL', 'postgresql://u:p@h/db', 'postgresql://u:p@h/db'],
    ['log', 'HEDDLE_LOG', 'json', 'json'],
    ['logLevel', 'HEDDLE_LOG_LEVEL', 'warn', 'warn'],
    ['poolSize', 'HEDDLE_POOL_SIZE', '25', 25],
    ['preparedStatements', 'HEDDLE_PREPARED_STATEMENTS', 'Off', false],
    ['openEndpoints', 'HEDDLE_OPEN_ENDPOINTS', '/metrics,/docs', ['/metrics', '/docs']],
    ['shutdownGraceMs', 'HEDDLE_SHUTDOWN_GRACE', '1m30s', 90_000],
    ['waitForDatabaseMs', 'HEDDLE_WAIT_FOR_DATABASE', '2m', 120_000],
    ['edition', 'HEDDLE_EDITION', 'hosted', 'hosted'],
    ['rateLimit', 'HEDDLE_RATE_LIMIT', '120/1200', { perMinute: 120, burst: 1200 }],
    ['rateLimit', 'HEDDLE_RATE_LIMIT', 'off', 'off'],
    ['planRateLimit', 'HEDDLE_PLAN_RATE_LIMIT', '30/60', { perMinute: 30, burst: 60 }],
    ['idp', 'HEDDLE_IDP', 'off', 'off'],
    ['publicUrl', 'HEDDLE_PUBLIC_URL', 'https://heddle.example.com/', 'https://heddle.example.com'],
    [
      'idpRedirectUris',
      'HEDDLE_IDP_REDIRECT_URIS',
      'https://a.example/cb, https://a.example/cb',
      ['https://a.example/cb'],
    ],
    ['idpKeyRotation', 'HEDDLE_IDP_KEY_ROTATION', '7', 7],
    ['metricsListen', 'HEDDLE_METRICS_LISTEN', '0.0.0.0:9090', { host: '0.0.0.0', port: 9090 }],
    ['corsOrigins', 'HEDDLE_CORS_ORIGINS', '*', '*'],
    ['corsOrigins', 'HEDDLE_CORS_ORIGINS', 'off', []],
    [
      'corsOrigins',
      'HEDDLE_CORS_ORIGINS',
      'https://a.example.com,http://b:3000',
      ['https://a.example.com', 'http://b:3000'],
    ],
    ['corsOrigins', 'HEDDLE_CORS_ORIGINS', 'https://a.example.com', ['https://a.example.com']],
    ['profile', 'HEDDLE_PROFILE', 'compatible', 'compatible'],
    ['profileHeader', 'HEDDLE_PROFILE_HEADER', 'true', true],
    ['trustProxy', 'HEDDLE_TRUST_PROXY', '2', 2],
    ['trustProxy', 'HEDDLE_TRUST_PROXY', '10.0.0.0/8,fd00::1', ['10.0.0.0/8', 'fd00::1']],
    ['literalSecrets', 'HEDDLE_ALLOW_LITERAL_SECRETS', 'yes', true],
    ['historyRevisions', 'HEDDLE_HISTORY_REVISIONS', '1000', 1000],
    ['historyDays', 'HEDDLE_HISTORY_DAYS', '0', 0],
    ['auditDays', 'HEDDLE_AUDIT_DAYS', '400', 400],
    ['proxyLogDays', 'HEDDLE_PROXY_LOG_DAYS', '7', 7],
    ['trafficLogDays', 'HEDDLE_TRAFFIC_LOG_DAYS', '90', 90],
    ['leaseSeconds', 'HEDDLE_LEASE', '5s', 5],
    ['claimLapseSeconds', 'HEDDLE_CLAIM_LAPSE', '30m', 1800],
    ['gitTransports', 'HEDDLE_GIT_TRANSPORTS', 'file,https', ['https', 'file']],
    ['gitSources', 'HEDDLE_GIT_SOURCES', '0', 0],
    ['gitProcesses', 'HEDDLE_GIT_PROCESSES', '32', 32],
    ['pendingTenants', 'HEDDLE_PENDING_TENANTS', '0', 0],
    ['token', 'HEDDLE_TOKEN', ' t\n', 't'],
    ['bootstrapTokenFile', 'HEDDLE_BOOTSTRAP_TOKEN_FILE', '/run/token', '/run/token'],
  ])('reads %s from %s=%s', (name, variable, text, expected) => {
    expect(value(name, { [variable]: text })).toEqual(expected);
  });

  test.each<[keyof Config, string, string, string]>([
    [
      'listen',
      'HEDDLE_LISTEN',
      '8080',
      'is `8080`, which is not an address; write 127.0.0.1:8080, or 0.0.0.0:8080 for every address.',
    ],
    [
      'listen',
      'HEDDLE_LISTEN',
      ':80',
      'is `:80`, which is not an address; write 127.0.0.1:80, or 0.0.0.0:80 for every address.',
    ],
    [
      'listen',
      'HEDDLE_LISTEN',
      'h:70000',
      'is `h:70000`, which is not an address; write HOST:PORT such as 127.0.0.1:8080 or [::1]:8080.',
    ],
    [
      'databaseUrl',
      'HEDDLE_DATABASE_URL',
      'mysql://u:secret@h',
      'is not the URL of a Postgres database; write postgres://USER:PASSWORD@HOST:5432/DATABASE.',
    ],
    [
      'server',
      'HEDDLE_SERVER',
      'localhost:80',
      'is not the address of a server; write one such as http://127.0.0.1:8080.',
    ],
    ['log', 'HEDDLE_LOG', 'xml', 'is `xml`; write text or json.'],
    ['logLevel', 'HEDDLE_LOG_LEVEL', 'all', 'is `all`; write debug, info, warn, error.'],
    ['poolSize', 'HEDDLE_POOL_SIZE', '0', 'is `0`; write a number from 1 to 1000.'],
    ['preparedStatements', 'HEDDLE_PREPARED_STATEMENTS', 'maybe', 'is `maybe`; write true or false.'],
    [
      'openEndpoints',
      'HEDDLE_OPEN_ENDPOINTS',
      '/metric',
      'names `/metric`, which cannot be opened; did you mean /metrics?',
    ],
    ['idp', 'HEDDLE_IDP', 'on', 'is `on`; write embedded or off.'],
    [
      'publicUrl',
      'HEDDLE_PUBLIC_URL',
      'https://a.example/b',
      'is `https://a.example/b`; write an address without a path such as https://heddle.example.com.',
    ],
    [
      'idpRedirectUris',
      'HEDDLE_IDP_REDIRECT_URIS',
      'console',
      'has the invalid entry `console`; write addresses such as https://console.example.com/callback.',
    ],
    ['gitTransports', 'HEDDLE_GIT_TRANSPORTS', 'http', 'names `http`; choose from https, ssh, file.'],
    [
      'corsOrigins',
      'HEDDLE_CORS_ORIGINS',
      'a.example.com',
      'names `a.example.com`, which is not an origin; write one such as https://console.example.com, * or off.',
    ],
    [
      'trustProxy',
      'HEDDLE_TRUST_PROXY',
      'proxy',
      'has the invalid entry `proxy`; write the number of proxies, or their addresses such as 10.0.0.0/8.',
    ],
    ['claimLapseSeconds', 'HEDDLE_CLAIM_LAPSE', '1s', 'is `1s`; write a time from 1m to 7d such as 1h.'],
    ['leaseSeconds', 'HEDDLE_LEASE', '1s', 'is `1s`; write a time from 3s to 5m such as 25s.'],
    ['shutdownGraceMs', 'HEDDLE_SHUTDOWN_GRACE', '10', 'is `10`; write a time up to 1h such as 10s.'],
  ])('refuses %s from %s=%s in one sentence', (name, variable, text, fault) => {
    expect(readConfig({ [variable]: text }, {}, [name])).toEqual({ ok: false, faults: [`${variable} ${fault}`] });
  });

  test('reports all faults at once, and only those of the requested settings', () => {
    const env = { HEDDLE_LOG: 'xml', HEDDLE_POOL_SIZE: 'x', HEDDLE_LISTEN: 'x' };
    expect(readConfig(env, {}, ['log', 'poolSize'])).toMatchObject({
      ok: false,
      faults: [/LOG/, /POOL_SIZE/].map((name) => expect.stringMatching(name)),
    });
  });

  test('names the flag when its value is invalid', () => {
    expect(readConfig({}, { listen: 'x' }, ['listen'])).toMatchObject({
      faults: [expect.stringMatching(/^--listen is `x`/)],
    });
  });
});

function value(
  name: keyof Config,
  env: Record<string, string>,
  flags: Record<string, string | string[]> = {},
): unknown {
  const read = readConfig(env, flags, [name]);
  return read.ok ? read.config[name] : read.faults;
}
