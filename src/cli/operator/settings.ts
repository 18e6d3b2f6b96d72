/** Settings by which a command finds the database of a server, and its keys. */
export const offlineSettings = ['databaseUrl', 'dataDir', 'preparedStatements', 'secretKey', 'secretKeyFile'] as const;
