/** `npm run test:deploy`: renders and lints what operators deploy, and starts the content of the images. */

import { runParts } from '../shared/trial-parts.ts'
import {
  compareGatewayMetrics,
  compareLabels,
  compareMetrics,
  lintChart,
  lintCompose,
  lintContainerfiles,
  lintGatewayChart,
  lintRules,
  lintUnits,
} from './lint.ts'
import { startExchangeImage } from './exchange-image.ts'
import { startGatewayImage } from './gateway-image.ts'
import { assembleImage } from './start-image.ts'

const HELP = `Renders and lints the files of deploy/, and starts the content of the images; exits 1 if something fails.

  npm run test:deploy     a missing tool is skipped with its reason`

await runParts({
  help: HELP,
  names: ['deploy'],
  async run(_wanted, { folder, report }) {
    await report.step('systemd-analyze', 'the units', lintUnits)
    await report.step('promtool', 'alert rules', lintRules)
    await report.step('metrics', 'named by rules and dashboard', compareMetrics)
    await report.step('labels', 'used by rules and dashboard', compareLabels)
    await report.step('metrics', 'of the gateway, with their labels', compareGatewayMetrics)
    await report.step('hadolint', 'the Containerfiles', lintContainerfiles)
    await report.step('helm', 'the chart', () => lintChart(folder))
    await report.step('helm', 'the chart of the gateway', () => lintGatewayChart(folder))
    await report.step('compose-go', 'the compose files', lintCompose)
    let content = ''
    await report.step('image', 'assembled', async () => (content = await assembleImage(folder)))
    if (content === '') return
    await report.step('image', 'started', () => startExchangeImage(folder, content))
    await report.step('image of the gateway', 'started', () => startGatewayImage(folder, content))
  },
})
