import { migratedText, planText } from '@agent-exchange/gateway'
import type { Command } from 'commander'
import { gatewayLeaf, type Json } from './gateway-command.ts'
import { withGateway } from './opened-gateway.ts'

export function gatewayMigrateCommand(): Command {
  return gatewayLeaf(
    'migrate',
    'Migrate the database of the gateway to this release, or show what that would do',
    'migrate --plan',
    'migrate',
  )
    .option('--plan', 'change nothing and show what would be done')
    .action(async ({ plan = false, json }: Json & { plan?: boolean }) => {
      const result = await withGateway(async ({ migrated }) => migrated, { plan })
      if (json) console.log(JSON.stringify(result, undefined, 2))
      else console.log(('applied' in result ? migratedText(result) : planText(result)).join('\n'))
    })
}
