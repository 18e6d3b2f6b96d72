/** Settings by which a command opens the database of a server with its keys. */
export const offlineSettings = ['databaseUrl', 'dataDir', 'preparedStatements', 'secretKey', 'secretKeyFile'] as const;
