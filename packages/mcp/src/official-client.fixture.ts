import { registerHooks } from 'node:module'

// `eventsource`, which the client needs, offers its TypeScript under the condition "source" that our tests run with.
// Node strips no types under node_modules, so packages there are resolved without that condition.
registerHooks({
  resolve(specifier, context, next) {
    const isInstalled = context.parentURL?.includes('/node_modules/') ?? false
    if (!isInstalled) return next(specifier, context)
    return next(specifier, { ...context, conditions: context.conditions.filter((name) => name !== 'source') })
  },
})

export const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
export const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
export type { CallToolResult, ClientOptions } from '@modelcontextprotocol/client'
