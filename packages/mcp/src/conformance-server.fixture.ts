import { setTimeout as wait } from 'node:timers/promises'
import { fromJsonSchema, McpServer, ResourceTemplate, type ContentBlock } from '@modelcontextprotocol/server'
import { Type } from 'typebox'
import { mcpSchema } from './server/schema-adapter.ts'

/** A PNG of one pixel, and a WAV header without samples. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='

const text = (words: string) => ({ type: 'text', text: words }) as const
const image = { type: 'image', data: PNG, mimeType: 'image/png' } as const
const embedded = (uri: string, mimeType: string, words: string) =>
  ({ type: 'resource', resource: { uri, mimeType, text: words } }) as const

const TOOLS: Readonly<Record<string, readonly ContentBlock[]>> = {
  test_simple_text: [text('This is a simple text response for testing.')],
  test_image_content: [image],
  test_audio_content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }],
  test_embedded_resource: [
    embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ],
  test_multiple_content_types: [
    text('Multiple content types test:'),
    image,
    embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ],
}

/** The tools, resources and prompts that the conformance suite asks for by name, behind our schemas and our listener. */
export function conformanceServer(): McpServer {
  const server = new McpServer({ name: 'conformance', version: '1.0.0' })
  const description = 'A tool of the conformance suite'
  const inputSchema = mcpSchema<Record<string, unknown>>(Type.Object({}))
  for (const [name, content] of Object.entries(TOOLS))
    server.registerTool(name, { description, inputSchema }, () => ({ content: [...content] }))
  server.registerTool('test_error_handling', { description, inputSchema }, () => ({
    isError: true,
    content: [text('This tool intentionally returns an error for testing')],
  }))
  server.registerTool('test_tool_with_progress', { description, inputSchema }, async (_input, { mcpReq }) => {
    const { _meta: { progressToken } = {} } = mcpReq
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 100 },
        })
      await wait(50)
    }
    return { content: [text('Done.')] }
  })
  server.registerTool(
    'json_schema_2020_12_tool',
    { description, inputSchema: fromJsonSchema(DRAFT_2020_12) },
    () => ({ content: [text('Done.')] }),
  )
  registerResources(server)
  registerPrompts(server)
  return server
}

const DRAFT_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
  },
  properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
  additionalProperties: false,
} as const

function registerResources(server: McpServer): void {
  server.registerResource('text', 'test://static-text', { mimeType: 'text/plain' }, ({ href: uri }) => ({
    contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
  }))
  server.registerResource('binary', 'test://static-binary', { mimeType: 'image/png' }, ({ href: uri }) => ({
    contents: [{ uri, mimeType: 'image/png', blob: PNG }],
  }))
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { mimeType: 'application/json' },
    ({ href: uri }, { id }) => {
      const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` })
      return { contents: [{ uri, mimeType: 'application/json', text: data }] }
    },
  )
}

const ask = (...contents: readonly ContentBlock[]) => ({
  messages: contents.map((content) => ({ role: 'user' as const, content })),
})

function registerPrompts(server: McpServer): void {
  server.registerPrompt('test_simple_prompt', {}, () => ask(text('This is a simple prompt for testing.')))
  const two = Type.Object({ arg1: Type.String(), arg2: Type.String() })
  server.registerPrompt(
    'test_prompt_with_arguments',
    { argsSchema: mcpSchema<{ arg1: string; arg2: string }>(two) },
    ({ arg1, arg2 }) => ask(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  )
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { argsSchema: mcpSchema<{ resourceUri: string }>(Type.Object({ resourceUri: Type.String() })) },
    ({ resourceUri }) =>
      ask(
        embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
        text('Please process the embedded resource above.'),
      ),
  )
  server.registerPrompt('test_prompt_with_image', {}, () =>
    ask(image, text('Please analyze the image above.')),
  )
}
