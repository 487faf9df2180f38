import { Option } from 'commander'

export interface AgentOptions {
  readonly dir: string
  readonly url: string
  readonly client: string
}

export const folderOption = () =>
  new Option('--dir <folder>', 'folder of the agent').default('./aex-agent').env('AEX_AGENT_DIR')

export const urlOption = () =>
  new Option('--url <base-url>', 'address of the exchange').default('http://127.0.0.1:8080').env('AEX_URL')

export const clientOption = () =>
  new Option('--client <client_id>', 'client id that the operator gave')
    .env('AEX_CLIENT_ID')
    .makeOptionMandatory()
