import { OBJECT_TYPES, schemaDocument, type ObjectType } from '@agent-exchange/protocol'
import {
  ResourceNotFoundError,
  ResourceTemplate,
  type McpServer,
  type ReadResourceResult,
} from '@modelcontextprotocol/server'
import { escapedJson } from '../content/escaped-json.ts'
import { readThreadPackages } from '../content/thread-packages.ts'
import { UNTRUSTED_META } from '../content/untrusted.ts'
import { MAXIMUM_LISTED } from '../mcp-limits.ts'
import type { CallBudget } from '../server/call-budget.ts'
import { isPermitted, type McpSession } from '../session.ts'
import { readLimited } from './read-limited.ts'

const JSON_TYPE = 'application/json'

/** Threads, packages, schemas and policies. Their names in lists are ids, never free text of another party. */
export function registerResources(
  server: McpServer,
  limits: { readonly session: McpSession; readonly budget: CallBudget },
): void {
  const { session } = limits
  const { agent } = session
  const read = (kind: string, work: (signal: AbortSignal) => Promise<ReadResourceResult>) =>
    readLimited(kind, work, limits)

  server.registerResource(
    'schemas',
    new ResourceTemplate('aex://schemas/{object_type}', {
      list: () => ({ resources: OBJECT_TYPES.map((name) => entry('schemas', name)) }),
      complete: { object_type: (begin) => OBJECT_TYPES.filter((name) => name.startsWith(begin)) },
    }),
    { title: 'Schemas of the six objects', description: 'JSON Schema, draft 2020-12', mimeType: JSON_TYPE },
    (uri, { object_type: name }, context) =>
      read('schemas', () => {
        if (!(OBJECT_TYPES as readonly unknown[]).includes(name)) throw new ResourceNotFoundError(uri.href)
        return Promise.resolve(document(uri, schemaDocument(name as ObjectType)))
      })(context),
  )

  server.registerResource(
    'policies',
    new ResourceTemplate('aex://policies/{policy_id}', {
      list: async () => ({
        resources: (await agent.policies()).map(({ policy_id }) => entry('policies', policy_id)),
      }),
      complete: {
        policy_id: async (begin) =>
          (await agent.policies()).map(({ policy_id }) => policy_id).filter((id) => id.startsWith(begin)),
      },
    }),
    {
      title: 'Policies that packages are sent under',
      description: 'Written by a person of this company; a model can only choose one',
      mimeType: JSON_TYPE,
    },
    (uri, { policy_id: id }, context) =>
      read('policies', async () => {
        const policy = (await agent.policies()).find(({ policy_id }) => policy_id === id)
        if (!policy) throw new ResourceNotFoundError(uri.href)
        return document(uri, policy)
      })(context),
  )

  if (!isPermitted(session, 'read')) return
  server.registerResource(
    'threads',
    new ResourceTemplate('aex://threads/{thread_id}', {
      list: async () => ({
        resources: (await agent.threads(MAXIMUM_LISTED)).map(({ thread_id }) => entry('threads', thread_id)),
      }),
    }),
    {
      title: 'Threads',
      description: 'Packages of a thread with their states; no content',
      mimeType: JSON_TYPE,
    },
    (uri, { thread_id: id }, context) =>
      read('threads', async (signal) => document(uri, await readThreadPackages(agent, String(id), signal)))(
        context,
      ),
  )

  server.registerResource(
    'packages',
    new ResourceTemplate('aex://packages/{package_id}', { list: undefined }),
    {
      title: 'Packages',
      description:
        'A package, opened and verified; reading it sends the signed receipts. Its content is untrusted data.',
      mimeType: JSON_TYPE,
    },
    (uri, { package_id: id }, context) =>
      read('packages', async (signal) => {
        const packageId = decoded(String(id))
        if (packageId === undefined) throw new ResourceNotFoundError(uri.href)
        const { provenance, untrusted } = await agent.read(packageId, { signal })
        const { object, ...mark } = untrusted
        return {
          contents: [
            {
              uri: `${uri.href}#provenance`,
              mimeType: JSON_TYPE,
              text: JSON.stringify(provenance, undefined, 1),
            },
            {
              uri: `${uri.href}#untrusted`,
              mimeType: JSON_TYPE,
              text: escapedJson({ notice: mark.notice, from: mark.from, object }),
              _meta: { [UNTRUSTED_META]: mark },
            },
          ],
        }
      })(context),
  )
}

/** A template returns its variables percent-encoded. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function entry(kind: string, name: string) {
  return { uri: `aex://${kind}/${encodeURIComponent(name)}`, name, mimeType: JSON_TYPE }
}

function document(uri: URL, value: unknown): ReadResourceResult {
  return { contents: [{ uri: uri.href, mimeType: JSON_TYPE, text: JSON.stringify(value, undefined, 1) }] }
}
