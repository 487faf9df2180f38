import { openApiDocument } from '@agent-exchange/protocol'
import { Command } from 'commander'

const EXAMPLES = `
Examples:
  $ aex openapi > openapi.json
  $ aex openapi --url https://exchange.example   with the address of a running exchange`

export function openApiCommand(): Command {
  return new Command('openapi')
    .description('Print the OpenAPI 3.1.1 document of the agent API')
    .option('--url <base-url>', 'address of the exchange, for the servers entry')
    .option('--json', 'no effect: the document is always JSON')
    .addHelpText('after', EXAMPLES)
    .action(({ url }: { url?: string }) => {
      console.log(JSON.stringify(openApiDocument(url === undefined ? {} : { baseUrl: url }), undefined, 2))
    })
}
