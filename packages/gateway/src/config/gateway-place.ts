import type { GatewayConfig } from './read-config.ts'

const ADDRESS = /^\w+:\/\/(?:[^/]*@)?([^/?]*)\/?([^?]*)/u

/** Which gateway this is, for people: its data folder, or its database without user and password. */
export function gatewayPlace({
  databaseUrl,
  dataDirectory,
}: Pick<GatewayConfig, 'databaseUrl' | 'dataDirectory'>): string {
  if (databaseUrl === undefined) return `the gateway in ${dataDirectory}`
  const [, host = '', name = ''] = ADDRESS.exec(databaseUrl) ?? []
  return `the gateway with database ${name || 'postgres'} at ${host || 'localhost'}`
}
