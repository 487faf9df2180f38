import { resolve } from 'node:path'
import type { RunningService } from '@agent-exchange/service'
import type { Config } from '@agent-exchange/service/config'
import { aexStep, shellQuoted } from '../next-step.ts'

/** Addresses and next steps, as text and as facts. */
export function serveDirections(
  config: Config,
  { urls, operatorTokenFile }: Pick<RunningService, 'urls' | 'operatorTokenFile'>,
) {
  const database = config.databaseUrl === undefined ? 'embedded PostgreSQL' : 'PostgreSQL of DATABASE_URL'
  const consoleUrl = config.operatorPublicUrl ?? urls.operator
  const lines = [
    '',
    'Agent Exchange is running.',
    ...(urls.agent === undefined
      ? ['  agent API       none: this process delivers webhooks (AEX_ROLE=worker)']
      : [`  agent API       ${config.publicUrl}   (reference: ${config.publicUrl}/docs)`]),
    ...(urls.agent === undefined || urls.agent === config.publicUrl
      ? []
      : [`  listening on    ${urls.agent}`]),
    `  operator API    ${urls.operator}   (ready: ${urls.operator}/readyz)`,
    `  console         ${consoleUrl}/   (sign in with the operator token)`,
    `  operator token  ${operatorTokenFile}`,
    `  data folder     ${config.dataDirectory}`,
    `  database        ${database}`,
    '',
    'Next, in another terminal:',
    ...settingsFor(config, urls.operator).map((setting) => `  export ${setting}`),
    `  ${aexStep('org', 'create', 'org_acme', '--name', 'Acme')}`,
    ...firstAgent(config),
    `  ${aexStep('config')}`,
    '',
  ]
  const facts = {
    agent_api: urls.agent === undefined ? undefined : config.publicUrl,
    operator_api: urls.operator,
    console: `${consoleUrl}/`,
    operator_token_file: operatorTokenFile,
    data_folder: config.dataDirectory,
    database,
  }
  return { lines, facts }
}

/** With an outside issuer there are no invitations: clients are registered there. */
function firstAgent({ issuer }: Config): string[] {
  const agent = ['--org', 'org_acme', '--agent', 'agent_planner']
  if (issuer !== undefined) return [`  ${aexStep('agent', 'init', ...agent)}`]
  return [
    `  INVITATION=$(${aexStep('invite', 'create', ...agent)})`,
    `  ${aexStep('agent', 'join')} "$INVITATION"`,
  ]
}

/** Settings that the next commands need, if they differ from the defaults. */
function settingsFor({ dataDirectory, publicUrl }: Config, operatorUrl: string): string[] {
  const settings: [name: string, value: string, usual: string][] = [
    ['AEX_DATA_DIR', dataDirectory, resolve('data')],
    ['AEX_OPERATOR_URL', operatorUrl, 'http://127.0.0.1:8081'],
    ['AEX_URL', publicUrl, 'http://127.0.0.1:8080'],
  ]
  return settings
    .filter(([, value, usual]) => value !== usual)
    .map(([name, value]) => `${name}=${shellQuoted(value)}`)
}
